"""The command line: it reads what was typed, does it with the packages below, and prints what became of it."""
