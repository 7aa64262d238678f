"""What a request is made of."""

from dataclasses import dataclass, field, replace

from conversation_mcp.attaching.contents import FilesRead, ImageContent
from conversation_mcp.attaching.headers import header_of
from conversation_mcp.attaching.limits import RefusedError
from conversation_mcp.attaching.shrinking import fitted, shrunk
from conversation_mcp.conversations.recipients import Recipients
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.prompting.measure import Remembered
from conversation_mcp.prompting.presentation import Contents
from conversation_mcp.providers.choosing.choice import Choice
from conversation_mcp.providers.choosing.sight import images_at
from conversation_mcp.records.chat import ImagePart
from conversation_mcp.records.models import Conversation
from conversation_mcp.turns.ask import Ask, Caller
from conversation_mcp.turns.chains import Chain

Limits = tuple[int, int]
"""Of images: the longest side in pixels, and the bytes."""
Smaller = Remembered[ImagePart | None]
"""Earlier images by hash and limits, made smaller; None where that cannot be done."""


@dataclass
class Material:
    """What a request is made of beside the conversation that holds the question; written by the composer."""

    ask: Ask
    caller: Caller
    before: Chain
    """The conversations before that one."""
    found: Conversation | None = None
    """That conversation as the call found it; None for a question that opens one."""
    redacted: tuple[str, ...] = ()
    """The notices about what was replaced in the question and its files."""
    read: FilesRead | None = None
    """What the paths of the question lead to, once it was read."""
    fitted: dict[Limits, tuple[ImageContent, ...]] = field(default_factory=dict[Limits, tuple[ImageContent, ...]])
    """The images that the question names, made smaller where they exceed the limits of a provider."""
    texts: dict[str, str] = field(default_factory=dict[str, str])
    """The files that earlier questions name, by the hash of their text."""
    images: dict[str, ImagePart] = field(default_factory=dict[str, ImagePart])
    """The images that earlier questions name, by their hash."""
    smaller: dict[tuple[str, Limits], ImagePart | None] = field(
        default_factory=dict[tuple[str, Limits], ImagePart | None]
    )
    """Those of these images that exceed the limits of a provider, made smaller; None where that cannot be done."""
    pdfs: dict[str, bytes] = field(default_factory=dict[str, bytes])
    """The PDFs among these files, by the hash of their text."""
    sought: set[str] = field(default_factory=set[str])
    """The hashes that were looked for, whether or not they are there."""
    held: set[str] = field(default_factory=set[str])
    """The hashes of what the conversation of the question itself is known to keep; the sender adds what it keeps."""

    @property
    def continued(self) -> Conversation | None:
        """Of a question that opens a conversation: the one that it continues."""
        return self.before.conversations[-1] if self.before.conversations else None

    def holder(self, stored: Conversation | None, sides: Recipients) -> Conversation | None:
        """Return the conversation that tells who has the words so far; None if there are none."""
        chain = (*self.before.conversations, *([stored] if stored else []))
        return Chain(chain).holder(sides) if chain else None

    def images_for(self, choice: Choice) -> tuple[ImageContent, ...]:
        """Return the images that the question names as the provider accepts them; the first time blocks."""
        limits = _limits(choice)
        if limits not in self.fitted:
            self.fitted[limits] = tuple(fitted(image, *limits) for image in (self.read.images if self.read else ()))
        # What an earlier question names stands there, made smaller if need be, and does not stand here once more.
        return tuple(
            replace(image, smaller=None) if image.smaller and image.sha256 in self.images else image
            for image in self.fitted[limits]
        )

    def contents_for(self, choice: Choice) -> Contents:
        """Return what the conversations keep, with the images as the provider accepts them."""
        limits = _limits(choice)
        fitted = {key: self.smaller.get((key, limits), part) for key, part in self.images.items()}
        return Contents(
            self.texts,
            {key: part for key, part in fitted.items() if part},
            self.pdfs,
            oversized=frozenset(key for key, part in fitted.items() if part is None),
        )

    def unfitted(self, choice: Choice) -> tuple[str, ...]:
        """Return the earlier images that exceed the limits of the provider and were not made smaller yet, by hash."""
        limits = _limits(choice)
        return tuple(
            key for key, part in self.images.items() if (key, limits) not in self.smaller and _exceeds(part, limits)
        )

    def fit_earlier(self, choice: Choice, known: Smaller) -> None:
        """Make the earlier images smaller that the provider does not accept as they are; what is not known blocks."""
        limits = _limits(choice)
        for key in self.unfitted(choice):
            part = self.images[key]
            self.smaller[key, limits] = known.get((key, limits), lambda part=part: _made_smaller(part, limits))


def _limits(choice: Choice) -> Limits:
    accepted = images_at(choice.provider)
    return accepted.max_side_pixels, accepted.max_bytes


def _exceeds(part: ImagePart, limits: Limits) -> bool:
    max_side_pixels, max_bytes = limits
    try:
        _, width, height = header_of(part.data)
    except RefusedError:  # of a kind that was not accepted when it was asked, either
        return len(part.data) > max_bytes
    return len(part.data) > max_bytes or max(width, height) > max_side_pixels


def _made_smaller(part: ImagePart, limits: Limits) -> ImagePart | None:
    try:
        media_type, width, height = header_of(part.data)
        smaller = shrunk(ImageContent("", part.data, media_type, width, height), *limits)
    except (RefusedError, InvalidInputError):
        return None
    return ImagePart(smaller.media_type, smaller.data)
