"""The version, alone in its file so that reading it imports nothing else."""

VERSION = "0.1.0"
