"""What was said, in order, over a chain of conversations: the messages that can be sent, by whole turns."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from conversation_mcp.prompting.verdicts import framed_verdicts
from conversation_mcp.records.attached import AttachedFile, AttachedImage, named_by
from conversation_mcp.records.models import Conversation

ROLES: Mapping[str, Literal["system", "user", "assistant"]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
}
"""The role that a message is sent with, by its role in the file; tool messages are not sent."""


class Said(NamedTuple):
    """A question or an answer, and where it stands."""

    conversation_id: str
    number: int
    role: Literal["user", "assistant"]
    text: str
    files: tuple[AttachedFile, ...] = ()
    images: tuple[AttachedImage, ...] = ()
    is_own: bool = True
    """Whether it stands in the conversation itself, not in a parent."""

    @property
    def place(self) -> tuple[str, int]:
        """Where it stands: the conversation, and its number there."""
        return self.conversation_id, self.number

    @property
    def name(self) -> str:
        """What it is called in a request."""
        return f"message {self.number}" if self.is_own else f"message {self.number} of {self.conversation_id}"


def system_text(conversation: Conversation) -> str:
    """Return the system texts of the conversation as one."""
    texts = [message.content for message in conversation.messages if ROLES.get(message.role) == "system"]
    return "\n\n".join(text for text in texts if text.strip())


def said_in(chain: Sequence[Conversation]) -> tuple[Said, ...]:
    """Return what was said in the parents, which end where the next one began, then in the conversation itself.

    It begins with a question. Empty messages and tool messages are left out: the answers that used a tool contain its
    results.
    """
    said = [one for place in range(len(chain)) for one in _said(chain, place)]
    first = next((place for place, one in enumerate(said) if one.role == "user"), len(said))
    return tuple(said[first:])


def _said(chain: Sequence[Conversation], place: int) -> Iterator[Said]:
    conversation, is_own = chain[place], place == len(chain) - 1
    framed = framed_verdicts(conversation.conversation_id, conversation.messages)
    for number, message in enumerate(conversation.messages, 1):
        role = ROLES.get(message.role)
        files, images = message.files or (), message.images or ()
        if role in ("user", "assistant") and (message.content.strip() or files or images):
            text = framed.get(number, message.content)
            yield Said(conversation.conversation_id, number, role, text, files, images, is_own)


def turns_of(said: Sequence[Said]) -> tuple[tuple[Said, ...], ...]:
    """Return the questions, each with what follows it."""
    turns: list[list[Said]] = []
    for one in said:
        if one.role == "user" or not turns:
            turns.append([])
        turns[-1].append(one)
    return tuple(map(tuple, turns))


def key_of(named: AttachedFile | AttachedImage) -> str | None:
    """Return the hash of what is sent of it; None if it was skipped."""
    if named.sent == "skipped":
        return None
    shown = named.text if isinstance(named, AttachedFile) else named.shown
    return shown or named.sha256


def hashes_needed(chain: Sequence[Conversation]) -> frozenset[str]:
    """Return the hashes of the texts, images and PDFs that a request may have to carry."""
    said = (message for conversation in chain for message in conversation.messages)
    # Most name nothing, and this is asked several times for each question.
    named = [each for one in said if one.files or one.images for each in named_by(one)]
    pdfs = (each.sha256 for each in named if isinstance(each, AttachedFile) and each.pages and key_of(each))
    return frozenset(key for key in (*map(key_of, named), *pdfs) if key)
