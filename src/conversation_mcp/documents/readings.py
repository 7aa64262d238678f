"""The documents as the things of a stamped index: which exist, and what they contain."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime

from conversation_mcp.documents.formats import Formats
from conversation_mcp.documents.reader import Content, read
from conversation_mcp.documents.skips import Reason
from conversation_mcp.documents.walk import Document, Documents
from conversation_mcp.searching.stamped import Seen, batched, settled


@dataclass(frozen=True)
class Reading:
    """A document that was read, with its content or the reason why it has none."""

    document: Document
    content: Content | Reason


class Readings:
    """The documents by their paths; satisfies Things."""

    def __init__(self, documents: Documents, formats: Formats, now: Callable[[], datetime]) -> None:
        self._documents = documents
        self._formats = formats
        self._now = now

    def batches(self) -> Iterator[dict[str, Document]]:
        """Walk the documents; one that several roots share counts for the first of them."""
        for documents in batched(self._documents):
            batch: dict[str, Document] = {}
            for document in documents:
                batch.setdefault(document.path, document)
            yield batch

    def stamp(self, thing: Document) -> int:
        """Return the stamp from the walk."""
        return thing.stamp

    def read(self, key: str, thing: Document) -> Seen[Reading] | None:
        """Return the content of the document now, None if it is gone."""
        del key
        content = read(thing, self._formats)
        stamp = settled(thing.stamp, thing.changed_ns, self._now())
        return None if content is None else Seen(stamp, Reading(thing, content))

    def is_gone(self, key: str) -> bool:
        """Return True, even if the file exists: it was not found by the walk, so it is no longer a document."""
        del key
        return True
