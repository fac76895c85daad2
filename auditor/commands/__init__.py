"""The commands, one file for each kind. Heavy imports wait until a command runs, so that --help is quick."""
