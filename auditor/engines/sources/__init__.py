"""Where the tables lie that an engine reads, and what goes wrong there."""
