"""Runs a command and returns its exit code."""

import os
import sys

from conversation_mcp.cli.quick import quick_list
from conversation_mcp.cli.terminal import discard_output, replace_closed_streams, say, tolerate_narrow_encodings
from conversation_mcp.errors import ConversationMCPError, InvalidInputError
from conversation_mcp.errors.groups import single

COMPLETION_VARIABLE = "_CONVERSATION_MCP_COMPLETE"
FAILED, WRONG_USAGE, INTERRUPTED = 1, 2, 130


class WrongUsageError(InvalidInputError):
    """The command was called in a way that cannot be meant."""


def run() -> int:
    """Run the command line and return the exit code: 0 done, 1 failed, 2 wrong usage."""
    replace_closed_streams()
    tolerate_narrow_encodings()
    try:
        _run_ungrouped(sys.argv[1:])
    except ConversationMCPError as error:
        say(error.sentence())
        return WRONG_USAGE if isinstance(error, WrongUsageError) else FAILED
    except BrokenPipeError:
        discard_output()
        return FAILED
    except OSError as error:
        if error.filename is not None:  # of a file, which should have been told in our words
            raise
        discard_output()
        say(f"the output cannot be written: {error.strerror}.")
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


def _run_ungrouped(arguments: list[str]) -> None:
    """Run the command; what fails in tasks that ran together reaches a person as the one error that it is."""
    try:
        _run(arguments)
    except BaseExceptionGroup as group:
        raise single(group) from None


def _run(arguments: list[str]) -> None:
    if COMPLETION_VARIABLE not in os.environ:
        if not arguments:
            from conversation_mcp.cli.serving import serve_until_closed  # noqa: PLC0415 -- clients wait for the start

            serve_until_closed({})
            return
        if quick := quick_list(arguments):
            from conversation_mcp.cli.listing import show_list  # noqa: PLC0415 -- the server needs none of it

            show_list(quick.limit, quick.logs_dir, as_json=quick.as_json)
            return
    from conversation_mcp.cli.main import app  # noqa: PLC0415 -- the parser takes a while to import

    app(prog_name="conversation-mcp")
