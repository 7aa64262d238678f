"""The common part of the commands that change conversations: the open app, work on each one, and the output."""
