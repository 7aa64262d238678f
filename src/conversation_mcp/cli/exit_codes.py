"""Exit codes."""

FAILED, WRONG_USAGE, INTERRUPTED = 1, 2, 130  # shells report 128 + SIGINT after Ctrl-C
