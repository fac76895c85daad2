"""Labels: what a published cell denotes, and the notations that write it."""
