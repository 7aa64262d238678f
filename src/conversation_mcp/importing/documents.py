"""Documents that a model wrote with tools, such as canvases and artifacts; their text belongs to the answer."""

from dataclasses import dataclass, field

from conversation_mcp.importing.messages import fenced, joined


@dataclass
class WrittenDocuments:
    """The documents of one path of a conversation, each with its text so far."""

    last: str = ""
    """The key of the document that was written last."""
    _texts: dict[str, str] = field(default_factory=dict[str, str])
    _names: dict[str, str] = field(default_factory=dict[str, str])
    _written: dict[str, None] = field(default_factory=dict[str, None])
    """The documents written since the last call of `shown`."""

    def __contains__(self, key: str) -> bool:
        return key in self._texts

    def holds(self, key: str, passage: str) -> bool:
        """Tell whether the document contains the passage."""
        return bool(passage) and passage in self._texts.get(key, "")

    def text(self, key: str) -> str:
        """Return the text of the document so far; empty if there is none."""
        return self._texts.get(key, "")

    def begin(self, name: str, text: str, key: str | None = None) -> None:
        """Begin a document, which may have no key in its source."""
        self.write(key or f"#{len(self._texts)}", text, name)

    def write(self, key: str, text: str, name: str | None = None) -> None:
        """Set the whole text of a document, and its name if one is given."""
        self._texts[key] = text
        self._names[key] = name or self._names.get(key) or key
        self._written[key] = None
        self.last = key

    def change(self, key: str, old: str, new: str, name: str | None = None, *, everywhere: bool = False) -> None:
        """Replace a passage, once or everywhere. If the passage is missing, the new text becomes a document itself."""
        if self.holds(key, old):
            self.write(key, self._texts[key].replace(old, new, -1 if everywhere else 1))
        elif new.strip():
            self.add_beside(key, "changed", new, name)

    def insert(self, key: str, after_line: int, text: str) -> None:
        """Insert a text after a line, counted from 1; after line 0, before everything."""
        lines = self._texts[key].splitlines(keepends=True)
        before = "".join(lines[: max(after_line, 0)])
        between = "\n" if before and not before.endswith("\n") else ""
        self.write(key, before + between + text + "".join(lines[max(after_line, 0) :]))

    def add_beside(self, key: str, what: str, text: str, name: str | None = None) -> None:
        """Add a text that belongs to a document but is not part of it, such as a comment."""
        beside = f"{key} {what}"
        earlier = (self._texts[beside],) if beside in self._written else ()
        self._texts[beside] = joined((*earlier, text))
        self._names[beside] = f"{self._names.get(key) or name or key}, {what}"
        self._written[beside] = None

    def shown(self) -> str:
        """Return the documents written since the last call, each fenced under its name."""
        text = joined(fenced(self._names[key], self._texts[key]) for key in self._written)
        self._written.clear()
        return text
