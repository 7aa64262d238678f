"""The settings as they are shown and written to a file."""
