"""The rows of the vectors of one model in a transaction."""

from collections.abc import Collection, Iterable, Mapping

from conversation_mcp.searching.vectors.pieces import PackedVector, TextSource
from conversation_mcp.stores.postgresql.connections import Connection
from conversation_mcp.stores.postgresql.meant_texts import StoredTexts

MODEL = "SELECT model FROM vector_models WHERE owner = %s AND kind = %s AND name = %s"
ADD_MODEL = """
    INSERT INTO vector_models (owner, kind, name, choice) VALUES (%s, %s, %s, %s)
    ON CONFLICT (owner, kind, name) DO UPDATE SET choice = excluded.choice RETURNING model
"""
STATES = "SELECT name, state FROM vector_groups WHERE owner = %s AND model = %s"
DIGESTS = "SELECT item, digest FROM vectors WHERE owner = %s AND model = %s AND name = %s"
TWINS = """
    SELECT DISTINCT ON (digest) digest, numbers::text FROM vectors
    WHERE owner = %s AND model = %s AND digest = ANY(%s)
"""
PUT_GROUP = """
    INSERT INTO vector_groups AS known (owner, model, name, slot, state) VALUES (%s, %s, %s, %s, %s)
    ON CONFLICT (owner, model, name) DO UPDATE SET state = coalesce(excluded.state, known.state)
"""
PUT = """
    INSERT INTO vectors (owner, model, name, item, digest, numbers)
    SELECT %s, %s, %s, made.item, made.digest, made.numbers::halfvec
    FROM unnest(%s::text[], %s::bytea[], %s::text[]) AS made (item, digest, numbers)
    ON CONFLICT (owner, model, name, item) DO UPDATE SET digest = excluded.digest, numbers = excluded.numbers
"""
DROP_OTHERS = "DELETE FROM vectors WHERE owner = %s AND model = %s AND name = %s AND item <> ALL(%s)"
DROP = "DELETE FROM vector_groups WHERE owner = %s AND model = %s AND name = ANY(%s)"
SETTLE = "UPDATE vector_models SET is_whole = true WHERE owner = %s AND model = %s"
DROP_MODELS = "DELETE FROM vector_models WHERE owner = %s AND kind = %s AND model <> %s"


class ModelRows:
    """The groups of a model, and the pieces in them; satisfies ModelVectors."""

    def __init__(self, connection: Connection, owner: str, texts: StoredTexts, model: int) -> None:
        self._connection = connection
        self._texts = texts
        self._owner = owner
        self._model = model
        self._slots: dict[str, int | None] = {}

    @classmethod
    def of(cls, connection: Connection, owner: str, texts: StoredTexts, name: str, choice: str) -> "ModelRows":
        """Return the rows of a model, which is added if it is not known."""
        known = owner, texts.kind, name
        found = connection.execute(MODEL, known).fetchone()
        found = found or connection.execute(ADD_MODEL, (*known, choice)).fetchone()
        return cls(connection, owner, texts, found[0] if found else 0)

    def states(self) -> dict[str, str | None]:
        """Return the states of all groups by their names."""
        return dict(self._connection.execute(STATES, self._key).fetchall())

    def digests(self, group: str) -> dict[str, bytes]:
        """Return the digests of the pieces of a group by their items."""
        return dict(self._connection.execute(DIGESTS, (*self._key, group)).fetchall())

    def twins(self, digests: Iterable[bytes]) -> dict[bytes, PackedVector]:
        """Return the vectors of pieces with these digests, wherever they are."""
        found = self._connection.execute(TWINS, (*self._key, list(digests))).fetchall()
        return {digest: _packed(numbers) for digest, numbers in found}

    def state_now(self, source: TextSource, group: str) -> str | None:
        """Lock what the group is made of."""
        del source  # the same texts, read in another transaction
        found = self._texts.locked(self._connection, group)
        self._slots[group] = found.slot if found else None
        return found.state if found else None

    def put(self, group: str, made: Mapping[str, tuple[bytes, PackedVector]]) -> None:
        """Write digests and vectors of items over those that are there."""
        self._put_group(group, None)
        digests = [digest for digest, _ in made.values()]
        numbers = [_text(vector) for _, vector in made.values()]
        self._connection.execute(PUT, (*self._key, group, list(made), digests, numbers))

    def settle(self, group: str, state: str, items: Collection[str]) -> None:
        """Note that all pieces of a group in this state are known, and drop all others."""
        self._put_group(group, state)
        self._connection.execute(DROP_OTHERS, (*self._key, group, list(items)))

    def settle_all(self) -> None:
        """Note that the model knows everything, and forget all others."""
        self._connection.execute(SETTLE, self._key)
        self._connection.execute(DROP_MODELS, (self._owner, self._texts.kind, self._model))

    def drop(self, groups: Iterable[str]) -> None:
        """Remove groups with all that is in them."""
        self._connection.execute(DROP, (*self._key, list(groups)))

    @property
    def _key(self) -> tuple[str, int]:
        return self._owner, self._model

    def _put_group(self, group: str, state: str | None) -> None:
        self._connection.execute(PUT_GROUP, (*self._key, group, self._slots.get(group), state))


def text_of_numbers(numbers: Iterable[float]) -> str:
    """Return a vector as the database reads it."""
    return f"[{','.join(f'{number:.6g}' for number in numbers)}]"


def _text(vector: PackedVector) -> str:
    from conversation_mcp.searching.vectors.numbers import unpacked

    return text_of_numbers(unpacked([(vector.scale, vector.numbers)])[0].tolist())


def _packed(text: str) -> PackedVector:
    import numpy as np

    from conversation_mcp.searching.vectors.numbers import packed

    return next(packed(np.array([[float(number) for number in text[1:-1].split(",")]], np.float32)))
