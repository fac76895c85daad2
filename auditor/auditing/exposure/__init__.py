"""What a set of known attributes gives an adversary: the figures that a search compares."""
