"""Parts that several attacks share."""
