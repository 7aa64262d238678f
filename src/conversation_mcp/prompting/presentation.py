"""How what is selected stands in a request: each content once, where it is named first; later mentions are a line."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from conversation_mcp.prompting import frames
from conversation_mcp.prompting.diffs import changes_between
from conversation_mcp.prompting.measure import Measure
from conversation_mcp.prompting.transcript import Said, key_of
from conversation_mcp.records.attached import AttachedFile, AttachedImage, SentAs, named_by
from conversation_mcp.records.chat import ChatMessage, ImagePart, PdfPart

LEFT_OUT = "left out here, because it does not fit"
NOT_KEPT = "its content is no longer kept"
WITHHELD = "left out here, because it was only sent on the user's own machine until now"
CROWDED = "left out here, because a request to this provider has no room for more images"
OVERSIZED = "left out here, because it is larger than this provider takes and cannot be made smaller"
BELOW = "attached to this message"
NOT_SEEN = "not sent, because this model does not see images"


class SentPdf(NamedTuple):
    """A PDF that is sent as it is, and the tokens of its pages."""

    data: bytes
    tokens: int


@dataclass(frozen=True)
class Contents:
    """What is kept with the conversations, by hash, and what was read for the new question."""

    texts: Mapping[str, str] = field(default_factory=dict[str, str])
    images: Mapping[str, ImagePart] = field(default_factory=dict[str, ImagePart])
    pdfs: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    """The PDFs by the hash of their text."""
    sent_pdfs: Mapping[str, SentPdf] = field(default_factory=dict[str, SentPdf])
    """Those of them that are sent as they are."""
    crowded: frozenset[str] = frozenset()
    """The images that are too many for one request."""
    oversized: frozenset[str] = frozenset()
    """The images that are larger than the provider takes."""


class Mention(NamedTuple):
    """The place of a mention: which of the messages, and which of the files and images that it names."""

    message: int
    named: int


NOWHERE = Mention(-1, -1)


@dataclass(frozen=True)
class ShownContent:
    """What stands in a request for a file or an image that a message names."""

    named: AttachedFile | AttachedImage
    sent: SentAs
    text: str
    """The frame, or the line in its place; empty if one line stands for several."""
    why: str | None = None
    """Why its content is not sent at all."""
    changed_since: Said | None = None
    image: ImagePart | None = None
    pdf: SentPdf | None = None


class Rendered(NamedTuple):
    """A message as it is sent."""

    said: Said
    message: ChatMessage
    shown: tuple[ShownContent, ...] = ()


class Presenter:
    """Renders the messages of one request from the oldest to the newest."""

    def __init__(
        self,
        kept: Contents,
        measure: Measure,
        left_out: frozenset[str] = frozenset(),
        after: Mention = NOWHERE,
        withheld: Collection[str] = (),
        *,
        sees: bool = True,
        most_lines: int | None = None,
    ) -> None:
        """Begin a request; the contents `left_out` and `withheld` do not stand in it, the others only after a place.

        Of each message, at most `most_lines` lines stand for what is not sent, and one for all others.
        """
        self._most_lines = most_lines
        self._withheld = withheld
        self._kept, self._measure = kept, measure
        self._left_out, self._after, self._sees = left_out, after, sees
        self._marks: dict[tuple[str, int], str] = {}
        self._standing: dict[str, tuple[Said, str]] = {}
        """By hash: the message in which a content stands, and its path there."""
        self._newest: dict[tuple[str, str | None], str] = {}
        """By path and lines: the hash of the newest version that stands."""

    def render(self, said: Said, place: int, before: str = "") -> Rendered:
        """Return the message; `before` stands before everything else in it."""
        if not (said.files or said.images):
            text = f"{before}\n\n{said.text}" if before and said.text else before or said.text
            return Rendered(said, ChatMessage(said.role, text))
        shown = tuple(
            self._file(said, Mention(place, index), named)
            if isinstance(named, AttachedFile)
            else self._image(said, Mention(place, index), named)
            for index, named in enumerate(named_by(said))
        )
        shown, more = _listed(shown, self._most_lines)
        blocks = [one.text for one in shown if one.text]
        blocks += [frames.more_line(more)] if more else []
        if any(one.sent in ("whole", "diff") and not one.pdf for one in shown if isinstance(one.named, AttachedFile)):
            blocks.insert(0, frames.introduction(self._mark(said)))
        parts = (before, "\n".join(blocks), said.text)
        content = "\n\n".join(part for part in parts if part)
        images = tuple(one.image for one in shown if one.image)
        pdfs = tuple(PdfPart(one.pdf.data) for one in shown if one.pdf)
        return Rendered(said, ChatMessage(said.role, content, images, pdfs), shown)

    def _file(self, said: Said, place: Mention, file: AttachedFile) -> ShownContent:
        key = key_of(file)
        if key is None:
            return _skipped("file", file)
        if key in self._standing:
            shown = self._known("file", said, file, key)
            # Named again, it is the newest version, even if another was named in between.
            self._newest[file.path, file.lines] = key
            return shown
        if why := self._why_not(key, place, self._kept.texts):
            return ShownContent(file, "skipped", frames.line("file", file.path, why, file.lines), why)
        base = self._newest.get((file.path, file.lines))
        self._standing[key] = said, file.path
        self._newest[file.path, file.lines] = key
        if pdf := self._kept.sent_pdfs.get(key):
            since = self._standing[base][0] if base else None
            line = frames.line("PDF", file.path, f"{BELOW}, {file.pages} pages")
            return ShownContent(file, "whole", line, changed_since=since, pdf=pdf)
        return self._framed(file, key, self._mark(said), base)

    def _why_not(self, key: str, place: Mention, kept: Mapping[str, object]) -> str | None:
        """Return why a content does not stand at a place where it is named; None if it does."""
        if key in self._withheld:
            return WITHHELD
        if key in self._kept.crowded:
            return CROWDED
        if key in self._kept.oversized:
            return OVERSIZED
        if key in self._left_out or place <= self._after:
            return LEFT_OUT
        return None if key in kept else NOT_KEPT

    def _mark(self, said: Said) -> str:
        """Return the mark of the message's frames, which is the same in every request."""
        if said.place not in self._marks:
            keys = tuple(key_of(file) or "" for file in said.files)
            facts = (file.path + (file.reason or "") for file in said.files)
            seed = "\n".join((said.conversation_id, str(said.number), said.text, *facts, *keys))
            texts = (seed, *(self._kept.texts.get(key, "") for key in keys))
            known = tuple(key in self._kept.texts for key in keys)
            self._marks[said.place] = self._measure.text(("mark", seed, known), lambda: frames.mark_for(seed, texts))
        return self._marks[said.place]

    def _framed(self, file: AttachedFile, key: str, mark: str, base: str | None) -> ShownContent:
        text = self._kept.texts[key]
        facts = f", lines {file.lines}" if file.lines else ""
        since = self._standing[base][0] if base else None
        if since:
            facts += f", changed since {since.name}"
        if file.is_change:  # its lines are not those of a file, and a diff of diffs says nothing to anybody
            framed = frames.frame(mark, file.path, text.rstrip("\n"), facts)
            return ShownContent(file, "whole", framed, changed_since=since)
        whole = self._measure.text(("numbered", key, file.lines), lambda: frames.numbered(text, first_line(file)))
        # A diff counts lines from 1, which is wrong for a part of a file; and of a PDF, no lines stand in the request.
        if base and since and not file.lines and base not in self._kept.sent_pdfs:
            changes = self._changes(base, key, text)
            if changes is not None and self._measure.tokens(changes) < self._measure.tokens(whole):
                framed = frames.frame(mark, file.path, changes, f"{facts}, only the changes")
                return ShownContent(file, "diff", framed, changed_since=since)
        return ShownContent(file, "whole", frames.frame(mark, file.path, whole, facts), changed_since=since)

    def _changes(self, base: str, key: str, text: str) -> str | None:
        before = self._kept.texts[base]
        return self._measure.optional_text(("changes", base, key), lambda: changes_between(before, text))

    def _image(self, said: Said, place: Mention, image: AttachedImage) -> ShownContent:
        key = key_of(image)
        if key is None:
            return _skipped("image", image)
        if not self._sees:
            return ShownContent(image, "skipped", frames.line("image", image.path, NOT_SEEN), NOT_SEEN)
        if key in self._standing:
            return self._known("image", said, image, key)
        if why := self._why_not(key, place, self._kept.images):
            return ShownContent(image, "skipped", frames.line("image", image.path, why), why)
        self._standing[key] = said, image.path
        return ShownContent(image, "whole", frames.line("image", image.path, BELOW), image=self._kept.images[key])

    def _known(self, kind: str, said: Said, named: AttachedFile | AttachedImage, key: str) -> ShownContent:
        where, path = self._standing[key]
        facts = known_as(path if path != named.path else None, "above" if where is said else f"in {where.name}")
        lines = named.lines if isinstance(named, AttachedFile) else None
        return ShownContent(named, "known", frames.line(kind, named.path, facts, lines))


