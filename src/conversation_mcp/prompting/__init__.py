"""What is sent: the messages of a request, the system prompts, and whether they fit into a model's window. Pure."""
