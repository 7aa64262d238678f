"""Questions from the command line: input from pipes, asking, display, interrupts, and the prompt of `chat`."""
