"""The reading and writing of a file of which another state is known: the outcome is that of doing all anew."""

import operator
import re
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fixtures.conversations import conversations
from tests.fixtures.stores import conversation

from conversation_mcp.errors import ConversationCorruptedError
from conversation_mcp.records import coded
from conversation_mcp.records.codec import MESSAGES, decode, encode, settle
from conversation_mcp.records.coded import Coded, decoded
from conversation_mcp.records.ids import id_at
from conversation_mcp.records.models import Conversation, ConversationId, Message

ID = id_at(1769817600123)
PATH = "conversation.json"
STRUCTURE = re.compile(rb"[][{},\n]")
SURROGATE = Message(role="user", content="\ud800")


@dataclass
class Edit:
    """What becomes of a conversation: so many of its messages stay, others follow, and its facts are another's."""

    kept: int
    other: Conversation

    def of(self, before: Conversation) -> Conversation:
        return self.other.changed(
            conversation_id=before.conversation_id, messages=before.messages[: self.kept] + self.other.messages
        )


edits = st.builds(Edit, st.integers(0, 8), conversations())
"""An edit keeps all messages more often than some, because conversations are short."""


def known(stored: Conversation) -> Coded:
    return Coded(*settle(stored))


def outcome(data: bytes, from_state: Coded | None) -> Conversation | str:
    try:
        read = decoded(data, PATH, ID, from_state)
    except ConversationCorruptedError as error:
        return error.message
    return read.conversation


@pytest.mark.slow
@given(conversations(), st.lists(edits, max_size=4))
def test_each_of_many_states_has_the_bytes_that_it_has_without_the_ones_before(
    first: Conversation, following: list[Edit]
) -> None:
    state = known(first)
    for edit in following:
        after = edit.of(state.conversation)
        state = state.settled(after)
        assert state.data == encode(after)
        assert state.conversation == settle(after)[0]


@pytest.mark.slow
@given(conversations(), edits, st.data())
def test_a_file_is_read_as_without_a_known_state_whatever_was_made_of_its_bytes(
    first: Conversation, edit: Edit, drawn: st.DataObject
) -> None:
    data = encode(edit.of(first))
    state = known(first)
    for _ in range(drawn.draw(st.integers(0, 2))):
        places = st.sampled_from([0, *(found.end() for found in STRUCTURE.finditer(data)), len(data)])
        start, end = sorted(drawn.draw(st.tuples(places, places)))
        match drawn.draw(st.sampled_from(("whole", "cut", "without", "twice", "comma"))):
            case "cut":
                data = data[:end]
            case "without":
                data = data[:start] + data[end:]
            case "twice":
                data = data[:end] + data[start:]
            case "comma":
                data = data.replace(b"},", b"}", 1)
            case _:
                pass
    assert outcome(data, state) == outcome(data, None)


@pytest.mark.slow
@given(conversations(), edits, edits)
def test_what_is_written_to_a_file_that_was_read_is_the_same_as_without_a_known_state(
    first: Conversation, edit: Edit, following: Edit
) -> None:
    read = decoded(encode(edit.of(first)), PATH, ConversationId(first.conversation_id), known(first))
    after = following.of(read.conversation)
    assert read.settled(after).data == encode(after)


def grown(count: int) -> Conversation:
    messages = tuple(Message(role="user", content=f"Question {number}?") for number in range(count))
    return settle(conversation(ID, "").changed(messages=messages))[0]


@pytest.mark.parametrize(("before", "after"), [(3, 3), (3, 5), (5, 3)], ids=["as many", "more", "fewer"])
def test_messages_that_are_the_same_are_neither_parsed_nor_encoded_again(
    before: int, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[int] = []

    def counting(data: bytes, path: str, conversation_id: ConversationId) -> Conversation:
        read = decode(data, path, conversation_id)
        parsed.append(len(read.messages))
        return read

    monkeypatch.setattr(coded, "decode", counting)
    state = known(grown(before))
    read = decoded(encode(grown(after).changed(title="Renamed")), PATH, ID, state)
    assert read.conversation == grown(after).changed(title="Renamed")
    assert parsed == [1 + max(0, after - before)]  # the one in place of those that are the same, and the new ones
    assert all(map(operator.is_, state.conversation.messages, read.conversation.messages))
    monkeypatch.setattr(coded, "settle", None)
    more = read.conversation.changed(messages=(*read.conversation.messages, Message(role="user", content="More?")))
    assert read.settled(more).data == encode(more)


def test_messages_in_a_field_of_a_file_written_by_hand_are_not_taken_for_its_own() -> None:
    theirs = encode(grown(3)).replace(b'\n  "messages": [', b'\n  "note": {\n  "messages": [', 1)
    data = theirs.replace(b"\n  ]\n}\n", b'\n  ]\n},\n"messages": [{"role": "user", "content": "Mine?"}]}\n', 1)
    assert outcome(data, known(grown(3))) == outcome(data, None)
    assert len(decode(data, PATH, ID).messages) == 1


def test_a_file_cut_within_a_message_is_damaged_although_the_known_state_goes_on_there() -> None:
    whole = encode(grown(3))
    for cut in re.finditer(rb"[^,](?=,)", whole[whole.index(MESSAGES) :]):
        data = whole[: whole.index(MESSAGES) + cut.end()] + b"\n  ]\n}\n"
        assert outcome(data, known(grown(3))) == outcome(data, None)


def test_a_message_added_by_hand_is_written_in_the_form_of_the_others() -> None:
    by_hand = b',\n{"content": "Mine?", "role": "user"}\n  ]\n}\n'
    data = encode(grown(3)).replace(b"\n  ]\n}\n", by_hand)
    read = decoded(data, PATH, ID, known(grown(3)))
    assert [message.content for message in read.conversation.messages][2:] == ["Question 2?", "Mine?"]
    assert read.settled(read.conversation).data == encode(read.conversation)


def test_a_text_that_cannot_be_stored_is_replaced_in_what_follows_too() -> None:
    state = known(grown(2))
    after = state.conversation.changed(messages=(*state.conversation.messages, SURROGATE))
    settled = state.settled(after)
    assert settled.data == encode(after)
    assert settled.conversation.messages[-1].content == "\ufffd"
