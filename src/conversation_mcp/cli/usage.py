"""Exit codes, and the error of a command that is used wrongly."""

from conversation_mcp.errors import InvalidInputError

FAILED, WRONG_USAGE, INTERRUPTED = 1, 2, 130  # shells report 128 + SIGINT after Ctrl-C


class WrongUsageError(InvalidInputError):
    """The command was used wrongly."""
