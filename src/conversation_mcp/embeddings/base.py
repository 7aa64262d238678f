"""The port of the models that turn texts into vectors."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vectors = npt.NDArray[np.float32]
    """A row for each text, each of length 1."""

ASKED_AT_ONCE = 32
"""How many texts a server gets in one request."""


class Embedder(Protocol):
    """A model that turns texts into vectors. Its methods block, and may be called from several threads."""

    @property
    def name(self) -> str:
        """Model and all else that a vector depends on. Only vectors of the same name can be compared."""
        ...

    @property
    def dimensions(self) -> int:
        """The length of its vectors; a server may have to be asked for it."""
        ...

    @property
    def server(self) -> str | None:
        """The name of the server that gets the texts, None if they stay in this process."""
        ...

    def embed_queries(self, texts: Sequence[str]) -> "Vectors":
        """Return the vectors of what is looked for. What is too long is cut.

        Raises:
            EmbeddingsError: there are none, for the reason in the message.
        """
        ...

    def embed_passages(self, texts: Sequence[str]) -> "Vectors":
        """Return the vectors of what can be found. Raises as `embed_queries`."""
        ...
