"""The first floor: matching, and the posterior that feeds all attacks. The mathematics of the design, once."""
