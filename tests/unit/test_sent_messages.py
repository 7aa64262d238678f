"""A conversation as a provider gets it: each message in its place, in every request the same."""

from itertools import pairwise
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fixtures.sent import messages_to_send
from tests.fixtures.stores import UNKNOWN, conversation

from conversation_mcp.prompting.history import finished_turns
from conversation_mcp.providers.definitions import load_definitions
from conversation_mcp.providers.wire.parts import PartForm
from conversation_mcp.providers.wire.roles import SentMessage, SystemRole, merged, sent_messages
from conversation_mcp.records.chat import ChatMessage, ImagePart
from conversation_mcp.records.models import Message, Role

ASKED = conversation(UNKNOWN, "one?", "One.", "two?")


def user(content: str) -> SentMessage:
    return {"role": "user", "content": content}


def assistant(content: str) -> SentMessage:
    return {"role": "assistant", "content": content}


def test_a_question_that_ends_the_messages_is_sent_in_its_place_before_and_after_the_next_answer() -> None:
    now = messages_to_send(ASKED, "three?")
    grown = ASKED.changed(
        messages=(*ASKED.messages, Message(role="user", content="three?"), Message(role="assistant", content="Three."))
    )
    later = messages_to_send(grown, "four?")
    assert sent_messages(now) == [user("one?"), assistant("One."), user("two?\n\nthree?")]
    assert sent_messages(later)[:3] == sent_messages(now)
    assert sent_messages(now, alternate=False) == [user("one?"), assistant("One."), user("two?"), user("three?")]
    assert sent_messages(later, alternate=False)[:4] == sent_messages(now, alternate=False)


@pytest.mark.parametrize("alternate", [True, False])
@pytest.mark.parametrize(
    ("role", "sent"),
    [("system", [{"role": "system", "content": "Be brief."}, user("one?")]), ("user", [user("Be brief.\n\none?")])],
)
def test_where_no_system_role_is_taken_its_text_begins_the_first_question(
    role: SystemRole, sent: list[SentMessage], *, alternate: bool
) -> None:
    stored = conversation(UNKNOWN).changed(messages=(Message(role="system", content="Be brief."),))
    assert sent_messages(messages_to_send(stored, "one?"), role, alternate=alternate) == sent


@given(
    st.lists(st.tuples(st.sampled_from(get_args(Role)), st.sampled_from(("", " ", "a", "b\n\nc"))), max_size=6),
    st.sampled_from(get_args(SystemRole)),
    st.booleans(),
)
def test_whatever_stands_in_a_file_each_request_begins_with_the_one_before(
    written: list[tuple[Role, str]], role: SystemRole, alternate: bool
) -> None:
    stored, before = conversation(UNKNOWN), list[SentMessage]()
    messages = tuple(Message(role=speaker, content=text) for speaker, text in written)
    for number in range(3):
        sent = sent_messages(
            messages_to_send(stored.changed(messages=messages), f"{number}?"), role, alternate=alternate
        )
        assert sent[: len(before)] == before
        speakers = [message["role"] for message in sent]
        assert role in speakers[:1] or speakers[0] == "user"
        assert not alternate or not any(one == two for one, two in pairwise(speakers))
        before = sent
        turn = Message(role="user", content=f"{number}?"), Message(role="assistant", content=f"{number}.")
        messages = (*messages, *turn)


def test_lines_for_strict_readers_end_with_an_answer() -> None:
    assert [message.content for message in finished_turns(ASKED)] == ["one?", "One."]


def test_only_providers_that_are_known_not_to_insist_get_rows_of_one_role() -> None:
    definitions = load_definitions()
    assert {name for name, each in definitions.items() if not each.quirks.alternate} == {"openai", "xai"}


RED, BLUE = ImagePart("image/png", b"red"), ImagePart("image/gif", b"blue")
FORM = PartForm("responses")


def text(words: str) -> dict[str, object]:
    return {"type": "input_text", "text": words}


def image(data: str) -> dict[str, object]:
    return {"type": "input_image", "image_url": f"data:image/{data}"}


def test_messages_that_are_merged_keep_each_image_right_before_its_text() -> None:
    messages = (
        ChatMessage("system", "Be brief."),
        ChatMessage("user", "one?", (RED,)),
        ChatMessage("user", "two?"),
        ChatMessage("user", "three?", (BLUE, RED)),
    )
    red, blue = image("png;base64,cmVk"), image("gif;base64,Ymx1ZQ==")
    assert sent_messages(messages, form=FORM) == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [red, text("one?\n\ntwo?"), blue, red, text("three?")]},
    ]
    assert sent_messages(messages, "user", form=FORM)[0]["content"] == [
        text("Be brief."),
        red,
        text("one?\n\ntwo?"),
        blue,
        red,
        text("three?"),
    ]
    assert [message["content"] for message in sent_messages(messages, form=FORM, alternate=False)] == [
        "Be brief.",
        [red, text("one?")],
        "two?",
        [blue, red, text("three?")],
    ]
    assert [message.images for message in merged(messages)] == [(), (RED, BLUE, RED)]


def test_an_image_without_a_word_is_sent_without_an_empty_text() -> None:
    messages = (ChatMessage("user", "", (RED,)), ChatMessage("user", "", (BLUE,)))
    red, blue = image("png;base64,cmVk"), image("gif;base64,Ymx1ZQ==")
    assert sent_messages(messages, form=FORM) == [{"role": "user", "content": [red, blue]}]


def test_chat_completions_have_parts_of_their_own() -> None:
    (sent,) = sent_messages([ChatMessage("user", "one?", (RED,))], form=PartForm("chat_completions", "low"))
    url = {"url": "data:image/png;base64,cmVk", "detail": "low"}
    assert sent["content"] == [{"type": "image_url", "image_url": url}, {"type": "text", "text": "one?"}]
