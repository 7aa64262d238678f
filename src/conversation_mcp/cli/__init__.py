"""The command line: one module for each command in `commands`, and in the other packages what commands share."""
