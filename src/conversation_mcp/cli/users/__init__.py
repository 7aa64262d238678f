"""The commands on everything that is kept of a user."""
