"""The removal of all that an owner has on the server."""

import re
from collections.abc import Iterator

from conversation_mcp.stores.redis.keyspace import AGES, OF_OWNER, OWNERS, Keyspace

AT_ONCE = 1_000
SPECIAL = re.compile(r"([\\*?\[\]^-])")


def remove_trial(keyspace: Keyspace) -> None:
    """Remove the little that a trial leaves, without looking through the server."""
    names = [name.decode() for name in keyspace.command("ZRANGE", keyspace.key("ids"), 0, -1)]
    keyspace.command("DEL", *map(keyspace.conversation, names), *map(keyspace.key, OF_OWNER))
    keyspace.command("ZREM", OWNERS, keyspace.owner)


def remove_all(keyspace: Keyspace) -> None:
    """Remove every key of the owner, for which all keys of the server are looked through."""
    for keys in _keys(keyspace):
        keyspace.command("DEL", *keys)
    keyspace.command("HDEL", AGES, keyspace.owner)
    keyspace.command("ZREM", OWNERS, keyspace.owner)


def left_keys(keyspace: Keyspace) -> list[str]:
    """Return the keys of the owner that are there."""
    found = {key.decode() for keys in _keys(keyspace) for key in keys}
    return sorted(found | ({AGES} if keyspace.command("HEXISTS", AGES, keyspace.owner) else set()))


def _keys(keyspace: Keyspace) -> Iterator[list[bytes]]:
    pattern, cursor = SPECIAL.sub(r"\\\1", keyspace.key("")) + "*", 0
    while True:
        cursor, keys = keyspace.command("SCAN", cursor, "MATCH", pattern, "COUNT", AT_ONCE)
        if keys:
            yield keys
        if not cursor:
            return
