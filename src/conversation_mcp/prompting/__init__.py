"""What is sent with a question: the system prompts, the history, and the check that all of it fits."""
