"""Answers while they are written: rendered on a terminal, passed on as they come in a pipe."""

import sys
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from conversation_mcp.cli.output.rendered import blocks_of, lines_of
from conversation_mcp.cli.output.terminal import console, is_terminal, printable

if TYPE_CHECKING:
    from rich.console import Console

FINAL = "\nThe final text:\n\n"
"""Separates a shown text that cannot be taken back from the final one."""
TO_LINE_START, UP_AND_CLEAR = "\r", "\x1b[1A\x1b[2K"


class Sheet(ABC):
    """Shows the text of an answer; `text` is what the reader sees at the moment."""

    def __init__(self) -> None:
        self.text: str = ""

    @abstractmethod
    def add(self, piece: str, *, replaces: bool = False) -> None:
        """Show the next piece of the answer, or with `replaces` a text in place of everything before it."""

    @abstractmethod
    def end(self, text: str | None = None) -> None:
        """Show the rest of the whole text, and end the last line."""


def new_sheet() -> Sheet:
    """Return a sheet for stdout."""
    return RenderedSheet(console()) if is_terminal() else PlainSheet()


class PlainSheet(Sheet):
    """A pipe: each piece is passed on at once and cannot be taken back."""

    def __init__(self) -> None:
        super().__init__()
        self._is_outdated = False

    def add(self, piece: str, *, replaces: bool = False) -> None:
        if replaces:
            self._is_outdated = not piece.startswith(self.text)
            piece = piece.removeprefix(self.text)
        if not self._is_outdated:
            self.text += piece
            _write(piece)

    def end(self, text: str | None = None) -> None:
        rest = "" if text is None else self._missing(text)
        self.text += rest
        _write(rest if not self.text or self.text.endswith("\n") else f"{rest}\n")

    def _missing(self, text: str) -> str:
        if text.startswith(self.text):
            return text.removeprefix(self.text)
        shown = self.text.strip()
        if text.startswith(shown):  # the pieces had blank text around them that the final text lacks
            return text.removeprefix(shown).lstrip("\n")
        # What a model wrote after the answer, which is cut off the final text, may stay.
        is_shown = shown.startswith(text.strip()) and not self._is_outdated
        return "" if is_shown else FINAL + text


class RenderedSheet(Sheet):
    """A terminal: finished blocks stay, and the open block is redrawn with each piece."""

    def __init__(self, screen: "Console") -> None:
        super().__init__()
        self._screen = screen
        # Dumb terminals and old consoles of Windows print escape sequences instead of obeying them.
        self._redraws = screen.is_terminal and not screen.is_dumb_terminal and not screen.legacy_windows
        self._last = 0
        """The offset in the text of the last finished block, if there is one."""
        self._rows = self._open_rows = 0
        """The numbers of lines on the screen of the finished blocks and of the open block."""

    def add(self, piece: str, *, replaces: bool = False) -> None:
        if replaces:
            self._take(printable(piece).lstrip())
        else:
            self.text = (self.text + printable(piece)).lstrip()
        self._draw(is_whole=False)

    def end(self, text: str | None = None) -> None:
        if text is not None:
            self._take(printable(text).strip(), is_final=True)
        self._draw(is_whole=True)

    def _take(self, text: str, *, is_final: bool = False) -> None:
        """Replace the shown text; clear lines that differ, unless they have scrolled off the screen."""
        if not self._goes_on_with(text):
            is_on_screen = self._redraws and self._rows + self._open_rows < self._screen.height
            if is_final and not is_on_screen and self.text.startswith(text):  # what came after it may stay
                return
            _write(_cleared(self._rows + self._open_rows) if is_on_screen else _cleared(self._open_rows) + FINAL)
            self._last = self._rows = self._open_rows = 0
        self.text = text

    def _goes_on_with(self, text: str) -> bool:
        """Tell whether the finished blocks are also in this text, and finished."""
        if not self._rows:
            return True
        last, same = (lines_of(blocks_of(each[self._last :])[:1], self._screen) for each in (self.text, text))
        return text.startswith(self.text[: self._last]) and last == same

    def _draw(self, *, is_whole: bool) -> None:
        """Print the finished blocks for good, and the open block until the next piece.

        Text that follows can still change the meaning of the last block, and of a line that has not ended.
        """
        text = self.text[self._last :]
        blocks = blocks_of(text if is_whole else text[: text.rfind("\n") + 1])
        finished = blocks if is_whole else blocks[:-1]
        # The last finished block is rendered along with the new ones, for the right space between them.
        known = len(lines_of(blocks[:1], self._screen)) if self._rows else 0
        lines = lines_of(finished, self._screen)[known:]
        is_drawn = self._redraws and not is_whole
        open_lines = lines_of(blocks_of(text), self._screen)[known + len(lines) :] if is_drawn else []
        open_lines = open_lines[-max(1, self._screen.height - 1) :]  # lines above the screen cannot be cleared
        _write(_cleared(self._open_rows) + "".join(f"{line}\n" for line in (*lines, *open_lines)))
        self._rows += len(lines)
        self._open_rows = len(open_lines)
        if lines:
            self._last += _offset(text, finished[-1][0].map)


def _cleared(rows: int) -> str:
    return TO_LINE_START + UP_AND_CLEAR * rows if rows else ""


def _offset(text: str, lines: list[int] | None) -> int:
    """Return the offset of the first of these lines in the text."""
    return sum(len(line) + 1 for line in text.split("\n")[: lines[0]]) if lines else 0


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
