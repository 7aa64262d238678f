"""The visible part of an answer's text, without hidden reasoning, while it arrives and as a whole."""

from collections.abc import Iterator

from conversation_mcp.providers.base import TextDelta
from conversation_mcp.thinking.splitter import ThinkingSplitter, split_thinking

UNENDED = "the model marked all of this answer as reasoning and never ended it; it is shown as it came"


class VisibleText:
    """Removes hidden reasoning from a text that arrives in pieces, and joins characters that were cut in two."""

    def __init__(self) -> None:
        self._splitter = ThinkingSplitter()

    def feed(self, piece: str) -> Iterator[TextDelta]:
        """Yield what can be shown now; the start of a mark or of a character waits for the next piece."""
        for shown in self._splitter.feed(piece):
            yield TextDelta(shown.text, replaces=shown.replaces)

    def rest(self, *, is_cut: bool) -> Iterator[TextDelta]:
        """Yield what was held back, at the end of the text."""
        for shown in self._splitter.rest(is_cut=is_cut):
            yield TextDelta(shown.text, replaces=shown.replaces)


def visible_so_far(text: str) -> str:
    """Return what can be shown of an incomplete text."""
    visible = ""
    for shown in ThinkingSplitter().feed(text):
        visible = shown.text if shown.replaces else visible + shown.text
    return visible.strip()


def spoken(text: str, *, is_cut: bool) -> tuple[str, str, tuple[str, ...]]:
    """Return the answer in a whole text, its reasoning, and notices.

    If a model stops by itself within its reasoning, that is all it wrote: it is shown, because it was paid for.
    """
    visible, hidden, is_open = split_thinking(text, is_cut=is_cut)
    if is_open and not is_cut:
        return text, "", (UNENDED,)
    return visible, hidden, ()
