"""Reading of the files and images that a question names: only where that is allowed, and never secrets."""
