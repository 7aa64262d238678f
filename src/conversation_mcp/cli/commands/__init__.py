"""The commands, a module each, with a function or group of commands of the module's name."""
