"""The sources of an answer: the numbers of cited pages, and the pages that a search found."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from conversation_mcp.providers.wire.bodies import KeptSize
from conversation_mcp.providers.wire.json_values import JsonObject, object_at, objects_at, raw_text_at, text_at
from conversation_mcp.records.models import Source
from conversation_mcp.text import cut

MAX_SNIPPET_CHARS = 1000
BETWEEN = " … "


@dataclass
class _Page:
    title: str = ""
    date: str = ""
    quoted: list[str] = field(default_factory=list[str])


class Citations:
    """Numbers cited pages in the order in which they are cited; pages that were only found come after them."""

    def __init__(self, kept: KeptSize) -> None:
        self._kept = kept
        self._cited: dict[str, _Page] = {}
        self._found: dict[str, _Page] = {}
        self.failures: list[str] = []
        """The codes of searches that failed."""

    def take(self, block: JsonObject) -> str:
        """Read a whole block and return the marks that follow its text, such as ` [1][3]`."""
        if raw_text_at(block, "type") == "web_search_tool_result":
            self._take_results(block)
            return ""
        numbers = dict.fromkeys(self._numbers(block))
        return f" {''.join(f'[{number}]' for number in numbers)}" if numbers else ""

    def sources(self) -> tuple[Source, ...]:
        """Return the pages by their numbers."""
        others = {url: page for url, page in self._found.items() if url not in self._cited}
        return tuple(
            Source.of(
                id=number,
                title=page.title or None,
                url=url,
                date=page.date or None,
                snippet=cut(BETWEEN.join(page.quoted), MAX_SNIPPET_CHARS) or None,
            )
            for number, (url, page) in enumerate((self._cited | others).items(), 1)
        )

    def _take_results(self, block: JsonObject) -> None:
        for result in objects_at(block, "content"):
            if url := text_at(result, "url"):
                page = _Page(text_at(result, "title"), text_at(result, "page_age"))
                self._kept.data([url, page.title, page.date])
                self._found.setdefault(url, page)
        if code := text_at(object_at(block, "content"), "error_code"):
            # The longest code that is known; an unknown one must not fill the notice.
            self.failures.append(cut(code, len("request_too_large")))

    def _numbers(self, block: JsonObject) -> Iterator[int]:
        for citation in objects_at(block, "citations"):
            url, quoted = text_at(citation, "url"), text_at(citation, "cited_text").strip()
            if not url:
                continue
            known = self._found.get(url, _Page())
            page = self._cited.setdefault(url, _Page(known.title or text_at(citation, "title"), known.date))
            if quoted and quoted not in page.quoted:
                page.quoted.append(self._kept.text(quoted))
            yield list(self._cited).index(url) + 1
