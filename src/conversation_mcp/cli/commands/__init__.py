"""One module for each command, with a function, or a group of commands, of the module's name."""
