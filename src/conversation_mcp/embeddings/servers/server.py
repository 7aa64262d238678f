"""What both wires have in common: parts of a request, the checks of what comes back, and texts that are too long."""

import json
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from conversation_mcp.embeddings.base import ASKED_AT_ONCE
from conversation_mcp.embeddings.catalog import EmbeddingServer
from conversation_mcp.embeddings.servers.habits import habits_of
from conversation_mcp.errors import EmbeddingsError
from conversation_mcp.searching.numeric import has_numpy, prepare_numpy

if TYPE_CHECKING:
    import httpx

    from conversation_mcp.embeddings.base import Vectors

QUESTION_SECONDS, PASSAGES_SECONDS, CONNECT_SECONDS = 8.0, 300.0, 5.0
"""An answer waits for the vector of a question; the first passages wait until a model is loaded."""
MAX_ANSWER_BYTES = 32 * 1024 * 1024
"""Far more than the vectors of so many texts take."""
DIRECT = ("all://", "http://", "https://")
TOO_MUCH = frozenset({400, 413})
"""What servers answer if a text, or all of them together, are too long."""
REFUSED = frozenset({401, 403})
# A text this short is refused for another reason than its length.
MIN_CHARS = 64
WORDS_ONLY = "Only words were searched for."


class TextsTooLongError(Exception):
    """The server takes only less at once."""


class ServerEmbedder(ABC):
    """A model at a server. Nothing is cut silently: a text that is too long is sent in parts, whose mean counts."""

    PATH: ClassVar[str]

    def __init__(self, asked: EmbeddingServer) -> None:
        self._asked = asked
        self._habits = habits_of(asked.model)
        self.server: str | None = asked.name
        # Vectors that were made with another prefix or length cannot be compared with these.
        self.name = f"{asked.name}:{asked.model} {self._habits.query}|{self._habits.passage}|{self._habits.dimensions}"

    @cached_property
    def dimensions(self) -> int:
        """The length of the vectors, which the server is asked for by a word."""
        return self.embed_queries(["length"]).shape[1]

    def embed_queries(self, texts: Sequence[str]) -> "Vectors":
        """Return the vectors of questions; gives up soon, because an answer waits."""
        return self._vectors([self._habits.query + text for text in texts], QUESTION_SECONDS)

    def embed_passages(self, texts: Sequence[str]) -> "Vectors":
        """Return the vectors of passages."""
        return self._vectors([self._habits.passage + text for text in texts], PASSAGES_SECONDS)

    @abstractmethod
    def _body(self, texts: Sequence[str], model: str, dimensions: int | None) -> dict[str, object]:
        """Return the request."""

    @abstractmethod
    def _rows(self, answer: Any, count: int) -> list[list[float]]:  # noqa: ANN401 -- whatever a server answers
        """Return the numbers of each text in the order of the texts; any error means that the answer is malformed."""

    def _vectors(self, texts: Sequence[str], seconds: float) -> "Vectors":
        if not has_numpy():
            message = "numpy is not installed, which vectors need. Install conversation-mcp[semantic]."
            raise EmbeddingsError(message)
        prepare_numpy()
        import numpy as np

        made = [
            self._part(texts[start : start + ASKED_AT_ONCE], seconds) for start in range(0, len(texts), ASKED_AT_ONCE)
        ]
        return np.concatenate(made)

    def _part(self, texts: Sequence[str], seconds: float) -> "Vectors":
        """Return the vectors of some texts, halving what is too much at once."""
        import numpy as np

        try:
            return self._checked(self._post(texts, seconds), len(texts))
        except TextsTooLongError:
            if len(texts) > 1:
                middle = len(texts) // 2
                return np.concatenate([self._part(texts[:middle], seconds), self._part(texts[middle:], seconds)])
        (text,) = texts
        if len(text) < MIN_CHARS:
            raise self._error("refused the request; is this a model of vectors?", may_be_text=True) from None
        middle = len(text) // 2
        mean = self._part([text[:middle], text[middle:]], seconds).mean(axis=0, keepdims=True)
        return mean / np.maximum(np.linalg.norm(mean), 1e-9)

    def _checked(self, answer: object, count: int) -> "Vectors":
        import numpy as np

        from conversation_mcp.searching.vectors.numbers import is_sound, unit

        try:
            vectors = np.array(self._rows(answer, count), np.float32)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
            raise self._error("gave an answer that cannot be read", may_be_text=True) from error
        if vectors.ndim != 2 or len(vectors) != count or not is_sound(vectors, vectors.shape[1]):  # noqa: PLR2004 -- rows
            raise self._error("gave vectors that cannot be used", may_be_text=True)
        return unit(vectors)

    def _post(self, texts: Sequence[str], seconds: float) -> object:
        import httpx

        body = self._body(texts, self._asked.model, self._habits.dimensions)
        headers = {"Authorization": f"Bearer {self._asked.key}"} if self._asked.key else {}
        limits = httpx.Timeout(seconds, connect=CONNECT_SECONDS)
        late = f"did not answer within {seconds:.0f} s"
        ends_at, read = time.monotonic() + seconds, bytearray()
        try:
            with self._client.stream("POST", self._url, json=body, headers=headers, timeout=limits) as response:
                if response.status_code in TOO_MUCH:
                    raise TextsTooLongError
                if response.status_code in REFUSED:
                    raise self._error("refused the key")
                if not response.is_success:
                    # Some servers fail with 500 at a text for which their model has no finite numbers.
                    raise self._error(f"answered with status {response.status_code}", may_be_text=True)
                for part in response.iter_bytes():  # the limits hold for each part alone
                    read += part
                    if time.monotonic() > ends_at:
                        raise self._error(late)
                    if len(read) > MAX_ANSWER_BYTES:
                        raise self._error("gave an answer that is too large")
            return json.loads(read)
        except httpx.TimeoutException as error:
            raise self._error(late) from error
        except (httpx.HTTPError, ValueError, RecursionError) as error:
            raise self._error("cannot be reached, or gives no answer that can be read") from error

    @property
    def _url(self) -> str:
        return f"{self._asked.url}{self.PATH}"

    @cached_property
    def _client(self) -> "httpx.Client":
        import httpx

        # A mount without a transport keeps out the proxies that the environment names.
        return httpx.Client(mounts=dict.fromkeys(DIRECT) if self._asked.is_direct else None)

    def _error(self, what: str, *, may_be_text: bool = False) -> EmbeddingsError:
        error = EmbeddingsError(
            f"{self._asked.name}, which makes the vectors with {self._asked.model}, {what}. {WORDS_ONLY}"
        )
        error.may_be_text = may_be_text
        return error
