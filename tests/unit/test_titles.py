"""What a conversation is called, wherever that is read."""

import json
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from tests.fixtures.conversations import conversations
from tests.fixtures.stores import UNKNOWN

from conversation_mcp.conversations.markdown import markdown
from conversation_mcp.exporting.catalog import export_format
from conversation_mcp.records.codec import decode, encode
from conversation_mcp.records.facts import describe
from conversation_mcp.records.models import Conversation, ConversationId


class Title(HTMLParser):
    """The title of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text = ""
        self._is_inside = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        del attrs
        self._is_inside = tag == "title"

    def handle_data(self, data: str) -> None:
        self.text += data if self._is_inside else ""

    def handle_endtag(self, tag: str) -> None:
        del tag
        self._is_inside = False


def titles(conversation: Conversation) -> set[str]:
    """Return the title in lists, in exports, and on the page to read."""
    listed = describe(encode(conversation), "a", ConversationId(conversation.conversation_id)).facts.title
    (line,) = [line for line in export_format("markdown").render(conversation).split("\n")[:2] if line != "---"]
    exported = json.loads(line.removeprefix("title: "))
    shown = markdown(conversation).split("\n")[0].removeprefix("# ")
    return {listed, exported, shown, Title(export_format("html").render(conversation)).text}


@pytest.mark.slow
@given(conversations())
def test_lists_exports_and_pages_call_a_conversation_the_same(conversation: Conversation) -> None:
    assert len(titles(conversation)) == 1


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"questions": [" \n", "tea?"]}, "tea?"),
        ({"questions": ["\x1b", "tea?"], "title": " "}, "tea?"),
        ({"questions": [""], "pendingTurn": {"question": "coffee?", "status": "failed"}}, "coffee?"),
        ({"questions": [" "]}, "(empty)"),
        ({"questions": ["tea?"], "title": "Mine"}, "Mine"),
    ],
)
def test_it_is_what_was_set_or_the_first_question_that_says_something(fields: dict[str, Any], expected: str) -> None:
    messages = [{"role": "user", "content": question} for question in fields.pop("questions")]
    moment = "2026-01-02T03:04:05.000Z"
    data = {"conversationId": UNKNOWN, "createdAt": moment, "updatedAt": moment, "messageCount": 1, **fields}
    conversation = decode(json.dumps({**data, "messages": messages}).encode(), "a", UNKNOWN)

    assert titles(conversation) == {expected}
