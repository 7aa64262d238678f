"""The wire of `/api/embed`, which refuses what is too long instead of cutting it, if it is told to."""

from collections.abc import Sequence
from typing import Any

from conversation_mcp.embeddings.servers.server import ServerEmbedder


class EmbedEmbedder(ServerEmbedder):
    """Asks beside the `/v1` of the address."""

    PATH = "/api/embed"

    @property
    def _url(self) -> str:
        return f"{self._asked.url.removesuffix('/v1')}{self.PATH}"

    def _body(self, texts: Sequence[str], model: str, dimensions: int | None) -> dict[str, object]:
        asked: dict[str, object] = {"model": model, "input": list(texts), "truncate": False}
        return asked if dimensions is None else {**asked, "dimensions": dimensions}

    def _rows(self, answer: Any, count: int) -> list[list[float]]:  # noqa: ANN401 -- as the base class
        rows: list[list[float]] = answer["embeddings"]
        if len(rows) != count:
            raise ValueError(count)
        return rows
