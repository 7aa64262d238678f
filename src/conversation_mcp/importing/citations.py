"""Numbered sources of imported answers."""

from conversation_mcp.records.models import Source

Pages = list[tuple[str, str | None]]
"""Addresses with titles."""


class Numbers:
    """Numbers addresses in the order in which they are first cited."""

    def __init__(self) -> None:
        self.sources: dict[str, Source] = {}

    def marks(self, pages: Pages) -> str:
        """Return the marks of the pages as they appear in a text."""
        for url, title in pages:
            if url not in self.sources:
                self.sources[url] = Source.of(id=len(self.sources) + 1, title=title, url=url)
        return "".join(f"[{self.sources[url].id}]" for url, _ in dict(pages).items())
