"""Bringing an index of vectors up to date: new and changed texts only, in steps between which it can be stopped."""

import logging
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from conversation_mcp.errors import EmbeddingsError
from conversation_mcp.searching.numeric import prepare_numpy
from conversation_mcp.searching.stamped import batched
from conversation_mcp.searching.vectors.base import KeptVectors, ModelVectors
from conversation_mcp.searching.vectors.pieces import PackedVector, TextPiece, TextSource, digest_of

if TYPE_CHECKING:
    from conversation_mcp.searching.vectors.numbers import Floats

T = TypeVar("T")
logger = logging.getLogger(__name__)

TEXTS_AT_ONCE = 8
PROBE = "length"
"""A text that every model takes: one that fails at it fails at all."""
FEW = 1_000
"""Beyond this number of pieces, only a build looks whether all are there by now."""


class Maker(NamedTuple):
    """What makes the vectors: the name that they go by, the choice of the user that led to it, and the function."""

    name: str
    choice: str
    dimensions: Callable[[], int]
    embed: "Callable[[Sequence[str]], Floats]"
    texts_at_once: int = TEXTS_AT_ONCE
    """About how many texts are turned into vectors in one step."""


class ReadGroup(NamedTuple):
    """A group as it was read."""

    name: str
    state: str
    pieces: Mapping[str, TextPiece]
    digests: Mapping[str, bytes]


@dataclass
class VectorHeadway:
    """How far the work has come, in groups."""

    total: int = 0
    done: int = 0
    is_elsewhere: bool = False
    """Whether another process does it, so that nothing was done here."""


