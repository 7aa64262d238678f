"""Arguments as clients and models really send them."""

import json
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from conversation_mcp.errors import InvalidInputError
from conversation_mcp.tooling.arguments import parse
from conversation_mcp.tooling.schema import input_schema
from conversation_mcp.tools.catalog import TOOL_SETS, AnyTool, tools_of

TOOLS = {tool.name: tool for tool in tools_of(TOOL_SETS)}
SCHEMAS = {name: input_schema(tool) for name, tool in TOOLS.items()}
UNSET: list[Any] = ["", " ", None, [], {}, [None], ["", "null"], "[]", "{}", "null", "undefined", "None"]
FILLED: dict[str, Any] = {
    "query": "Why?",
    "userId": "ann",
    "role": "user",
    "messages": [{"role": "user", "content": "Why?"}],
    "maxTokens": 500,
    "content": "We picked Rust.",
    "memoryId": "mem-1",
    "prompt": "Why?",
    "conversationId": "20260131-1769817600000",
    "conversationIds": ["20260131-1769817600000", "20260131-1769817600001"],
    "messageNumber": 3,
    "models": [{"model": "openai:gpt-6"}, {"model": "gemini:pro", "stance": "against"}],
    "workflow": "debug",
    "step": "Why?",
    "stepNumber": 1,
    "totalSteps": 2,
    "next": True,
    "findings": "It is slow.",
}
WORDS = {
    ("update_conversation", "title"),
    ("update_conversation", "tags"),
    ("update_memory", "tags"),
    ("list_conversations", "query"),
    ("list_models", "query"),
}
OPTIONAL = [
    (name, argument)
    for name, schema in SCHEMAS.items()
    for argument in schema["properties"]
    if argument not in schema.get("required", ()) and (name, argument) not in WORDS
]


def least(tool: AnyTool) -> dict[str, Any]:
    return {name: FILLED[name] for name in SCHEMAS[tool.name].get("required", ())}


def taken(name: str, /, **arguments: Any) -> Any:
    return parse(TOOLS[name], {**least(TOOLS[name]), **arguments})


@pytest.mark.parametrize("nothing", UNSET, ids=repr)
@pytest.mark.parametrize(("name", "argument"), OPTIONAL)
def test_what_stands_for_nothing_leaves_an_optional_argument_out(name: str, argument: str, nothing: object) -> None:
    assert taken(name, **{argument: nothing}) == taken(name)


@pytest.mark.parametrize("five", [5, 5.0, "5", "5.0", " 5 "], ids=repr)
def test_a_whole_number_may_come_as_any_client_spells_it(five: object) -> None:
    assert taken("get_conversation_history", limit=five, waitSeconds=five).limit == 5
    assert taken("branch_conversation", messageNumber=five).message_number == 5


@pytest.mark.parametrize("other", [True, 5.5, "5.5", "five", "1e3", [5], "9" * 40], ids=repr)
def test_what_is_no_whole_number_is_refused(other: object) -> None:
    with pytest.raises(InvalidInputError, match="limit must be a"):
        taken("list_conversations", limit=other)


@pytest.mark.parametrize(
    ("said", "meant"),
    [("true", True), ("false", False), ("True", True), (False, False), ("no", False), ("1", True), (0, False)],
)
def test_a_flag_may_be_a_word(said: object, meant: bool) -> None:
    assert taken("search", showThinking=said, return_related_questions=said).show_thinking is meant
    assert taken("update_conversation", archived=said).archived is meant


@pytest.mark.parametrize("name", TOOLS)
def test_what_clients_add_by_themselves_is_ignored(name: str) -> None:
    assert taken(name, wait_for_previous=True, random_string="dummy", _meta={"progressToken": 1}) == taken(name)
    assert taken(name, unknown=None, of_another_version="") == taken(name)


@pytest.mark.parametrize("name", TOOLS)
@pytest.mark.parametrize("wrapper", ["args", "arguments", "input", "params", "kwargs"])
def test_arguments_may_be_wrapped_in_one(name: str, wrapper: str) -> None:
    inner = least(TOOLS[name])
    for wrapped in (inner, json.dumps(inner)):
        assert parse(TOOLS[name], {wrapper: wrapped, "wait_for_previous": False}) == taken(name)


@pytest.mark.parametrize("spelling", ["conversation_id", "conversation-id", "ConversationId", "conversationID"])
def test_a_name_may_be_spelled_as_in_any_language(spelling: str) -> None:
    given = {"query": "Why?", spelling: "20260131-1769817600000"}
    assert parse(TOOLS["search_followup"], given) == taken("search_followup")


