"""conversation.json as it is read and written."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot
from pydantic import ValidationError
from tests.fixtures.stores import conversation

from conversation_mcp.errors import ConversationCorruptedError
from conversation_mcp.records.codec import decode, encode, settle
from conversation_mcp.records.ids import id_at
from conversation_mcp.records.models import Conversation, ConversationId, Message, PendingTurn, Source
from conversation_mcp.records.usage import Usage

ID = id_at(1769817600123)
CONTRACT: dict[str, Any] = {
    "conversationId": ID,
    "createdAt": "2026-01-31T00:00:00.123Z",
    "updatedAt": "2026-01-31T00:00:00.123Z",
    "messageCount": 1,
    "messages": [{"role": "user", "content": "Hello?"}],
}
SPELLED = {str(field.alias) for record in (Conversation, Message) for field in record.model_fields.values()}
KNOWN = {name for record in (Conversation, Message) for name in record.model_fields} | SPELLED

any_text = st.text(st.characters(codec=None))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=10,
)
unknown_fields = st.dictionaries(any_text.filter(lambda name: name not in KNOWN), json_values, max_size=3)


@st.composite
def messages(draw: st.DrawFn) -> dict[str, Any]:
    role = draw(st.sampled_from(["system", "user", "assistant"]))
    return {"role": role, "content": draw(any_text), **draw(unknown_fields)}


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    said = draw(st.lists(messages(), max_size=4))
    return {**CONTRACT, "title": draw(any_text), "messages": said, **draw(unknown_fields)}


def read(document: object, conversation_id: ConversationId = ID) -> Conversation:
    return decode(json.dumps(document).encode(), "conversation.json", conversation_id)


def clean(document: object) -> Any:
    """Return the document as text that can be stored would spell it."""
    return json.loads(json.dumps(document).encode().decode(), object_pairs_hook=_storable_names)


def _storable_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return {_storable(name): _storable(value) for name, value in pairs}


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return [_storable(item) for item in value] if isinstance(value, list) else value  # pyright: ignore[reportUnknownVariableType] -- the same


def test_the_file_shows_the_facts_first_and_the_messages_last() -> None:
    full = conversation(ID, "What is a B-tree?").changed(
        note="mine",
        title="B-trees · 日本",
        messages=(
            Message(role="user", content="What is a\nB-tree? 😀"),
            Message.of(
                role="assistant",
                content="Sorted [1].",
                sources=(Source(id=1, url="https://example.org"),),
                usage=Usage(cost_usd=0.00381),
                mark="seen",
            ),
        ),
        pending_turn=PendingTurn(question="And a trie?", status="running"),
    )
    assert encode(full).decode() == snapshot("""\
{
  "conversationId": "20260131-1769817600123",
  "createdAt": "2026-01-31T00:00:00.123Z",
  "updatedAt": "2026-01-31T00:00:00.123Z",
  "messageCount": 2,
  "title": "B-trees · 日本",
  "pendingTurn": {
    "question": "And a trie?",
    "status": "running"
  },
  "note": "mine",
  "messages": [
    {
      "role": "user",
      "content": "What is a\\nB-tree? 😀"
    },
    {
      "role": "assistant",
      "content": "Sorted [1].",
      "sources": [
        {
          "id": 1,
          "url": "https://example.org"
        }
      ],
      "usage": {
        "costUsd": 0.00381
      },
      "mark": "seen"
    }
  ]
}
""")


def test_a_file_with_the_five_fields_of_the_contract_is_read_and_written_back_as_it_was() -> None:
    assert json.loads(encode(read(CONTRACT))) == CONTRACT


@pytest.mark.parametrize("frame", ["\ufeff{}", "{}\r\n\r\n", "\r\n\t{}\n"])
def test_a_byte_order_mark_and_white_space_around_are_fine(frame: str) -> None:
    text = json.dumps(CONTRACT, indent=2).replace("\n", "\r\n")
    assert decode(frame.replace("{}", text).encode(), "conversation.json", ID) == read(CONTRACT)


def test_the_folder_wins_over_the_id_in_the_file() -> None:
    other = id_at(1769817600456)
    assert json.loads(encode(read(CONTRACT, other)))["conversationId"] == other


def test_a_count_that_disagrees_with_the_list_is_corrected_when_written() -> None:
    assert json.loads(encode(read({**CONTRACT, "messageCount": 77})))["messageCount"] == 1


def test_fields_that_nobody_knows_are_kept_null_ones_too() -> None:
    message = {"role": "user", "content": "Hello?", "mark": None, "usage": {"newTokens": 1e-7, "big": 10**30}}
    document = {**CONTRACT, "note": None, "later": {"version": [2, None]}, "messages": [message]}
    assert json.loads(encode(read(document))) == document


def test_a_field_in_the_spelling_of_python_is_a_field_that_nobody_knows() -> None:
    stored = read({**CONTRACT, "conversation_id": "another", "pending_turn": 3})
    assert (stored.conversation_id, stored.pending_turn) == (ID, None)
    written = json.loads(encode(stored))
    assert (written["conversation_id"], written["pending_turn"]) == ("another", 3)


def test_a_field_that_was_taken_away_leaves_the_file() -> None:
    stored = read({**CONTRACT, "title": "Old", "pendingTurn": {"question": "Well?"}})
    assert json.loads(encode(stored.changed(title=None, pending_turn=None))) == CONTRACT


@pytest.mark.parametrize("escape", [r"\ud83d", r"\udc00 \ud83d\ud83d"])
def test_a_lone_surrogate_in_the_file_is_read_as_the_replacement_character(escape: str) -> None:
    text = json.dumps(CONTRACT).replace("Hello?", f"a{escape}b").replace('"role"', rf'"n{escape}": 1, "role"')
    stored = decode(text.encode(), "conversation.json", ID)
    assert "\ufffd" in stored.messages[0].content
    assert decode(encode(stored), "conversation.json", ID) == stored


def test_surrogate_halves_that_belong_together_are_joined() -> None:
    stored = conversation(ID, "\ud83d\ude00")
    assert settle(stored)[0].messages[0].content == "😀"


def test_lone_surrogates_anywhere_never_stop_a_write() -> None:
    risky = conversation(ID, "a\ud83d").changed(
        title="\udc00",
        parent={"\ud83d": ["\ud83d"]},
        note={"deep": ["\udfff"]},
        pending_turn=PendingTurn(question="\ud800", partial_text="\udbff"),
    )
    settled, data = settle(risky)
    assert "\ufffd" in settled.messages[0].content
    assert decode(data, "conversation.json", ID) == settled


@pytest.mark.parametrize(
    "text", ["\0\x1b\x7f", "\u2028\u2029\ufffe", r"\u0000", '[{"type": "text"}]', "NaN", '"Infinity\\']
)
def test_odd_text_comes_back_as_it_was(text: str) -> None:
    assert decode(encode(conversation(ID, text)), "conversation.json", ID).messages[0].content == text


def test_text_that_prints_is_not_escaped() -> None:
    assert "Grüße, 日本, 😀, \u2028" in encode(conversation(ID, "Grüße, 日本, 😀, \u2028")).decode()


def test_numbers_that_are_none_never_reach_the_disk() -> None:
    odd = conversation(ID, "Hello?").changed(parent={"share": float("nan")}, note=float("inf"))
    written = json.loads(encode(odd), parse_constant=pytest.fail)
    assert (written["parent"], written["note"]) == ({"share": None}, None)


def test_the_last_of_two_equal_names_wins() -> None:
    said = '{"role": "tool", "role": "user", "content": 1, "content": "Hi", "sentTo": {"a": null, "a": "outside"}}'
    document = json.dumps({**CONTRACT, "messages": []}).replace("[]", f"[{said}]")
    (message,) = decode(document.encode(), "conversation.json", ID).messages
    assert message.data() == {"role": "user", "content": "Hi", "sentTo": {"a": "outside"}}


@given(st.sampled_from(sorted(SPELLED)), json_values)
def test_a_value_of_any_type_in_any_field_is_read_as_pydantic_reads_it_from_json(field: str, value: Any) -> None:
    document = clean({**CONTRACT, field: value, "messages": [{**CONTRACT["messages"][0], field: value}]})
    text = json.dumps(document)
    try:
        expected = Conversation.model_validate_json(text, by_alias=True, by_name=False)
    except ValidationError:
        with pytest.raises(ConversationCorruptedError):
            read(document)
    else:
        assert read(document) == expected.changed(conversation_id=ID)


@given(documents())
def test_every_document_comes_back_with_all_that_it_held(document: dict[str, Any]) -> None:
    stored, written = settle(read(document))
    assert decode(written, "conversation.json", ID) == stored
    assert list(json.loads(written))[-1] == "messages"
    assert json.loads(written) == {**clean(document), "messageCount": len(document["messages"])}


@given(documents())
def test_what_is_written_twice_is_written_alike(document: dict[str, Any]) -> None:
    written = encode(read(document))
    assert encode(decode(written, "conversation.json", ID)) == written
