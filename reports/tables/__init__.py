"""What reports set in tables."""