@pytest.mark.parametrize("week", ["week", "Week", " WEEK "])
def test_a_choice_may_be_written_in_capitals(week: str) -> None:
    assert taken("search", search_recency_filter=week).search_recency_filter == "week"


@pytest.mark.parametrize(
    "day", ["2026-01-31", "01/31/2026", "2026/01/31", "2026-01-31T08:00:00.000Z", "2026-01-31 08:00"]
)
def test_a_day_may_have_a_time(day: str) -> None:
    assert taken("search", search_after_date_filter=day).search_after_date_filter == date(2026, 1, 31)


def test_words_are_taken_as_they_were_written() -> None:
    assert taken("search", query="null").query == "null"
    assert taken("list_conversations", query="undefined", tag="5").query == "undefined"
    assert taken("list_conversations", tag="5").tag == "5"
    assert taken("update_conversation", title="null", tags=["5", "null"]).tags == ("5", "null")
    assert taken("update_conversation", tags="null", archived=True).tags is None
    assert (taken("update_conversation", title="").title, taken("update_conversation", tags=[]).tags) == ("", ())
    assert taken("search", model="5").model == "5"


def test_no_word_is_no_list_and_no_object() -> None:
    assert (taken("list_conversations", query=[]).query, taken("list_models", query={}).query) == ("", "")
    assert taken("update_conversation", title=[], archived=True).title is None
    assert taken("update_conversation", tags="[]").tags == ()


def test_a_list_may_come_as_text() -> None:
    assert taken("search", search_domain_filter='["example.org"]').search_domain_filter == ("example.org",)
    assert taken("update_conversation", tags=' ["a"]').tags == ("a",)
    assert taken("update_conversation", tags="['a', 'b']").tags == ("a", "b")
    ids = FILLED["conversationIds"]
    assert taken("merge_conversations", conversationIds=json.dumps(ids)).conversation_ids == ids


def test_a_single_value_may_stand_for_a_list() -> None:
    for one in ("example.org", '"example.org"', ["example.org", None, ""]):
        assert taken("search", search_domain_filter=one).search_domain_filter == ("example.org",)
    assert taken("search", search_domain_filter="a.org, b.org").search_domain_filter == ("a.org", "b.org")
    assert taken("update_conversation", tags="a, b").tags == ("a", "b")
    assert taken("search_followup", files="/a, b.txt").files == ("/a, b.txt",)


@pytest.mark.parametrize("other", [None, "", "[", "x", "[" * 99_999, 5, [], ["one"], [1, 2], ["id"] * 21], ids=str)
def test_what_is_no_list_of_ids_is_refused_in_words(other: object) -> None:
    with pytest.raises(InvalidInputError, match="conversationIds must be a list of 2 to 20 ids"):
        taken("merge_conversations", conversationIds=other)


@pytest.mark.parametrize("word", ["", "null", "[]"])
def test_an_argument_that_is_needed_is_never_taken_as_left_out(word: str) -> None:
    assert taken("search", query=word).query == word


FREE = {
    "search_domain_filter",
    "search_after_date_filter",
    "search_before_date_filter",
    "after",
    "before",
    "continueFrom",
    "messages",
    "effort",
}
"""Their schemas say less than what they mean: a list of words is no list of domains, a text no date or effort, a conversation
cannot both be new and a stored one, and no messages are nothing to store."""


@given(st.data())
def test_nothing_that_the_schema_of_a_tool_allows_is_refused(data: st.DataObject) -> None:
    tool = data.draw(st.sampled_from([each for each in TOOLS.values() if SCHEMAS[each.name]["properties"]]))
    schema = SCHEMAS[tool.name]
    values = (
        st.none() | st.booleans() | st.sampled_from((0, 1, 5, 5.0, 50.0, 1e2, "5", "", "day", "web", "low", "json"))
    )
    values |= st.lists(st.sampled_from(("a", "5")), max_size=2)
    bounded = {
        name
        for name, field in schema["properties"].items()
        if field.get("type") != "integer" or "minimum" in field  # the tools of memories keep theirs out of the schema
    }
    names = st.sampled_from(sorted(bounded - FREE))
    arguments = {**least(tool), **data.draw(st.dictionaries(names, values, max_size=4))}
    if Draft202012Validator(schema).is_valid(arguments):  # pyright: ignore[reportUnknownMemberType] -- of the library
        parse(tool, arguments)
