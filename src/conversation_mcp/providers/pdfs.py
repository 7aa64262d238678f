"""The PDFs that a provider accepts with a message, and how many tokens one takes."""

from pydantic import Field

from conversation_mcp.providers.data import Data


class Pdfs(Data):
    """The PDFs that a provider accepts as they are; elsewhere, and beyond these limits, their text is sent."""

    accepted: bool = False
    """Whether its API takes them; models that see no images get the text all the same."""
    max_bytes: int = Field(default=10_000_000, ge=1)
    """The most bytes of all PDFs of a request, before they are encoded."""
    max_pages: int = Field(default=100, ge=1)
    """The most pages of all PDFs of a request."""
    small_window_tokens: int = Field(default=0, ge=0)
    """Models with a window no larger than this take only `small_window_pages`."""
    small_window_pages: int = Field(default=100, ge=1)
    tokens_per_page: int = Field(default=1600, ge=0)
    """The tokens of a page beside those of its text, because it is also looked at."""

    def pages_at(self, window_tokens: int | None) -> int:
        """Return the most pages for a model with this window; the fewest if it is unknown."""
        is_small = window_tokens is None or window_tokens <= self.small_window_tokens
        return min(self.max_pages, self.small_window_pages) if is_small else self.max_pages
