"""Who has a place on the server."""

from collections.abc import Iterator

from conversation_mcp.owners import LOCAL
from conversation_mcp.stores.redis.keyspace import Keyspace


def owners(url: str, conversation_id: str | None = None) -> Iterator[str]:
    """Yield the owners who have a place on the server, or have or have reserved that id, `local` first.

    Raises:
        DatabaseError: it cannot be read.
    """
    keyspace = Keyspace(url, LOCAL)
    names = [name.decode() for name in keyspace.run("owners", [])]
    if conversation_id is not None:
        keys = (keyspace.as_owner(name).conversation(conversation_id) for name in names)
        there = keyspace.commands([("EXISTS", key) for key in keys])
        names = [name for name, is_there in zip(names, there, strict=True) if is_there]
    yield from sorted(names, key=lambda name: (name != LOCAL, name))
