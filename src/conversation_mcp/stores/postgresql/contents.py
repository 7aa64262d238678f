"""The contents that questions name, in rows beside their conversation."""

from collections.abc import Collection, Mapping

from conversation_mcp.errors import ConversationNotFoundError
from conversation_mcp.records.hashes import HASH, hash_of
from conversation_mcp.records.ids import check_id
from conversation_mcp.records.models import ConversationId
from conversation_mcp.stores.postgresql.connections import Connection, Database

SLOT = "SELECT slot FROM conversations WHERE owner = %s AND id = %s AND deleted_milliseconds IS NULL FOR KEY SHARE"
PUT = "INSERT INTO attachments (owner, slot, hash, content) VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING"
OF_ID = """
    FROM attachments a JOIN conversations c USING (owner, slot)
    WHERE owner = %s AND c.id = %s AND c.deleted_milliseconds IS NULL
"""
GET = f"SELECT a.hash, a.content {OF_ID} AND a.hash = ANY(%s)"
REMOVE = "DELETE FROM attachments WHERE owner = %s AND slot = %s AND hash = ANY(%s)"
REMOVE_EXPORTS = "DELETE FROM exports WHERE owner = %s AND slot = %s"
SIZES = f"SELECT a.hash, octet_length(a.content) {OF_ID}"


class ContentRows:
    """Reads and writes them; satisfies KeptContents."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, conversation_id: ConversationId, contents: Mapping[str, bytes]) -> None:
        """Add what is not there."""
        check_id(conversation_id)
        for name, data in contents.items():
            if not HASH.fullmatch(name) or hash_of(data) != name:
                raise ValueError(name)
        owner = self._database.owner

        def work(connection: Connection) -> None:
            found = connection.execute(SLOT, (owner, conversation_id)).fetchone()
            if found is None:
                raise ConversationNotFoundError(conversation_id, self._database.place)
            with connection.cursor() as cursor:
                cursor.executemany(PUT, [(owner, found[0], name, data) for name, data in contents.items()])

        self._database.run(work)

    def get(self, conversation_id: ConversationId, hashes: Collection[str]) -> Mapping[str, bytes]:
        """Return those that are there and have their hash."""
        found = self._database.rows(GET, check_id(conversation_id), [name for name in hashes if HASH.fullmatch(name)])
        return {name: bytes(data) for name, data in found if hash_of(data) == name}

    def remove(self, conversation_id: ConversationId, hashes: Collection[str]) -> None:
        """Delete their rows, and those of exports."""
        check_id(conversation_id)
        owner, names = self._database.owner, [name for name in hashes if HASH.fullmatch(name)]

        def work(connection: Connection) -> None:
            if found := connection.execute(SLOT, (owner, conversation_id)).fetchone():
                connection.execute(REMOVE, (owner, found[0], names))
                connection.execute(REMOVE_EXPORTS, (owner, found[0]))

        self._database.run(work)

    def sizes(self, conversation_id: ConversationId) -> Mapping[str, int]:
        """Return the sizes of all."""
        return dict(self._database.rows(SIZES, check_id(conversation_id)))
