"""Bringing an index of vectors up to date: new and changed texts only, in steps between which it can be stopped."""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from conversation_mcp.errors import EmbeddingsError
from conversation_mcp.searching.numeric import prepare_numpy
from conversation_mcp.searching.stamped import batched
from conversation_mcp.searching.vectors.index import VectorIndex
from conversation_mcp.searching.vectors.pieces import PackedVector, TextPiece, TextSource, digest_of
from conversation_mcp.searching.vectors.rows import VectorRows

if TYPE_CHECKING:
    from conversation_mcp.searching.vectors.numbers import Floats

T = TypeVar("T")

TEXTS_AT_ONCE = 8


class Maker(NamedTuple):
    """What makes the vectors: the name that they go by, the choice of the user that led to it, and the function."""

    name: str
    choice: str
    dimensions: Callable[[], int]
    embed: "Callable[[Sequence[str]], Floats]"
    texts_at_once: int = TEXTS_AT_ONCE
    """About how many texts are turned into vectors in one step."""


@dataclass
class VectorHeadway:
    """How far the work has come, in groups."""

    total: int = 0
    done: int = 0
    is_elsewhere: bool = False
    """Whether another process does it, so that nothing was done here."""


class Builder:
    """Makes the vectors that are missing, and removes those whose texts are gone."""

    def __init__(self, index: VectorIndex, source: TextSource, maker: Maker) -> None:
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
            known = self._index.states(self._maker.name, self._maker.choice)
            waiting, gone = self._compared(known, headway)
            yield headway
            for names in batched(gone):
                self._write(lambda rows, names=names: rows.drop(names))
                yield headway
            for name, state in waiting:
                for _ in self._taken_in(name, state):
                    yield headway
                headway.done += 1
                yield headway
            self._write(VectorRows.settle_all)
            self._index.clean()

    def take_in(self, group: str) -> None:
        """Make the vectors of a group at once, whoever else builds; nothing if it is gone. Raises as `steps`."""
        if state := self._source.state(group):
            for _ in self._taken_in(group, state):
                pass
        if any(model.is_whole and model.name == self._maker.name for model in self._index.models()):
            return
        waiting, gone = self._compared(self._index.states(self._maker.name, self._maker.choice), VectorHeadway())
        if not waiting and not any(gone):
            self._write(VectorRows.settle_all)

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

    def _taken_in(self, group: str, state: str) -> Generator[None]:
        """Make the vectors of what is new or changed in a group; pieces that have only moved keep theirs."""
        pieces = {piece.item: piece for piece in self._source.pieces(group)}
        digests = {item: digest_of(piece) for item, piece in pieces.items()}
        known = self._write(lambda rows: rows.known(group))
        missing = [item for item, digest in digests.items() if item not in known or known[item].digest != digest]
        twins = self._write(lambda rows: rows.twins({digests[item] for item in missing}))
        memory: dict[str, Floats] = {}
        for items in batched(missing, self._maker.texts_at_once):
            new = [pieces[item] for item in items if digests[item] not in twins]
            self._embed(dict.fromkeys(part.text for piece in new for part in piece.parts), memory)
            made = {i: (digests[i], twins.get(digests[i]) or self._sum(pieces[i], memory)) for i in items}
            self._if_still(group, state, lambda rows, made=made: rows.put(group, made))
            yield
        self._if_still(group, state, lambda rows: rows.settle(group, state, digests))

    def _if_still(self, group: str, state: str, work: Callable[[VectorRows], object]) -> None:
        """Do the work if the group is as it was read; who deletes something for good deletes it first, then forgets."""

        def do(rows: VectorRows) -> None:
            # Looked up while nobody else can write. What has changed is made with the next build.
            now = self._source.state(group)
            if now == state:
                work(rows)
            elif now is None:
                rows.drop([group])

        self._write(do)

    def _embed(self, texts: Iterable[str], memory: "dict[str, Floats]") -> None:
        """Put the vectors of the texts into the memory, which is that of one group."""
        wanted = [text for text in texts if text not in memory]
        if not wanted:
            return
        prepare_numpy()
        from conversation_mcp.searching.vectors.numbers import is_sound

        vectors = self._maker.embed(wanted)
        if len(vectors) != len(wanted) or not is_sound(vectors, self._maker.dimensions()):
            message = f"{self._maker.name} returned vectors that cannot be used: zeros, or a wrong number of them."
            raise EmbeddingsError(message)
        memory.update(zip(wanted, vectors, strict=True))

    def _sum(self, piece: TextPiece, memory: "Mapping[str, Floats]") -> PackedVector:
        import numpy as np

        from conversation_mcp.searching.vectors.numbers import packed

        vector = np.sum([memory[part.text] * np.float32(part.weight) for part in piece.parts], axis=0)
        return next(packed(vector[None] / (np.linalg.norm(vector) or 1)))

    def _write(self, work: Callable[[VectorRows], T]) -> T:
        return self._index.write(lambda database: work(VectorRows.of(database, self._maker.name, self._maker.choice)))
