"""Long simulations: intervals cover, nothing is found where there is nothing, and what is expected is found."""
