"""The search by meaning in one index of vectors, with the model that serves, and the work that keeps it up to date."""

from collections.abc import Collection, Generator, Mapping
from typing import TYPE_CHECKING

from conversation_mcp.embeddings.base import ASKED_AT_ONCE, Embedder
from conversation_mcp.embeddings.catalog import Embedders
from conversation_mcp.errors import EmbeddingsError
from conversation_mcp.searching.database import IndexUnusableError
from conversation_mcp.searching.numeric import prepare_numpy
from conversation_mcp.searching.vectors.base import KeptVectors
from conversation_mcp.searching.vectors.builder import TEXTS_AT_ONCE, Builder, Maker, VectorHeadway
from conversation_mcp.searching.vectors.pieces import TextSource

if TYPE_CHECKING:
    from conversation_mcp.searching.vectors.near import Kinship, Neighbourhood
    from conversation_mcp.searching.vectors.numbers import Floats


class Meaning:
    """Finds texts by their meaning. Every call blocks, and a search by meaning that fails never raises."""

    def __init__(self, index: KeptVectors, embedders: Embedders) -> None:
        self.index = index
        self._embedders = embedders
        self.problem: str | None = None
        """Why the last search found nothing, in words for people; None if it searched."""

    def near(
        self, text: str, limit: int, within: Collection[str] | None = None, given: bytes | None = None
    ) -> "Neighbourhood | None":
        """Return the pieces near a text, in all groups or those named; None if nothing can be searched yet.

        While the vectors of a newly chosen model are made, those of the model before are searched. `given` is the
        vector of the text by the chosen model, if it is known, so that none is made.
        """
        self.problem = None
        embedder = self._serving()
        if embedder is None or not text.strip():
            return None
        try:
            vector = self._given(embedder, given) if given else None
            vector = self._made(embedder, text) if vector is None else vector
        except EmbeddingsError as error:
            self.problem = error.message
            return None
        return self.index.nearest(embedder.name, vector, limit, within)

    def kin(self, group: str, limit: int) -> "Mapping[str, Kinship]":
        """Return how near other groups are to one, by the vectors that were made; no text is sent anywhere."""
        self.problem = None
        serving = self._serving()
        return self.index.kin(serving.name, group, limit) if serving else {}

    def make_now(self, source: TextSource, group: str, *, is_given: bool = False) -> int | None:
        """Make the vectors of a group at once, and return their length.

        None without a model, if it fails, and if a server makes them, which may take long, unless they are given.
        """
        self.problem = None
        try:
            if (self.server is None or is_given) and (maker := self._maker()):
                Builder(self.index, source, maker).take_in(group)
                return maker.dimensions()
        except (EmbeddingsError, IndexUnusableError) as error:
            self.problem = str(error)
        return None

    def steps(self, source: TextSource) -> Generator[VectorHeadway]:
        """Make the vectors that are missing; nothing without a model. Raises as `Builder.steps`."""
        if maker := self._maker():
            yield from Builder(self.index, source, maker).steps()

    @property
    def name(self) -> str:
        """The name of the chosen model."""
        return self._embedders.chosen.name if self._embedders.chosen else ""

    @property
    def dimensions(self) -> int:
        """The length of the vectors of the chosen model. Raises EmbeddingsError if its server does not tell."""
        return self._embedders.chosen.dimensions if self._embedders.chosen else 0

    @property
    def server(self) -> str | None:
        """The server that gets the texts, None if they stay in this process."""
        return self._embedders.chosen.server if self._embedders.chosen else None

    @property
    def count(self) -> int:
        """How many pieces have a vector of the chosen model."""
        return self.index.count(self.name)

    def headway(self, source: TextSource) -> VectorHeadway:
        """Return how many groups have their vectors as they are now, of how many."""
        made, headway = self.index.made(self.name), VectorHeadway()
        for name, state in source.groups():
            headway.total += 1
            headway.done += made.get(name) == state
        return headway

    @property
    def notice(self) -> str | None:
        """What a reader of the last results must know about the search by meaning."""
        if self.problem:
            return self.problem
        if (server := self.server) is None:
            return None
        texts = f"the question was sent to {server} to be compared with the {self.count:,} texts that it has had"
        return f"{texts} for the search by meaning"

    @property
    def is_whole(self) -> bool:
        """Whether the chosen model has been through everything once."""
        chosen = self._embedders.chosen
        return chosen is not None and any(one.is_whole for one in self.index.models() if one.name == chosen.name)

    def _given(self, embedder: Embedder, numbers: bytes) -> "Floats | None":
        prepare_numpy()
        from conversation_mcp.searching.vectors.numbers import given_vector

        return given_vector(numbers, embedder.dimensions) if embedder.name == self.name else None

    def _made(self, embedder: Embedder, text: str) -> "Floats":
        vectors = embedder.embed_queries([text])
        from conversation_mcp.searching.vectors.numbers import is_sound

        if len(vectors) != 1 or not is_sound(vectors, embedder.dimensions):
            message = f"{embedder.name} made no vector of the question, so only words were searched for"
            raise EmbeddingsError(message)
        return vectors[0]

    def _maker(self) -> Maker | None:
        embedder, choice = self._embedders.chosen, self._embedders.choice
        if embedder is None or choice is None:
            return None
        at_once = ASKED_AT_ONCE if embedder.server else TEXTS_AT_ONCE
        return Maker(embedder.name, choice, lambda: embedder.dimensions, embedder.embed_passages, at_once)

    def _serving(self) -> Embedder | None:
        chosen = self._embedders.chosen
        if chosen is None:
            return None
        known = [model for model in self.index.models() if model.is_whole]
        if any(model.name == chosen.name for model in known):
            return chosen
        for model in known:
            before = self._embedders.open(model.choice)
            if before and before.name == model.name:
                self.problem = f"the vectors of {chosen.name} are still being made; those of {before.name} were used"
                return before
        self.problem = "the vectors are still being made, so only words were searched for"
        return None
