"""Conversations with their bytes, from which the next state is read and written without the messages that stay."""

from contextlib import suppress
from operator import is_
from secrets import token_hex
from typing import NamedTuple

from conversation_mcp.errors import ConversationCorruptedError
from conversation_mcp.records.codec import MESSAGES, counted, decode, head_of, messages_of, settle
from conversation_mcp.records.models import Conversation, ConversationId, Message

END = b"\n  ]\n}\n"
MESSAGE_END = b"\n    }"
"""Ends a message in bytes that the codec wrote: all within it is indented further, and texts hold no line breaks."""


class Coded(NamedTuple):
    """A conversation, and its file if that is known to have the messages exactly as the codec writes them."""

    conversation: Conversation
    data: bytes = b""
    """Empty if it is not known: large files would be held in memory for nothing."""

    def settled(self, conversation: Conversation) -> "Coded":
        """Return the bytes of the conversation, as `settle` does; those of the messages before new ones are copied."""
        known, messages = self.conversation.messages, conversation.messages
        if self._has_messages and len(messages) >= len(known) and all(map(is_, known, messages)):
            with suppress(ValueError):  # a text that cannot be stored
                settled = counted(conversation)
                head = head_of(settled)[:-2].encode()
                rest = _and_messages(settled, messages[len(known) :])
                return Coded(settled, b"".join((head, b",", MESSAGES, self._messages, rest)))
        return Coded(*settle(conversation))

    @property
    def _has_messages(self) -> bool:
        return bool(self.data and self.conversation.messages)

    @property
    def _messages(self) -> memoryview:
        """All messages as they are written, without what begins and ends their list."""
        return memoryview(self.data)[self._start : -len(END)]

    @property
    def _start(self) -> int:
        return self.data.index(MESSAGES) + len(MESSAGES)

    def decoded_after_same(self, data: bytes, path: str, conversation_id: ConversationId) -> "Coded | None":
        """Read another state of the file; None if not all messages of one of the two begin the other."""
        start = data.find(MESSAGES) + len(MESSAGES)
        if not self._has_messages or start < len(MESSAGES):
            return None
        messages, known, end = self.conversation.messages, self._messages, len(data) - len(END)
        if data.startswith(known, start):
            end = start + len(known)
        elif data.endswith(MESSAGE_END + END) and self.data.startswith(memoryview(data)[start:end], self._start):
            messages = messages[: -self.data.count(MESSAGE_END, self._start + end - start)]
        else:
            return None
        # One message in place of those that are the same: where it comes back as the first one, they are where they
        # seem to be, and not in an unknown field of a file that was written by hand.
        sign = token_hex(16)
        in_place = b'{"role": "user", "content": "%b"}' % sign.encode()
        conversation = decode(b"".join((data[:start], in_place, data[end:])), path, conversation_id)
        if not conversation.messages or conversation.messages[0].content != sign:
            return None
        new = conversation.messages[1:]
        conversation = conversation.changed(messages=messages + new)
        return Coded(conversation, data if data[end:] == _and_messages(conversation, new) else b"")


def decoded(data: bytes, path: str, conversation_id: ConversationId, known: Coded | None) -> Coded:
    """Read the bytes of a file, as `decode` does.

    If it begins with all messages of the known state, or that with all of the file's, they are not parsed again.
    """
    if known is not None:
        with suppress(ConversationCorruptedError):  # reported by `decode`, with the right place
            if (read := known.decoded_after_same(data, path, conversation_id)) is not None:
                return read
    return Coded(decode(data, path, conversation_id))


def _and_messages(conversation: Conversation, messages: tuple[Message, ...]) -> bytes:
    """Return how a file goes on after a message: with these, and its end."""
    if not messages:
        return END
    return b",%b\n" % messages_of(conversation.changed(messages=messages)).removeprefix(b"{" + MESSAGES)