class Builder:
    """Makes the vectors that are missing, and removes those whose texts are gone."""

    def __init__(self, index: KeptVectors, source: TextSource, maker: Maker) -> None:
        self._index = index
        self._source = source
        self._maker = maker

    def steps(self) -> Generator[VectorHeadway]:
        """Do the work; yield after each step, none of which takes longer than a few texts do.

        Raises:
            EmbeddingsError: the model makes no vectors, or none that can be used; what was done is kept.
            IndexUnusableError: the file cannot be written.
        """
        headway = VectorHeadway()
        with self._index.building() as lock:
            if lock is None:
                headway.is_elsewhere = True
                yield headway
                return
            known = self._write(lambda rows: rows.states())
            waiting, gone = self._compared(known, headway)
            yield headway
            for names in batched(gone):
                self._write(lambda rows, names=names: rows.drop(names))
                yield headway
            for groups in self._read(waiting):
                for _ in self._taken_in(groups):
                    yield headway
                headway.done += len(groups)
                yield headway
            self._write(lambda rows: rows.settle_all())
            self._index.clean()

    def take_in(self, group: str) -> None:
        """Make the vectors of a group at once, whoever else builds; nothing if it is gone. Raises as `steps`."""
        if state := self._source.state(group):
            for _ in self._taken_in([self._read_one(group, state)]):
                pass
        is_whole = any(model.is_whole and model.name == self._maker.name for model in self._index.models())
        if is_whole or self._index.count(self._maker.name) > FEW:
            return
        waiting, gone = self._compared(self._write(lambda rows: rows.states()), VectorHeadway())
        if not waiting and not any(gone):
            self._write(lambda rows: rows.settle_all())

    def _compared(
        self, known: Mapping[str, str | None], headway: VectorHeadway
    ) -> tuple[list[tuple[str, str]], Iterable[str]]:
        waiting: list[tuple[str, str]] = []
        gone = set(known)
        for name, state in self._source.groups():
            gone.discard(name)
            headway.total += 1
            if known.get(name) == state:
                headway.done += 1
            else:
                waiting.append((name, state))
        return waiting, gone

    def _read(self, waiting: Iterable[tuple[str, str]]) -> Iterator[list[ReadGroup]]:
        """Read groups, and yield some together once they have texts enough for a step."""
        groups: list[ReadGroup] = []
        for name, state in waiting:
            groups.append(self._read_one(name, state))
            if sum(len(group.pieces) for group in groups) >= self._maker.texts_at_once:
                yield groups
                groups = []
        if groups:
            yield groups

    def _read_one(self, name: str, state: str) -> ReadGroup:
        pieces = {piece.item: piece for piece in self._of_model(self._source.pieces(name))}
        return ReadGroup(name, state, pieces, {item: digest_of(piece) for item, piece in pieces.items()})

    def _of_model(self, pieces: Sequence[TextPiece]) -> Sequence[TextPiece]:
        """Return the pieces with a given vector that the model can use; if there are none, those without."""
        usable = [piece for piece in pieces if self._given(piece) is not None]
        return usable or [piece for piece in pieces if not piece.given]

    def _given(self, piece: TextPiece) -> "Floats | None":
        if piece.given is None or piece.given.model != self._maker.name:
            return None
        prepare_numpy()
        from conversation_mcp.searching.vectors.numbers import given_vector

        return given_vector(piece.given.numbers, self._maker.dimensions())

    def _taken_in(self, groups: Sequence[ReadGroup]) -> Generator[None]:
        """Make the vectors of what is new or changed in groups; pieces that have only moved keep theirs."""
        missing, twins = self._write(partial(_missing, groups))
        memory: dict[str, Floats] = {}
        for some in batched(missing, self._maker.texts_at_once):
            new = [group.pieces[item] for group, item in some if group.digests[item] not in twins]
            self._embed(dict.fromkeys(part.text for piece in new for part in piece.parts), memory)
            made: dict[str, dict[str, tuple[bytes, PackedVector]]] = {}
            for group, item in some:
                digest = group.digests[item]
                if vector := twins.get(digest) or self._vector(group.pieces[item], memory):
                    made.setdefault(group.name, {})[item] = digest, vector
            self._if_still(
                [group for group in groups if group.name in made],
                lambda rows, group, made=made: rows.put(group.name, made[group.name]),
            )
            yield
        self._if_still(groups, lambda rows, group: rows.settle(group.name, group.state, group.digests))

    def _if_still(self, groups: Sequence[ReadGroup], work: Callable[[ModelVectors, ReadGroup], object]) -> None:
        """Do the work for groups that are as they were read; what has changed is made with the next build."""

        def do(rows: ModelVectors) -> None:
            for group in groups:
                now = rows.state_now(self._source, group.name)
                if now == group.state:
                    work(rows, group)
                elif now is None:
                    rows.drop([group.name])

        self._write(do)

    def _embed(self, texts: Iterable[str], memory: "dict[str, Floats]") -> None:
        """Put the vectors of the texts into the memory, which is that of one step or one group."""
        if wanted := [text for text in texts if text not in memory]:
            prepare_numpy()
            memory.update(self._made(wanted))

    def _made(self, texts: Sequence[str]) -> "dict[str, Floats]":
        """Return the vectors of the texts, without those that the model refuses though it takes others."""
        try:
            return self._vectors(texts)
        except EmbeddingsError as error:
            if not error.may_be_text:
                raise
            if len(texts) == 1:
                self._vectors([PROBE])
                return self._made_again(texts)
        middle = len(texts) // 2
        return {**self._made(texts[:middle]), **self._made(texts[middle:])}

    def _made_again(self, texts: Sequence[str]) -> "dict[str, Floats]":
        """Try a text once more, because the model may just have come back; without a vector its words still find it."""
        try:
            return self._vectors(texts)
        except EmbeddingsError as error:
            if not error.may_be_text:
                raise
            logger.warning("a text gets no vector, because the model refuses it: %s", error.message)
            return {}

    def _vectors(self, texts: Sequence[str]) -> "dict[str, Floats]":
        from conversation_mcp.searching.vectors.numbers import is_sound

        vectors = self._maker.embed(texts)
        if len(vectors) != len(texts) or not is_sound(vectors, self._maker.dimensions()):
            message = f"{self._maker.name} returned vectors that cannot be used: zeros, or a wrong number of them."
            error = EmbeddingsError(message)
            error.may_be_text = True
            raise error
        return dict(zip(texts, vectors, strict=True))

    def _vector(self, piece: TextPiece, memory: "Mapping[str, Floats]") -> PackedVector | None:
        """Return the vector of a piece; None if its own text, which comes first, has none."""
        import numpy as np

        from conversation_mcp.searching.vectors.numbers import packed

        if (given := self._given(piece)) is not None:
            return next(packed(given[None]))
        if piece.parts[0].text not in memory:
            return None
        known = (part for part in piece.parts if part.text in memory)
        vector = np.sum([memory[part.text] * np.float32(part.weight) for part in known], axis=0)
        return next(packed(vector[None] / (np.linalg.norm(vector) or 1)))

    def _write(self, work: Callable[[ModelVectors], T]) -> T:
        return self._index.write(self._maker.name, self._maker.choice, work)


def _missing(
    groups: Sequence[ReadGroup], rows: ModelVectors
) -> tuple[list[tuple[ReadGroup, str]], Mapping[bytes, PackedVector]]:
    """Return the items that have no vector of their present text, and the vectors that there are of the same texts."""
    missing: list[tuple[ReadGroup, str]] = []
    for group in groups:
        known = rows.digests(group.name)
        changed = (item for item, digest in group.digests.items() if known.get(item) != digest)
        missing += ((group, item) for item in changed)
    return missing, rows.twins({group.digests[item] for group, item in missing})
