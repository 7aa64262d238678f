"""A request as it was composed: its messages, what they take, and what is recorded with its question."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from conversation_mcp.prompting.measure import Measure
from conversation_mcp.prompting.presentation import Rendered, ShownContent
from conversation_mcp.prompting.sizing import ImageTokens, image_size
from conversation_mcp.prompting.summaries import NeededSummary, StandingSummary
from conversation_mcp.prompting.transcript import Said
from conversation_mcp.providers.estimate import TOKENS_PER_MESSAGE
from conversation_mcp.records.attached import AttachedFile, AttachedImage, SentAs
from conversation_mcp.records.chat import ChatMessage


@dataclass(frozen=True)
class FilePart:
    """A file or image in a request, or the line in its place."""

    path: str
    sent: SentAs
    tokens: int
    why: str | None = None
    as_pdf: bool = False


@dataclass(frozen=True)
class Part:
    """A message of the conversation, as the request carries it or not."""

    conversation_id: str
    number: int | None
    """None for the system text."""
    role: str
    tokens: int
    """What it takes in the request, with its files; 0 if it is left out."""
    is_sent: bool = True
    files: tuple[FilePart, ...] = ()


@dataclass(frozen=True)
class Composition:
    """A request, and what is recorded with its question."""

    messages: tuple[ChatMessage, ...]
    files: tuple[AttachedFile, ...]
    """The records of the files that the question names."""
    images: tuple[AttachedImage, ...]
    contents: Mapping[str, bytes]
    """What must be kept for the question, by hash."""
    notices: tuple[str, ...]
    summaries: tuple[NeededSummary, ...]
    """The summaries that would stand for what is left out without one."""
    standing: tuple[StandingSummary, ...]
    """The summaries that stand in the request; their tokens are part of those of its first message."""
    left_out: tuple[Said, ...]
    rendered: tuple[Rendered, ...] = field(repr=False)
    conversation_id: str
    is_counted: bool
    """Whether it was counted, because it may have been too large; if not, counting it takes time."""
    measure: Measure = field(repr=False)
    image_tokens: ImageTokens = field(repr=False)

    @cached_property
    def tokens(self) -> int:
        """The estimated tokens of the request."""
        return sum(part.tokens for part in self.parts)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The messages of the conversation in their order, those that are left out first."""
        system = self.messages[: len(self.messages) - len(self.rendered)]
        return (
            *(Part(self.conversation_id, None, "system", self._size(message)) for message in system),
            *(Part(one.conversation_id, one.number, one.role, 0, is_sent=False) for one in self.left_out),
            *map(self._part, self.rendered),
        )

    def _part(self, one: Rendered) -> Part:
        files = tuple(
            FilePart(shown.named.path, shown.sent, self._file(shown), shown.why, bool(shown.pdf)) for shown in one.shown
        )
        images = sum(map(self._beside, one.shown))
        said = one.said
        return Part(said.conversation_id, said.number, said.role, self._size(one.message) + images, files=files)

    def _size(self, message: ChatMessage) -> int:
        return self.measure.tokens(message.content) + TOKENS_PER_MESSAGE

    def _file(self, shown: ShownContent) -> int:
        return self.measure.tokens(shown.text) + self._beside(shown)

    def _beside(self, shown: ShownContent) -> int:
        """Return the tokens of an image or PDF that stands beside the text."""
        if shown.pdf:
            return shown.pdf.tokens
        if shown.image is None or not isinstance(shown.named, AttachedImage):
            return 0
        return image_size(shown.named, self.image_tokens)
