"""The visible part of an answer's text, while it arrives and as a whole."""

from collections.abc import Iterator

from conversation_mcp.providers.base import TextDelta
from conversation_mcp.thinking.splitter import ThinkingSplitter, split_thinking

UNENDED = "the model marked all of this answer as reasoning and never ended it; it stands here as it came"


class VisibleText:
    """Leaves hidden reasoning out of a text that arrives in pieces and joins characters that were cut in two."""

    def __init__(self) -> None:
        self._splitter = ThinkingSplitter()

    def feed(self, piece: str) -> Iterator[TextDelta]:
        """Yield what can be shown now; the start of a mark or of a character waits for the next piece."""
        for shown in self._splitter.feed(piece):
            yield TextDelta(shown.text, replaces=shown.replaces)

    def rest(self, *, is_cut: bool) -> Iterator[TextDelta]:
        """Yield what was held back, now that nothing follows."""
        for shown in self._splitter.rest(is_cut=is_cut):
            yield TextDelta(shown.text, replaces=shown.replaces)


def visible_so_far(text: str) -> str:
    """Return what can be shown of a text that is not complete."""
    visible = ""
    for shown in ThinkingSplitter().feed(text):
        visible = shown.text if shown.replaces else visible + shown.text
    return visible.strip()


def spoken(text: str, *, is_cut: bool) -> tuple[str, str, tuple[str, ...]]:
    """Return the answer in a whole text, its reasoning, and what there is to say about that.

    A model that stops by itself within its reasoning has nothing else to say: what was paid for is not thrown away.
    """
    visible, hidden, is_open = split_thinking(text, is_cut=is_cut)
    if is_open and not is_cut:
        return text, "", (UNENDED,)
    return visible, hidden, ()
