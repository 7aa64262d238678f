"""How things are printed: for a person at a terminal, or for the program behind a pipe."""
