"""The sizes of what may be sent, never less than what stands in the request in the end."""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

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
    too_large_for,
)
from conversation_mcp.prompting.transcript import Said, key_of
from conversation_mcp.providers.estimate import TOKENS_PER_MESSAGE
from conversation_mcp.records.attached import AttachedFile, AttachedImage, named_by

# As long as these ever get in practice, so that what is counted with them is not too little.
LONG_MARK, LONG_NAME = "0123456789abcdef", "message 1,000,000 of 20000101-1000000000000"
NO_ROOM = f"not sent: {too_large_for(1_000_000, 1_000_000)}"
UNKNOWN_SIDE_PIXELS = 1024
ImageTokens = Callable[[int, int], int]


@dataclass(frozen=True)
class SentContent:
    """The text of a file, or an image, as it may stand in a request."""

    key: str
    named: AttachedFile | AttachedImage
    last: Mention
    """Where it is named last."""
    again: tuple[AttachedFile | AttachedImage, ...] = ()
    """Its mentions in the new question, but for the first of all mentions: lines that stand only if it is sent."""


def contents_of(
    said: Sequence[Said], kept: Contents, withheld: Collection[str] = (), *, new_from: int, sees: bool = True
) -> tuple[SentContent, ...]:
    """Return the contents that may be sent, by the place where each is named last."""
    last: dict[str, SentContent] = {}
    for message, one in enumerate(said):
        for index, named in enumerate(named_by(one)):
            key, is_image = key_of(named), isinstance(named, AttachedImage)
            if (
                key
                and key not in withheld
                and key not in kept.crowded
                and (sees or not is_image)
                and key in (kept.images if is_image else kept.texts)
            ):
                former = last.pop(key, None)
                again = (*former.again, named) if former and message >= new_from else ()
                last[key] = SentContent(key, named, Mention(message, index), again)
    return tuple(last.values())


def image_size(image: AttachedImage, image_tokens: ImageTokens) -> int:
    """Return the tokens of an image, by the formula of its provider."""
    return image_tokens(image.width or UNKNOWN_SIDE_PIXELS, image.height or UNKNOWN_SIDE_PIXELS)


def _longest_paths(said: Iterable[Said]) -> Mapping[str, str]:
    """Return the longest path of each content that is named under several."""
    paths: dict[str, str] = {}
    for named in (named for one in said for named in named_by(one)):
        key = key_of(named) or ""
        paths[key] = max(paths.get(key, ""), named.path, key=len)
    return paths


def _repeated_mentions(said: Iterable[Said]) -> frozenset[tuple[tuple[str, int], int]]:
    """Return the mentions, by message and place in it, of contents that are mentioned before."""
    first: dict[str, tuple[tuple[str, int], int]] = {}
    mentions = ((key_of(named), (one.place, index)) for one in said for index, named in enumerate(named_by(one)))
    return frozenset(place for key, place in mentions if key and first.setdefault(key, place) != place)


def _changing_files(said: Iterable[Said]) -> frozenset[tuple[str, str | None]]:
    """Return the files, by path and lines, that are named with more than one content."""
    first: dict[tuple[str, str | None], str | None] = {}
    files = ((file.path, file.lines, key_of(file)) for one in said for file in one.files if key_of(file))
    return frozenset((path, lines) for path, lines, key in files if first.setdefault((path, lines), key) != key)


