"""What is said to a model that calls a tool by the name that another server gives it."""

import tomllib
from importlib.resources import files

import pytest

from conversation_mcp.tools.catalog import TOOL_SETS, meant_by, mode_of

ON = TOOL_SETS["research"]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("perplexity_search", " Did you mean 'search'? It does that here."),
        ("perplexity_deep_research_followup", " Did you mean 'deep_research_followup'? It does that here."),
        (
            "thinkdeep",
            " 'consult' does that here; it is in the tool set 'consult', which is off (CONVERSATION_MCP_TOOLS).",
        ),
        (
            "consensus",
            " 'consensus' does that here; it is in the tool set 'consult', which is off (CONVERSATION_MCP_TOOLS).",
        ),
        (
            "delete_conversation",
            " 'delete_conversation' does that here; it is in the tool set 'manage', which is off (CONVERSATION_MCP_TOOLS).",
        ),
        (
            "end_conversation",
            " 'end_conversation' does that here; it is in the tool set 'memories', which is off (CONVERSATION_MCP_TOOLS).",
        ),
        ("serach", " Did you mean 'search'?"),
        ("make_coffee", ""),
    ],
)
def test_a_name_from_elsewhere_leads_to_what_does_that_job_here(name: str, sentence: str) -> None:
    assert meant_by(name, ON) == sentence


def test_every_name_from_elsewhere_leads_to_a_tool() -> None:
    text = files("conversation_mcp.tools").joinpath("known_elsewhere.toml").read_text("utf-8")
    tools = {tool for names in TOOL_SETS.values() for tool in names}
    assert set(tomllib.loads(text).values()) <= tools


@pytest.mark.parametrize(
    ("stored", "mode"),
    [
        ("search", "search"),
        ("search_followup", "search"),
        ("deep_research", "deep_research"),
        ("deep_research_followup", "deep_research"),
        ("chat", "chat"),
        ("list_models", None),
        ("a tool of another program", None),
        ("catalog", None),
        ("", None),
        (None, None),
    ],
)
def test_what_a_stored_question_was_asked_for_is_known_by_its_tool_and_unknown_of_any_other(
    stored: str | None, mode: str | None
) -> None:
    assert mode_of(stored) == mode
