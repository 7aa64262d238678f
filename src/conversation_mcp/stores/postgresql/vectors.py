"""The vectors of texts in tables of the database, which looks for the nearest itself, among those of one owner.

Every vector of the owner is compared, because an index of the nearest neighbours would be one of all owners.
"""

from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from conversation_mcp.errors import DatabaseError
from conversation_mcp.searching.database import IndexUnusableError
from conversation_mcp.searching.vectors.base import Model
from conversation_mcp.searching.vectors.near import QUESTIONS, Kinship, Near, Neighbourhood, kinships
from conversation_mcp.searching.vectors.pieces import TextSource, digest_of
from conversation_mcp.stores.leases import Lease
from conversation_mcp.stores.news import OwnerNews
from conversation_mcp.stores.postgresql.connections import Connection, Database
from conversation_mcp.stores.postgresql.leases import LeaseRows
from conversation_mcp.stores.postgresql.meant_texts import StoredTexts
from conversation_mcp.stores.postgresql.vector_rows import ModelRows, text_of_numbers

if TYPE_CHECKING:
    from conversation_mcp.searching.vectors.numbers import Floats

T = TypeVar("T")

MODELS = "SELECT model, name, choice, is_whole FROM vector_models WHERE owner = %s AND kind = %s ORDER BY model DESC"
OF_KIND = "v.owner = %s AND v.model IN (SELECT model FROM vector_models m WHERE m.owner = v.owner AND m.kind = %s)"
OF_MODEL = """
    v.owner = %s AND v.model = (SELECT model FROM vector_models m WHERE m.owner = %s AND m.kind = %s AND m.name = %s)
"""
SIZE = f"SELECT coalesce(sum(pg_column_size(v.*)), 0)::bigint FROM vectors v WHERE {OF_KIND}"
COUNT = f"SELECT count(*) FROM vectors v WHERE {OF_MODEL}"
MADE = f"SELECT v.name, v.state FROM vector_groups v WHERE {OF_MODEL}"
# A vector of another length, of a server that has changed its model, would be an error of the comparison.
NEAREST = f"""
    WITH compared AS MATERIALIZED (
        SELECT v.ctid AS place, -(v.numbers <#> %s::halfvec) AS similarity, AMONG AS is_wanted
        FROM vectors v WHERE {OF_MODEL} AND CASE WHEN vector_dims(v.numbers) = %s THEN true END
    ),
    usual AS (SELECT avg(similarity), stddev_pop(similarity), count(*) FROM compared),
    best AS (SELECT place, similarity FROM compared WHERE is_wanted ORDER BY similarity DESC LIMIT %s)
    SELECT usual.*, v.name, v.item, v.digest, best.similarity
    FROM usual LEFT JOIN (best JOIN vectors v ON v.ctid = best.place) ON true ORDER BY best.similarity DESC
"""
NUMBERS = f"SELECT l2_normalize(v.numbers)::text FROM vectors v WHERE {OF_MODEL} AND v.name = %s ORDER BY v.item"
TRIM = f"""
    DELETE FROM vectors v WHERE {OF_KIND} AND v.name = %s AND NOT EXISTS (
        SELECT FROM unnest(%s::text[], %s::bytea[]) AS kept (item, digest)
        WHERE kept.item = v.item AND kept.digest = v.digest
    )
"""
NOTHING_NEAR = (0.0, 1.0, 0, None, None, None, None)
FORGET = f"DELETE FROM vector_groups v WHERE {OF_KIND} AND v.name = %s"


class VectorTables:
    """The vectors of the texts of one kind; satisfies KeptVectors."""

    def __init__(self, database: Database, texts: StoredTexts) -> None:
        self._database = database
        self._texts = texts

    def size_bytes(self) -> int:
        """Add up the rows."""
        return self._look(SIZE, (self._database.owner, self._texts.kind), [(0,)])[0][0]

    def models(self) -> list[Model]:
        """Return the models, the newest first."""
        return [Model(*row) for row in self._look(MODELS, (self._database.owner, self._texts.kind), [])]

    def count(self, model: str) -> int:
        """Count the rows."""
        return self._look(COUNT, self._of(model), [(0,)])[0][0]

    def made(self, model: str) -> Mapping[str, str | None]:
        """Return the states of the groups."""
        return dict(self._look(MADE, self._of(model), []))

    def nearest(self, model: str, query: "Floats", limit: int, within: Collection[str] | None = None) -> Neighbourhood:
        """Return the pieces nearest to a question."""
        return self._nearest(model, text_of_numbers(query.tolist()), len(query), limit, within)

    def kin(self, model: str, group: str, limit: int) -> Mapping[str, Kinship]:
        """Compare some pieces of the group with all others."""
        rows = [text for (text,) in self._look(NUMBERS, (*self._of(model), group), [])]
        count = min(QUESTIONS, len(rows))
        some = [rows[place * (len(rows) - 1) // max(1, count - 1)] for place in range(count)]
        return kinships(group, [self._nearest(model, text, text.count(",") + 1, limit, None) for text in some])

    def write(self, model: str, choice: str, work: Callable[[ModelRows], T]) -> T:
        """Do the work in one transaction."""

        def do(connection: Connection) -> T:
            return work(ModelRows.of(connection, self._database.owner, self._texts, model, choice))

        try:
            # What a crash of the database undoes is made again.
            return self._database.run(do, is_durable=False)
        except DatabaseError as error:
            raise IndexUnusableError(error.message) from error

    def forget(self, groups: Collection[str], source: TextSource | None = None) -> None:
        """Delete the rows of texts that are gone."""
        if not self.models():
            return
        kept = {group: source.pieces(group) if source else () for group in groups}

        def do(connection: Connection) -> None:
            for group, pieces in kept.items():
                of_group = self._database.owner, self._texts.kind, group
                if pieces:
                    known = [piece.item for piece in pieces], [digest_of(piece) for piece in pieces]
                    connection.execute(TRIM.encode(), (*of_group, *known))
                else:
                    connection.execute(FORGET.encode(), of_group)

        self._database.run(do)

    @contextmanager
    def building(self) -> Generator[Lease | None]:
        """Hold the lease of the work."""
        leases, name = LeaseRows(self._database, OwnerNews(None, self._database.owner)), f"vectors:{self._texts.kind}"
        try:
            lease = leases.take(name)
        except DatabaseError as error:
            raise IndexUnusableError(error.message) from error
        try:
            yield lease
        finally:
            if lease:
                lease.release()

    def clean(self) -> None:
        """Do nothing: the database uses the room of what was deleted again."""

    def _nearest(
        self, model: str, numbers: str, dimensions: int, limit: int, within: Collection[str] | None
    ) -> Neighbourhood:
        among = ("true", ()) if within is None else ("v.name = ANY(%s)", (list(within),))
        values = numbers, *among[1], *self._of(model), dimensions, limit
        rows = self._look(NEAREST.replace("AMONG", among[0]), values, [NOTHING_NEAR])
        usual, spread, count = rows[0][:3]
        found = tuple(Near(*row[3:]) for row in rows if row[3] is not None)
        return Neighbourhood(found, usual, spread, count) if count else Neighbourhood()

    def _of(self, model: str) -> tuple[str, str, str, str]:
        return self._database.owner, self._database.owner, self._texts.kind, model

    def _look(self, sql: str, values: tuple[Any, ...], otherwise: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        try:
            return self._database.look(sql, values)
        except DatabaseError:  # words are found all the same
            return otherwise
