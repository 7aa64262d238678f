"""Roles and contents of messages on the wire."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Literal, TypedDict

from conversation_mcp.providers.wire.parts import Content, PartForm
from conversation_mcp.records.chat import ChatMessage

SystemRole = Literal["system", "developer", "user"]
TEXTS = PartForm("chat_completions")
"""Any form will do where no message has images."""


class SentMessage(TypedDict):
    """A message as it stands in a request."""

    role: str
    content: Content


def sent_messages(
    messages: Sequence[ChatMessage],
    system_role: SystemRole = "system",
    *,
    alternate: bool = True,
    form: PartForm = TEXTS,
) -> list[SentMessage]:
    """Return role and content of each message; without a system role, the system text begins the first question.

    With `alternate`, adjacent messages of one role are merged, for providers that require roles to alternate.
    """
    rows: list[tuple[str, list[ChatMessage]]] = []
    for group in _groups(messages) if alternate else ([message] for message in messages):
        role = system_role if group[0].role == "system" else group[0].role
        if role == "user" and rows and rows[-1][0] == "user" and rows[-1][1][-1].role == "system":
            rows[-1][1].extend(group)
        else:
            rows.append((role, group))
    return [{"role": role, "content": form.content(row)} for role, row in rows]


def merged(messages: Iterable[ChatMessage]) -> list[ChatMessage]:
    """Return the messages with adjacent ones of the same role merged into paragraphs."""
    return [
        group[-1]._replace(
            content="\n\n".join(message.content for message in group),
            images=tuple(image for message in group for image in message.images),
            pdfs=tuple(pdf for message in group for pdf in message.pdfs),
        )
        for group in _groups(messages)
    ]


def _groups(messages: Iterable[ChatMessage]) -> Iterable[list[ChatMessage]]:
    """Yield the rows of adjacent messages of one role."""
    return (list(group) for _, group in groupby(messages, key=lambda message: message.role))
