"""The entry point: runs a command and turns its errors into messages and exit codes."""

import os
import sys
from collections.abc import Mapping
from typing import Any, Protocol, cast

from conversation_mcp.cli.exit_codes import FAILED, INTERRUPTED, WRONG_USAGE
from conversation_mcp.cli.output.terminal import (
    HALF_TOLD,
    discard_output,
    put_json,
    replace_closed_streams,
    say,
    tolerate_narrow_encodings,
)
from conversation_mcp.cli.quick import quick_list, quick_serve
from conversation_mcp.errors import ConversationMCPError, InvalidInputError
from conversation_mcp.errors.groups import single

COMPLETION_VARIABLE = "_CONVERSATION_MCP_COMPLETE"


class Refused(Protocol):
    """The parser's error about arguments that it does not accept."""

    exit_code: int
    message: str
    __context__: BaseException | None

    def format_message(self) -> str:
        """Return the reason."""
        ...

    def show(self) -> None:
        """Print the reason and the command's usage on stderr."""
        ...


def run() -> int:
    """Run the command line and return the exit code: 0 done, 1 failed, 2 a wrong argument, option or setting."""
    replace_closed_streams()
    tolerate_narrow_encodings()
    arguments = sys.argv[1:]
    try:
        return _run_ungrouped(arguments)
    except ConversationMCPError as error:
        from conversation_mcp.tooling.steps import COMMANDS

        _put_error(arguments, error)
        say(error.sentence(COMMANDS))
        return WRONG_USAGE if isinstance(error, InvalidInputError) else FAILED
    except BrokenPipeError:  # the reader of the pipe, such as `head`, has left
        discard_output()
        return FAILED
    except OSError as error:
        if error.filename is not None:  # not from stdout: a file's error should have become one of ours
            raise
        discard_output()
        say(f"the output cannot be written: {error.strerror}.")
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED


def _run_ungrouped(arguments: list[str]) -> int:
    """Run the command; unwrap the single error of a task group, which wraps even one in a group."""
    try:
        return _run(arguments)
    except BaseExceptionGroup as group:
        raise single(group) from None


def _run(arguments: list[str]) -> int:
    if COMPLETION_VARIABLE not in os.environ:  # under completion there are no arguments, which would mean `serve`
        if (options := quick_serve(arguments)) is not None:
            from conversation_mcp.cli.server_process import serve_until_closed

            serve_until_closed(options)
            return 0
        if quick := quick_list(arguments):
            from conversation_mcp.cli.selection.lists import show_list

            show_list(quick.limit, quick.logs_dir, as_json=quick.as_json)
            return 0
    return _parse_and_run(arguments)


def _parse_and_run(arguments: list[str]) -> int:
    from typer import Abort
    from typer.exceptions import TyperException

    from conversation_mcp.cli.main import app

    try:
        return app(prog_name="conversation-mcp", standalone_mode=False) or 0
    except Abort:
        say("Aborted.")
        return FAILED
    except TyperException as error:
        refused = cast("Refused", error)
        _put_into_words(refused)
        _put_error(arguments, InvalidInputError(refused.format_message()))
        refused.show()
        return refused.exit_code


def _put_into_words(refused: Refused) -> None:
    """Replace pydantic's words about a refused value with ours."""
    from pydantic import ValidationError

    from conversation_mcp.errors.validation import requirement

    if isinstance(cause := refused.__context__, ValidationError):
        problem = cause.errors(include_url=False)[0]
        got = f"; got {problem['input']!r}" if problem["type"] != "value_error" else ""
        refused.message = f"{requirement(cast('Mapping[str, Any]', problem)).rstrip('.')}{got}."


def _put_error(arguments: list[str], error: ConversationMCPError) -> None:
    """Print the error as a JSON document if --json was given and no other document has begun."""
    # Looked up in the raw arguments, because the parser itself may have refused them.
    if "--json" in arguments and HALF_TOLD not in getattr(error, "__notes__", ()):
        from conversation_mcp.tooling.steps import COMMANDS

        put_json({"error": error.data(COMMANDS)})