class Scales:
    """Counts the parts of a request."""

    def __init__(
        self,
        kept: Contents,
        measure: Measure,
        image_tokens: ImageTokens,
        everything: Sequence[Said],
        most_lines: int | None = None,
    ) -> None:
        """Count with what is kept the parts of `everything` that may be sent; nothing is looked at before it counts."""
        self._everything, self._most_lines = everything, most_lines
        self._kept, self._measure, self._image_tokens = kept, measure, image_tokens

    @cached_property
    def _paths(self) -> Mapping[str, str]:
        return _longest_paths(self._everything)

    @cached_property
    def _changing(self) -> Collection[tuple[str, str | None]]:
        return _changing_files(self._everything)

    @cached_property
    def _repeated(self) -> Collection[tuple[tuple[str, int], int]]:
        return _repeated_mentions(self._everything)

    def said(self, one: Said) -> int:
        """Return the tokens of an earlier message, with the lines that may stand in it."""
        named = named_by(one)
        again = [other for index, other in enumerate(named) if (one.place, index) in self._repeated]
        first = [other for index, other in enumerate(named) if (one.place, index) not in self._repeated]
        return self._text(one) + self._lines(first) + sum(map(self._line, again))

    def asked(self, one: Said) -> int:
        """Return the tokens of a new question, with the lines that may stand for what it names and is not sent."""
        return self._text(one) + self._lines(named_by(one))

    def _text(self, one: Said) -> int:
        introduction = self._introduction() if named_by(one) else 0
        return self._measure.tokens(one.text) + TOKENS_PER_MESSAGE + introduction

    def _lines(self, named: Sequence[AttachedFile | AttachedImage]) -> int:
        lines, most = sorted(map(self._skipped_line, named), reverse=True), self._most_lines
        if most is None or len(lines) <= most + 1:
            return sum(lines)
        more = self._measure.tokens(frames.more_line(len(lines)) + "\n")
        return sum(lines[:most]) + max(lines[most], more)

    def content(self, content: SentContent) -> int:
        """Return the tokens of a content, whole: with its frame, and with other mentions in the new question."""
        named, lines = content.named, sum(map(self._known_line, content.again))
        if isinstance(named, AttachedImage):
            return lines + self._known_line(named) + self.image(named)
        if pdf := self._kept.sent_pdfs.get(content.key):
            return lines + self._known_line(named) + self._framing(named) + pdf.tokens
        text = self._kept.texts[content.key]
        return (
            lines
            + self._framing(named)
            + self._measure.count(
                ("numbered", content.key, named.lines),
                lambda: self._measure.tokens(frames.numbered(text, first_line(named))),
            )
        )

    def image(self, image: AttachedImage) -> int:
        """Return the tokens of an image."""
        return image_size(image, self._image_tokens)

    def most(self, said: Sequence[Said], contents: Sequence[SentContent]) -> int:
        """Return an upper bound of the tokens of everything, from the lengths alone."""
        chars = sum(len(one.text) for one in said) + sum(self._chars(content) for content in contents)
        lines = sum(self._introduction() + sum(map(self._line, named_by(one))) for one in said if named_by(one))
        images = sum(self.image(one.named) for one in contents if isinstance(one.named, AttachedImage))
        framed = sum(self._framing(one.named) for one in contents) + sum(map(self._pdf, contents))
        return math.ceil(chars * self._measure.most_per_char) + len(said) * TOKENS_PER_MESSAGE + lines + images + framed

    def _pdf(self, content: SentContent) -> int:
        pdf = self._kept.sent_pdfs.get(content.key)
        return pdf.tokens if pdf else 0

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
        return max(self._skipped_line(named), self._known_line(named))

    def _known_line(self, named: AttachedFile | AttachedImage) -> int:
        other = self._paths.get(key_of(named) or "", named.path)
        facts = [known_as(other, f"in {LONG_NAME}")]
        key = ("known", named.path, _lines_of(named), other)
        return self._measure.count(key, lambda: self._longest_line(named, facts))

    def _skipped_line(self, named: AttachedFile | AttachedImage) -> int:
        facts = [f"not sent: {named.reason}"] if named.sent == "skipped" else [LEFT_OUT, NOT_SEEN, WITHHELD, NO_ROOM]
        key = ("skipped", named.path, _lines_of(named), *facts)
        return self._measure.count(key, lambda: self._longest_line(named, facts))

    def _longest_line(self, named: AttachedFile | AttachedImage, facts: Sequence[str]) -> int:
        shown = (frames.line("image", named.path, one, _lines_of(named)) for one in facts)
        return max(self._measure.tokens(one + "\n") for one in shown)

    def _framing(self, named: AttachedFile | AttachedImage) -> int:
        lines = _lines_of(named)
        facts = f", lines {lines}" if lines else ""
        if (named.path, lines) in self._changing:
            facts += f", changed since {LONG_NAME}, only the changes"
        return self._measure.count(("frame", named.path, facts), lambda: self._frame(named.path, facts))

    def _frame(self, path: str, facts: str) -> int:
        return self._measure.tokens(frames.frame(LONG_MARK, path, "", facts) + "\n")


def _lines_of(named: AttachedFile | AttachedImage) -> str | None:
    return named.lines if isinstance(named, AttachedFile) else None
