"""The adapter for servers that speak the Interactions API, whose answers are lists of steps."""
