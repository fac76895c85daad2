"""The commands, a file for each kind. Everything heavy is imported when a command needs it."""
