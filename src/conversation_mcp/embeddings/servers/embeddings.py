"""The wire of `/v1/embeddings`."""

from collections.abc import Sequence
from typing import Any

from conversation_mcp.embeddings.servers.server import ServerEmbedder


class EmbeddingsEmbedder(ServerEmbedder):
    """Asks for floats, and puts them into the order of the texts."""

    PATH = "/embeddings"

    def _body(self, texts: Sequence[str], model: str, dimensions: int | None) -> dict[str, object]:
        asked: dict[str, object] = {"model": model, "input": list(texts), "encoding_format": "float"}
        return asked if dimensions is None else {**asked, "dimensions": dimensions}

    def _rows(self, answer: Any, count: int) -> list[list[float]]:  # noqa: ANN401 -- as the base class
        # A server may answer in another order than it was asked.
        by_place = {one["index"]: one["embedding"] for one in answer["data"]}
        if len(answer["data"]) != count:
            raise ValueError(count)
        return [by_place[place] for place in range(count)]
