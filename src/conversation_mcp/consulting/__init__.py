"""Workflows in conversations: steps are taken and kept, and another model is asked at the end."""
