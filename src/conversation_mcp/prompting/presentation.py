"""How what is selected stands in a request: each content once, where it is named first; later mentions are a line."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from conversation_mcp.prompting import frames
from conversation_mcp.prompting.diffs import changes_between
from conversation_mcp.prompting.measure import Measure
from conversation_mcp.prompting.transcript import Said, key_of, named_by
from conversation_mcp.records.attached import AttachedFile, AttachedImage, SentAs
from conversation_mcp.records.chat import ChatMessage, ImagePart

LEFT_OUT = "left out here, because it does not fit"
NOT_KEPT = "its content is no longer kept"
NOT_SEEN = "not sent, because this model does not see images"
WITHHELD = "not sent, because it never left the machine of its owner"


@dataclass(frozen=True)
class Kept:
    """What is kept with the conversations, by hash, and what was read for the new question."""

    texts: Mapping[str, str] = field(default_factory=dict[str, str])
    images: Mapping[str, ImagePart] = field(default_factory=dict[str, ImagePart])
    withheld: frozenset[str] = frozenset()
    """The hashes of what the model may not get; none of it is among the texts and images."""


class Place(NamedTuple):
    """The place of a mention: which of the messages, and which of the files and images that it names."""

    message: int
    named: int


NOWHERE = Place(-1, -1)


@dataclass(frozen=True)
class Shown:
    """What stands in a request for a file or an image that a message names."""

    named: AttachedFile | AttachedImage
    sent: SentAs
    text: str
    """The frame, or the line in its place."""
    why: str | None = None
    """Why its content is not sent at all."""
    changed_since: Said | None = None
    image: ImagePart | None = None


@dataclass(frozen=True)
class Rendered:
    """A message as it is sent."""

    said: Said
    message: ChatMessage
    shown: tuple[Shown, ...] = ()


class Presenter:
    """Renders the messages of one request from the oldest to the newest."""

    def __init__(
        self,
        kept: Kept,
        measure: Measure,
        left_out: frozenset[str] = frozenset(),
        after: Place = NOWHERE,
        *,
        sees: bool = True,
    ) -> None:
        """Begin a request; the contents `left_out` do not stand in it, and the others only after a place."""
        self._kept, self._measure = kept, measure
        self._left_out, self._after, self._sees = left_out, after, sees
        self._standing: dict[str, tuple[Said, str]] = {}
        """By hash: the message in which a content stands, and its path there."""
        self._newest: dict[tuple[str, str | None], str] = {}
        """By path and lines: the hash of the newest version that stands."""

    def render(self, said: Said, place: int, before: str = "") -> Rendered:
        """Return the message; `before` stands before everything else in it."""
        texts = [self._kept.texts.get(key_of(file) or "", "") for file in said.files]
        mark = mark_of(said, texts) if texts else ""
        shown = tuple(
            self._file(said, Place(place, index), file, mark)
            if isinstance(file, AttachedFile)
            else self._image(said, Place(place, index), file)
            for index, file in enumerate(named_by(said))
        )
        blocks = [one.text for one in shown]
        if any(one.sent in ("whole", "diff") for one in shown if isinstance(one.named, AttachedFile)):
            blocks.insert(0, frames.introduction(mark))
        parts = (before, "\n".join(blocks), said.text)
        content = "\n\n".join(part for part in parts if part)
        images = tuple(one.image for one in shown if one.image)
        return Rendered(said, ChatMessage(said.role, content, images), shown)

    def _file(self, said: Said, place: Place, file: AttachedFile, mark: str) -> Shown:
        key = key_of(file)
        if key is None:
            return _skipped("file", file)
        if key in self._standing:
            shown = self._known("file", said, file, key)
            self._newest[file.path, file.lines] = key
            return shown
        if key in self._left_out or place <= self._after:
            return Shown(file, "skipped", frames.line("file", file.path, LEFT_OUT), LEFT_OUT)
        text = self._kept.texts.get(key)
        if text is None:
            why = self._absence(key)
            return Shown(file, "skipped", frames.line("file", file.path, why), why)
        base = self._newest.get((file.path, file.lines))
        self._standing[key] = said, file.path
        self._newest[file.path, file.lines] = key
        return self._framed(file, key, text, mark, base)

    def _framed(self, file: AttachedFile, key: str, text: str, mark: str, base: str | None) -> Shown:
        facts = f", lines {file.lines}" if file.lines else ""
        since = self._standing[base][0] if base else None
        if since:
            facts += f", changed since {since.name}"
        whole = self._measure.made.get(("numbered", key, file.lines), lambda: frames.numbered(text, first_line(file)))
        if base and since and not file.lines:
            changes = self._changes(base, key, text)
            if changes is not None and self._measure.tokens(changes) < self._measure.tokens(whole):
                framed = frames.frame(mark, file.path, changes, f"{facts}, only the changes")
                return Shown(file, "diff", framed, changed_since=since)
        return Shown(file, "whole", frames.frame(mark, file.path, whole, facts), changed_since=since)

    def _changes(self, base: str, key: str, text: str) -> str | None:
        before = self._kept.texts[base]
        return self._measure.made.get(("changes", base, key), lambda: changes_between(before, text))

    def _image(self, said: Said, place: Place, image: AttachedImage) -> Shown:
        key = key_of(image)
        if key is None:
            return _skipped("image", image)
        if not self._sees:
            return Shown(image, "skipped", frames.line("image", image.path, NOT_SEEN), NOT_SEEN)
        if key in self._standing:
            return self._known("image", said, image, key)
        if key in self._left_out or place <= self._after:
            return Shown(image, "skipped", frames.line("image", image.path, LEFT_OUT), LEFT_OUT)
        part = self._kept.images.get(key)
        if part is None:
            why = self._absence(key)
            return Shown(image, "skipped", frames.line("image", image.path, why), why)
        self._standing[key] = said, image.path
        return Shown(image, "whole", frames.line("image", image.path, "below"), image=part)

    def _absence(self, key: str) -> str:
        return WITHHELD if key in self._kept.withheld else NOT_KEPT

    def _known(self, kind: str, said: Said, named: AttachedFile | AttachedImage, key: str) -> Shown:
        where, path = self._standing[key]
        facts = known_as(path if path != named.path else None, "above" if where is said else f"in {where.name}")
        return Shown(named, "known", frames.line(kind, named.path, facts))


def known_as(other_path: str | None, where: str) -> str:
    """Return what is said of a content that stands in the request already."""
    return f"unchanged, as {where}" if other_path is None else f"the same as {frames.quoted(other_path)} {where}"


def mark_of(said: Said, texts: list[str]) -> str:
    """Return the mark of the message's frames, which is the same in every request."""
    seed = "\n".join([said.conversation_id, str(said.number), said.text, *(key_of(file) or "" for file in said.files)])
    reasons = (file.reason or "" for file in said.files)
    return frames.mark_for(seed, (said.text, *texts, *reasons, *(file.path for file in said.files)))


def first_line(file: AttachedFile) -> int:
    """Return the number of the first line of what is kept of the file."""
    first = (file.lines or "1").partition("-")[0]
    return int(first) if first.isdecimal() else 1


def _skipped(kind: str, named: AttachedFile | AttachedImage) -> Shown:
    reason = named.reason or "skipped"
    return Shown(named, "skipped", frames.line(kind, named.path, f"not sent: {reason}"), reason)
