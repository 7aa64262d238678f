"""The separation of hidden reasoning from the text of an answer, while the text arrives.

Reasoning is a block at the very start, or all text up to a closing mark whose opening mark was in the prompt. A text
that mentions such marks, even with its first word, or shows them in code, is not reasoning.
"""

from collections.abc import Generator, Iterator
from re import Pattern
from typing import Literal, NamedTuple

from conversation_mcp.text import storable
from conversation_mcp.thinking.marks import (
    ANSWER_ENDS,
    CHANNEL_END,
    DECIDING,
    HEADER,
    MAX_MARK_CHARS,
    MAX_UNDECIDED_CHARS,
    OPENING,
    WATCHED,
    Before,
    begun,
    closing_of,
    ends_reasoning,
    is_sentence,
    is_spoken_of,
    may_begin,
)

BYTE_ORDER_MARK = "\ufeff"


class Split(NamedTuple):
    """The text of an answer and the reasoning that was in it; `is_open` if the reasoning never ended."""

    visible: str
    hidden: str
    is_open: bool


class Shown(NamedTuple):
    """The text to show now; `replaces` if everything shown before has turned out to be reasoning."""

    text: str
    replaces: bool = False


def split_thinking(text: str, *, is_cut: bool = False) -> Split:
    """Split a whole answer, or one that was cut, into text and reasoning; without reasoning the text is unchanged."""
    splitter = ThinkingSplitter()
    visible = ""
    for shown in (*splitter.feed(text), *splitter.rest(is_cut=is_cut)):
        visible = shown.text if shown.replaces else visible + shown.text
    if not splitter.has_hidden:
        return Split(storable(text), "", is_open=False)
    hidden = "\n\n".join(part for part in splitter.hidden if part)
    return Split(visible.strip(), storable(hidden), splitter.is_open)


