"""What reports draw."""
