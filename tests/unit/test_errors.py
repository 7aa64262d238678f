"""What is made of errors before somebody reads them."""

import re
from importlib.resources import files

import pytest
from tests.fixtures.folders import ID

from conversation_mcp.errors import (
    NO_STEPS,
    Argument,
    ConversationBusyError,
    ConversationMCPError,
    ConversationNotFoundError,
    FilesystemError,
    InvalidInputError,
    Steps,
    WordsStayError,
)
from conversation_mcp.errors.groups import single
from conversation_mcp.tooling.steps import COMMANDS, steps_of
from conversation_mcp.tools.catalog import TOOL_SETS, tools_of

ALL_TOOLS = steps_of(tools_of(TOOL_SETS))
ERRORS = files("conversation_mcp.errors")


def test_of_a_group_of_errors_a_reader_gets_the_one_that_was_written_for_readers() -> None:
    told = FilesystemError("/x", "no space left on the device")
    group = BaseExceptionGroup("outer", [OSError("a"), ExceptionGroup("inner", [ValueError("b"), told])])
    assert single(group) is told


def test_a_group_without_such_an_error_and_an_error_without_a_group_are_what_they_are() -> None:
    first = ValueError("first")
    assert single(ExceptionGroup("outer", [ExceptionGroup("inner", [first]), KeyError("second")])) is first
    assert single(first) is first
    assert not isinstance(single(first), ConversationMCPError)


def test_an_error_about_arguments_knows_which_one_and_is_told_in_the_names_of_whoever_shows_it() -> None:
    error = InvalidInputError(Argument("begin"), " lies after ", Argument("end"), "; got 'begin'.")
    assert (error.field, error.message) == ("begin", "begin lies after end; got 'begin'.")
    assert error.message_with({"begin": "--from", "end": "--to"}) == "--from lies after --to; got 'begin'."
    assert error.message_with({"end": "--to"}) == "begin lies after --to; got 'begin'."
    assert InvalidInputError("a tag is too long.", field="tags").field == "tags"
    assert InvalidInputError("no such file.").field is None


def test_what_was_taken_out_of_a_message_does_not_come_back_with_other_names() -> None:
    error = InvalidInputError(Argument("begin"), " is 1234-5678.")
    error.message = "begin is [redacted]."
    assert error.message_with({"begin": "--from"}) == "begin is [redacted]."


@pytest.mark.parametrize(
    ("error", "steps", "advice"),
    [
        (ConversationBusyError(ID, 1), NO_STEPS, "Try again."),
        (ConversationBusyError(ID, 1), COMMANDS, f"Try again; `conversation-mcp cancel {ID}` stops it."),
        (
            ConversationBusyError(ID, 1),
            ALL_TOOLS,
            "Try again, or wait for it with get_conversation_history and waitSeconds 50; cancel_turn stops it.",
        ),
        (
            ConversationBusyError(ID, 1),
            steps_of(tools_of(["models"])),
            f"Try again; `conversation-mcp cancel {ID}` stops it.",
        ),
        (ConversationNotFoundError(ID, "/x"), COMMANDS, "Check the id."),
        (
            ConversationNotFoundError(ID, "/x"),
            ALL_TOOLS,
            "Check the id with list_conversations, or start one with search.",
        ),
        (ConversationNotFoundError(ID, "/x"), steps_of(tools_of(["models"])), "Check the id, or start one with chat."),
        (
            WordsStayError("openai", "it"),
            NO_STEPS,
            "To send it there, name it on the call; CONVERSATION_MCP_SHARING=always allows it for everything.",
        ),
    ],
)
def test_an_error_advises_what_can_be_done_where_it_is_shown(
    error: ConversationMCPError, steps: Steps, advice: str
) -> None:
    assert error.next_step(steps) == advice
    assert error.sentence(steps).endswith(advice)
    assert str(error.data(steps)["message"]).endswith(advice)


def test_errors_themselves_name_no_tool_no_option_and_no_command() -> None:
    of_tools = "|".join(tool.name for tool in tools_of(TOOL_SETS) if "_" in tool.name)
    named = re.compile(rf"{of_tools}|conversation-mcp [a-z]|--[a-z]")
    modules = [module for module in ERRORS.iterdir() if module.name.endswith(".py")]
    assert modules
    assert [found for module in modules for found in named.findall(module.read_text(encoding="utf-8"))] == []
