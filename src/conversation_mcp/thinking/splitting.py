"""Hidden reasoning that stands in the text of an answer, told apart while the text arrives.

It is a block at the very start, or all text up to a closing mark whose opening one stood in the prompt. What a text
says about such marks, or shows in code, is no reasoning.
"""

from collections.abc import Generator, Iterator
from re import Pattern
from typing import Literal, NamedTuple

from conversation_mcp.text import storable
from conversation_mcp.thinking.marks import (
    ANSWER_ENDS,
    BLOCKS,
    CHANNEL_END,
    CLOSINGS,
    FINAL_HEADERS,
    HEADER,
    MAX_MARK_CHARS,
    OPENING,
    WATCHED,
    begun,
    closing_of,
    ends_reasoning,
    is_spoken_of,
    may_begin,
)

DECIDING = (*BLOCKS, *CLOSINGS, *FINAL_HEADERS)


class Split(NamedTuple):
    """The text of an answer and the reasoning that stood in it; `is_open` when that never ended."""

    visible: str
    hidden: str
    is_open: bool


class Shown(NamedTuple):
    """What can be shown now; `replaces` when all that was shown before has turned out to be reasoning."""

    text: str
    replaces: bool = False


def split_thinking(text: str) -> Split:
    """Return the text of a whole answer apart from the reasoning; as it came where there is none."""
    splitter = ThinkingSplitter()
    visible = ""
    for shown in (*splitter.feed(text), *splitter.rest()):
        visible = shown.text if shown.replaces else visible + shown.text
    if not splitter.has_hidden:
        return Split(storable(text), "", is_open=False)
    hidden = "\n\n".join(part for part in splitter.hidden if part)
    return Split(visible.strip(), storable(hidden), splitter.is_open)


class ThinkingSplitter:
    """Takes a text in pieces; what may be the start of a mark or of a character waits for the next one."""

    def __init__(self) -> None:
        self.hidden: list[str] = []
        self.has_hidden = False
        self.is_open = False
        self._state: Literal["start", "hiding", "watching", "channel", "plain"] = "start"
        self._held = ""
        self._past: list[str] = []
        """What of a block, or of a text that is watched, is not held any more."""
        self._closing = CHANNEL_END
        self._skipped: int | None = None
        self._is_channel = False

    def feed(self, piece: str) -> Iterator[Shown]:
        """Yield what can be shown now."""
        self._held += piece
        yield from self._go_on(is_last=False)

    def rest(self) -> Iterator[Shown]:
        """Yield what was held back, now that nothing follows."""
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
        """Look at what the text begins with; return whether that is decided."""
        text = self._held.lstrip()
        if opening := OPENING.match(text):
            self._open(closing_of(opening[0]), text[opening.end() :])
        elif header := HEADER.match(text):
            self._is_channel = True
            if (header["channel"] or "final").split()[:1] == ["final"]:
                self._answer(text[header.end() :])
            else:
                self._open(CHANNEL_END, text[header.end() :])
        elif not is_last and (not text or may_begin(text)):
            return False
        elif self.has_hidden:
            self._answer(text)
        else:
            self._state = "watching"
        return True

    def _open(self, closing: Pattern[str], after: str) -> None:
        self.has_hidden, self._state = True, "hiding"
        self._closing, self._held, self._skipped = closing, after, None

    def _answer(self, text: str) -> None:
        self.has_hidden, self._state = True, "channel" if self._is_channel else "plain"
        self._held = text.lstrip()

    def _hide(self, *, is_last: bool) -> bool:
        """Look for the end of the block; return whether it was found. A mark in code or quotes ends nothing."""
        while found := self._closing.search(self._held):
            before, after = "".join([*self._past, self._held[: found.start()]]), self._held[found.end() :]
            is_said = self._closing is not CHANNEL_END and is_spoken_of(before, after, is_last=is_last)
            if is_said is None:
                return False
            if not is_said:
                self._close(before, after)
                return True
            self._skipped = len(before) if self._skipped is None else self._skipped
            self._pass(found.end())
        self._pass(max(len(self._held) - MAX_MARK_CHARS, 0))
        return False

    def _pass(self, size: int) -> None:
        self._past.append(self._held[:size])
        self._held = self._held[size:]

    def _close(self, reasoning: str, after: str) -> None:
        self.hidden.append(reasoning.strip())
        self._past.clear()
        self._state, self._held = "start", after

    def _give_up(self) -> Iterator[Shown]:
        """End a block that was not closed: at the first mark that was passed over, else with the text."""
        text, place = "".join([*self._past, self._held]), self._skipped
        found = None if place is None else self._closing.match(text, place)
        self.is_open = found is None
        self._close(text[:place] if found else text, "")
        if found:
            yield Shown(storable(text[found.end() :].lstrip()))

    def _watch(self, *, is_last: bool) -> Generator[Shown, None, bool]:
        """Show the text until the first mark decides; return whether it did."""
        found = WATCHED.search(self._held)
        if found is None:
            kept = 0 if is_last else max(begun(self._held, DECIDING), _half(self._held))
            yield from self._seen(len(self._held) - kept)
            return False
        after = self._held[found.end() :]
        before = "".join([*self._past, self._held[: found.start()]])
        is_end = not found["opening"] and ends_reasoning(before, after, is_last=is_last)
        if is_end is None:
            yield from self._seen(found.start())
            return False
        self._past.clear()
        if is_end:
            self.hidden.append(before.strip())
            self._is_channel = bool(found["final"])
            self._answer(after)
            yield Shown("", replaces=True)
        else:
            self._state = "plain"
        return True

    def _seen(self, size: int) -> Iterator[Shown]:
        self._past.append(self._held[:size])
        yield from self._show(size)

    def _show(self, size: int) -> Iterator[Shown]:
        shown, self._held = self._held[:size], self._held[size:]
        if shown:
            yield Shown(storable(shown))

    def _without_end(self, *, is_last: bool) -> int:
        """Return how much of an answer in a channel can be shown: the mark of its end is no part of it."""
        text = self._held.rstrip()
        end = next((len(text) - len(mark) for mark in ANSWER_ENDS if text.endswith(mark)), None)
        if end is not None:
            return end
        return len(self._held) - (0 if is_last else max(begun(self._held, ANSWER_ENDS), _half(self._held)))


def _half(text: str) -> int:
    """Return 1 where the text ends within a character."""
    return int("\ud800" <= text[-1:] <= "\udbff")
