"""Background knowledge simulators, built-in data and scenario files."""