class ThinkingSplitter:
    """Splits a text that arrives in pieces; a possible start of a mark or of a character waits for the next piece."""

    def __init__(self) -> None:
        self.hidden: list[str] = []
        self.has_hidden = False
        self.is_open = False
        self._state: Literal["start", "hiding", "watching", "channel", "plain"] = "start"
        self._held = ""
        self._past: list[str] = []
        """The passed part of a block, or of a watched text; it is reasoning if a closing mark proves it."""
        self._before = Before()
        self._opening = ""
        self._closing = CHANNEL_END
        self._skipped: int | None = None
        self._is_channel = False
        self._is_cut = False

    def feed(self, piece: str) -> Iterator[Shown]:
        """Add a piece and yield what can be shown now."""
        self._held += piece
        yield from self._go_on(is_last=False)

    def rest(self, *, is_cut: bool = False) -> Iterator[Shown]:
        """Yield what was held back, at the end of the text; `is_cut` if the answer was cut there."""
        self._is_cut = is_cut
        yield from self._go_on(is_last=True)
        if self._state == "hiding":
            yield from self._give_up()

    def _go_on(self, *, is_last: bool) -> Iterator[Shown]:
        is_decided = True
        while is_decided:
            match self._state:
                case "start":
                    is_decided = self._begin(is_last=is_last)
                case "hiding":
                    is_decided = self._hide(is_last=is_last)
                case "watching":
                    is_decided = yield from self._watch(is_last=is_last)
                case "channel":
                    is_decided = False
                    yield from self._show(self._without_end(is_last=is_last))
                case "plain":
                    is_decided = False
                    yield from self._show(len(self._held) - (0 if is_last else _half(self._held)))

    def _begin(self, *, is_last: bool) -> bool:
        """Look for a mark at the start of the text; return whether that is decided."""
        text = self._held.lstrip().lstrip(BYTE_ORDER_MARK).lstrip()
        if opening := OPENING.match(text):
            self._open(closing_of(opening), text, opening.end())
        elif header := HEADER.match(text):
            self._is_channel = True
            if (header["channel"] or "final").split()[:1] == ["final"]:
                self._answer(text[header.end() :])
            else:
                self._open(CHANNEL_END, text, header.end())
        elif not is_last and (not text or may_begin(text)):
            return False
        elif self.has_hidden:
            self._answer(text)
        else:
            self._state = "watching"
        return True

    def _open(self, closing: Pattern[str], text: str, size: int) -> None:
        start = self._held[: len(self._held) - len(text)]
        self.has_hidden, self._state = True, "hiding"
        self._opening, self._held, self._skipped = start + text[:size], text[size:], None
        self._closing, self._before = closing, Before()

    def _answer(self, text: str) -> None:
        self.has_hidden, self._state = True, "channel" if self._is_channel else "plain"
        self._held = text.lstrip()

    def _hide(self, *, is_last: bool) -> bool:
        """Look for the end of the block and return whether it was found; a mark in code or quotes does not end it."""
        held, place = self._held, 0
        while found := self._closing.search(held, place):
            self._pass(held[place : found.start()])
            after = held[found.end() : found.end() + MAX_UNDECIDED_CHARS]
            is_said = self._closing is not CHANNEL_END and self._is_said(after, is_last=is_last)
            if is_said is None:
                self._held = held[found.start() :]
                return False
            if not is_said:
                self._close("".join(self._past), held[found.end() :])
                return True
            if self._state == "plain":
                self._held = "".join([self._opening, *self._past, held[found.start() :]])
                self._past.clear()
                return True
            self._skipped = sum(map(len, self._past)) if self._skipped is None else self._skipped
            self._pass(found[0])
            place = found.end()
        kept = max(len(held) - MAX_MARK_CHARS, place)
        self._pass(held[place:kept])
        self._held = held[kept:]
        return False

    def _is_said(self, after: str, *, is_last: bool) -> bool | None:
        """Tell whether the mark is only mentioned; if the first sentence mentions it, nothing was hidden after all."""
        is_last = is_last or len(after) == MAX_UNDECIDED_CHARS
        is_spoken = is_spoken_of(self._before, after, is_last=is_last)
        if is_spoken is not False or self.hidden:
            return is_spoken
        is_about = is_sentence("".join(self._past), after, is_last=is_last)
        if is_about:
            self.has_hidden, self._state = False, "plain"
        return is_about

    def _pass(self, passed: str) -> None:
        self._past.append(passed)
        self._before.add(passed)

    def _close(self, reasoning: str, after: str) -> None:
        self.hidden.append(reasoning.strip())
        self._past.clear()
        self._state, self._held = "start", after

    def _give_up(self) -> Iterator[Shown]:
        """End a block that was not closed: at the first skipped mark, else at the end of the text."""
        text, place = "".join([*self._past, self._held]), self._skipped
        found = None if place is None else self._closing.match(text, place)
        self.is_open = found is None
        self._close(text[:place] if found else text, "")
        if found:
            yield Shown(storable(text[found.end() :].lstrip()))

    def _watch(self, *, is_last: bool) -> Generator[Shown, None, bool]:
        """Show the text up to the first mark, and return whether that decided what the text is."""
        found = WATCHED.search(self._held)
        if found is None:
            kept = 0 if is_last else max(begun(self._held, DECIDING), _half(self._held))
            yield from self._seen(len(self._held) - kept)
            return False
        yield from self._seen(found.start())
        after = self._held[len(found[0]) :]
        is_last = is_last or len(after) >= MAX_UNDECIDED_CHARS
        is_end = not found["opening"] and ends_reasoning(
            self._before, after, is_last=is_last, is_cut=self._is_cut and not after
        )
        if is_end is None:
            return False
        if is_end:
            self.hidden.append("".join(self._past).strip())
            self._is_channel = bool(found["final"])
            self._answer(after)
            yield Shown("", replaces=True)
        else:
            self._state = "plain"
        self._past.clear()
        return True

    def _seen(self, size: int) -> Iterator[Shown]:
        self._pass(self._held[:size])
        yield from self._show(size)

    def _show(self, size: int) -> Iterator[Shown]:
        shown, self._held = self._held[:size], self._held[size:]
        if shown:
            yield Shown(storable(shown))

    def _without_end(self, *, is_last: bool) -> int:
        """Return how much of an answer in a channel can be shown: everything but its end mark."""
        text = self._held.rstrip()
        end = next((len(text) - len(mark) for mark in ANSWER_ENDS if text.endswith(mark)), None)
        if end is not None:
            return end
        return len(self._held) - (0 if is_last else max(begun(self._held, ANSWER_ENDS), _half(self._held)))


def _half(text: str) -> int:
    """Return 1 if the text ends in half a surrogate pair, whose other half is in the next piece."""
    return int("\ud800" <= text[-1:] <= "\udbff")
