"""Output for a person at a terminal or for a program behind a pipe: text, tables, JSON, progress and questions."""
