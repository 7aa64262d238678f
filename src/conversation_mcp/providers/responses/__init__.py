"""The family of Responses: its body, its stream, runs in the background, and how they end."""
