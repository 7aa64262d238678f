"""The bundled model as an embedder."""

import struct
from collections.abc import Sequence
from importlib.util import find_spec
from threading import Lock
from typing import TYPE_CHECKING

from conversation_mcp.errors import EmbeddingsError
from conversation_mcp.searching.numeric import has_numpy, prepare_numpy

if TYPE_CHECKING:
    from conversation_mcp.embeddings.base import Vectors
    from conversation_mcp.embeddings.bundled.bert import Bert
    from conversation_mcp.embeddings.bundled.wordpiece import WordPiece

MODEL = "all-MiniLM-L6-v2"
MAX_PIECES = 256
"""What the model was made for; about 200 words."""
DIMENSIONS = 384


def build() -> "BundledEmbedder | None":
    """Return the embedder, None if the model or numpy is not installed."""
    is_installed = has_numpy() and find_spec("conversation_mcp_minilm") is not None
    return BundledEmbedder() if is_installed else None


class BundledEmbedder:
    """Runs the model in this process. Its weights, 45 MB, are loaded with the first text, and then stay."""

    name = f"{MODEL} int8, {MAX_PIECES} pieces"
    dimensions = DIMENSIONS
    server = None

    def __init__(self) -> None:
        self._loading = Lock()
        self._model: tuple[Bert, WordPiece] | None = None

    def embed_queries(self, texts: Sequence[str]) -> "Vectors":
        """Return the vectors; the model makes no difference between what is looked for and what is found."""
        return self.embed_passages(texts)

    def embed_passages(self, texts: Sequence[str]) -> "Vectors":
        """Return the vectors."""
        bert, cutter = self._loaded()
        import numpy as np

        vectors = np.empty((len(texts), self.dimensions), np.float32)
        for row, text in enumerate(texts):
            vectors[row] = bert.vector(cutter.numbers(text, MAX_PIECES))
        return vectors

    def _loaded(self) -> "tuple[Bert, WordPiece]":
        with self._loading:
            if self._model is None:
                self._model = self._load()
            return self._model

    def _load(self) -> "tuple[Bert, WordPiece]":
        try:
            prepare_numpy()
            from conversation_mcp.embeddings.bundled.bert import Bert
            from conversation_mcp.embeddings.bundled.weights import load_tensors, load_vocabulary
            from conversation_mcp.embeddings.bundled.wordpiece import WordPiece

            return Bert(load_tensors()), WordPiece(load_vocabulary())
        except (ImportError, OSError, ValueError, KeyError, struct.error) as error:
            message = f"the files of {MODEL} cannot be read ({error}). Install conversation-mcp-minilm again."
            raise EmbeddingsError(message) from error
