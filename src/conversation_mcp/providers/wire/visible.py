"""The visible part of a text that arrives in pieces."""

from conversation_mcp.text import storable

OPEN, CLOSE = "<think>", "</think>"


class VisibleText:
    """Leaves `<think>…</think>` out and joins characters that were cut in two."""

    def __init__(self) -> None:
        self._held = ""
        self._hidden = False

    def feed(self, piece: str) -> str:
        """Return what can be shown now; the start of a tag or of a character waits for the next piece."""
        text = self._held + piece
        shown: list[str] = []
        while True:
            before, tag, after = text.partition(CLOSE if self._hidden else OPEN)
            if not tag:
                break
            if not self._hidden:
                shown.append(before)
            self._hidden = not self._hidden
            text = after
        kept = len(text) - self._unfinished(text)
        self._held = text[kept:]
        if not self._hidden:
            shown.append(text[:kept])
        return storable("".join(shown))

    def rest(self) -> str:
        """Return what was held back, now that nothing follows."""
        held, self._held = self._held, ""
        return "" if self._hidden else storable(held)

    def _unfinished(self, text: str) -> int:
        if "\ud800" <= text[-1:] <= "\udbff":
            return 1
        tag = CLOSE if self._hidden else OPEN
        return next((size for size in range(len(tag) - 1, 0, -1) if text.endswith(tag[:size])), 0)
