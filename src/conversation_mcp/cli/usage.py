"""Exit codes, and what is raised at a command that cannot be meant."""

from conversation_mcp.errors import InvalidInputError

FAILED, WRONG_USAGE, INTERRUPTED = 1, 2, 130


class WrongUsageError(InvalidInputError):
    """The command was called in a way that cannot be meant."""
