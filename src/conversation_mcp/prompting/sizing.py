"""The sizes of what may be sent, never less than what stands in the request in the end."""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from conversation_mcp.prompting import frames
from conversation_mcp.prompting.measure import Measure
from conversation_mcp.prompting.presentation import (
    LEFT_OUT,
    NOT_SEEN,
    WITHHELD,
    Contents,
    Mention,
    first_line,
    known_as,
)
from conversation_mcp.prompting.transcript import Said, key_of
from conversation_mcp.providers.estimate import TOKENS_PER_MESSAGE
from conversation_mcp.records.attached import AttachedFile, AttachedImage, named_by

LONG_MARK, LONG_NAME = "0123456789abcdef", "message 1,000,000 of 20000101-1000000000000"
UNKNOWN_SIDE_PIXELS = 1024
ImageTokens = Callable[[int, int], int]


@dataclass(frozen=True)
class SentContent:
    """The text of a file, or an image, as it may stand in a request."""

    key: str
    named: AttachedFile | AttachedImage
    last: Mention
    """Where it is named last."""


def contents_of(
    said: Sequence[Said], kept: Contents, withheld: Collection[str] = (), *, sees: bool = True
) -> tuple[SentContent, ...]:
    """Return the contents that may be sent, by the place where each is named last."""
    last: dict[str, SentContent] = {}
    for message, one in enumerate(said):
        for index, named in enumerate(named_by(one)):
            key, is_image = key_of(named), isinstance(named, AttachedImage)
            if (
                key
                and key not in withheld
                and (sees or not is_image)
                and key in (kept.images if is_image else kept.texts)
            ):
                last.pop(key, None)
                last[key] = SentContent(key, named, Mention(message, index))
    return tuple(last.values())


def image_size(image: AttachedImage, image_tokens: ImageTokens) -> int:
    """Return the tokens of an image, by the formula of its provider."""
    return image_tokens(image.width or UNKNOWN_SIDE_PIXELS, image.height or UNKNOWN_SIDE_PIXELS)


def longest_paths(said: Iterable[Said]) -> Mapping[str, str]:
    """Return the longest path of each content that is named under several."""
    paths: dict[str, str] = {}
    for named in (named for one in said for named in named_by(one)):
        key = key_of(named) or ""
        paths[key] = max(paths.get(key, ""), named.path, key=len)
    return paths


class Scales:
    """Counts the parts of a request."""

    def __init__(
        self, kept: Contents, measure: Measure, image_tokens: ImageTokens, paths: Mapping[str, str] | None = None
    ) -> None:
        """Count with what is kept; `paths` has the longest path of each content that has several."""
        self._paths = paths or {}
        self._kept, self._measure, self._image_tokens = kept, measure, image_tokens

    def said(self, one: Said) -> int:
        """Return the tokens of a message, with a line for each file and image that it names."""
        count = self._measure.tokens(one.text) + TOKENS_PER_MESSAGE
        if named := named_by(one):
            count += self._introduction() + sum(map(self._line, named))
        return count

    def content(self, content: SentContent) -> int:
        """Return the tokens of a content with its frame, whole."""
        named = content.named
        if isinstance(named, AttachedImage):
            return self.image(named)
        text = self._kept.texts[content.key]
        return self._framing(named) + self._measure.count(
            ("numbered", content.key, named.lines),
            lambda: self._measure.tokens(frames.numbered(text, first_line(named))),
        )

    def image(self, image: AttachedImage) -> int:
        """Return the tokens of an image."""
        return image_size(image, self._image_tokens)

    def most(self, said: Sequence[Said], contents: Sequence[SentContent]) -> int:
        """Return an upper bound of the tokens of everything, from the lengths alone."""
        chars = sum(len(one.text) for one in said) + sum(self._chars(content) for content in contents)
        lines = sum(self._introduction() + sum(map(self._line, named_by(one))) for one in said if named_by(one))
        images = sum(self.image(one.named) for one in contents if isinstance(one.named, AttachedImage))
        framed = sum(self._framing(one.named) for one in contents)
        return math.ceil(chars * self._measure.most_per_char) + len(said) * TOKENS_PER_MESSAGE + lines + images + framed

    def _chars(self, content: SentContent) -> int:
        text = self._kept.texts.get(content.key)
        if text is None:
            return 0
        lines = text.count("\n") + 1
        last = lines + (first_line(content.named) if isinstance(content.named, AttachedFile) else 1)
        return len(text) + lines * (len(str(last)) + 1)

    def _introduction(self) -> int:
        return self._measure.tokens(frames.introduction(LONG_MARK) + "\n\n")

    def _line(self, named: AttachedFile | AttachedImage) -> int:
        other = self._paths.get(key_of(named) or "", named.path)
        key = ("line", named.path, other, named.reason if named.sent == "skipped" else None)
        return self._measure.count(key, lambda: self._longest_line(named, other))

    def _longest_line(self, named: AttachedFile | AttachedImage, other: str) -> int:
        """Return the tokens of the longest of the lines that may stand for it."""
        facts = [LEFT_OUT, NOT_SEEN, WITHHELD, known_as(other, f"in {LONG_NAME}")]
        if named.sent == "skipped":
            facts = [f"not sent: {named.reason}"]
        return max(self._measure.tokens(frames.line("image", named.path, one) + "\n") for one in facts)

    def _framing(self, named: AttachedFile | AttachedImage) -> int:
        return self._measure.count(("frame", named.path), lambda: self._frame(named.path))

    def _frame(self, path: str) -> int:
        facts = f", lines 1000000-1000000, changed since {LONG_NAME}, only the changes"
        return self._measure.tokens(frames.frame(LONG_MARK, path, "", facts) + "\n")