def _listed(shown: tuple[ShownContent, ...], most_lines: int | None) -> tuple[tuple[ShownContent, ...], int]:
    """Return what is shown with lines for the first that are not sent, and the number of the others, if several."""
    skipped = [place for place, one in enumerate(shown) if one.sent == "skipped"]
    # A line that stands for one other would save nothing.
    if most_lines is None or len(skipped) <= most_lines + 1:
        return shown, 0
    hidden = frozenset(skipped[most_lines:])
    return tuple(replace(one, text="") if place in hidden else one for place, one in enumerate(shown)), len(hidden)


def known_as(other_path: str | None, where: str) -> str:
    """Return what is said of a content that stands in the request already."""
    return f"unchanged, as {where}" if other_path is None else f"the same as {frames.quoted(other_path)} {where}"


def too_large_for(tokens: int, room_tokens: int) -> str:
    """Return why a file of the new question is skipped."""
    return f"it has about {tokens:,} tokens, with room for about {room_tokens:,} in all files of the question"


def first_line(file: AttachedFile) -> int:
    """Return the number of the first line of what is kept of the file."""
    first = (file.lines or "1").partition("-")[0]
    return int(first) if first.isdecimal() else 1


def _skipped(kind: str, named: AttachedFile | AttachedImage) -> ShownContent:
    reason = named.reason or "skipped"
    return ShownContent(named, "skipped", frames.line(kind, named.path, f"not sent: {reason}"), reason)
