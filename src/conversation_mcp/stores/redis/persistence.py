"""What the settings of the server can lose although it was acknowledged."""

from typing import Any

from conversation_mcp.errors import DatabaseError
from conversation_mcp.stores.redis.keyspace import Keyspace

KEEPS = "noeviction"
EVERY_WRITE = "always"
LOSSES = {
    "everysec": "the last second of acknowledged writes",
    "no": "acknowledged writes that the system of the server had not written yet",
}


def risks(keyspace: Keyspace) -> list[str]:
    """Return a sentence for each way in which acknowledged writes can get lost. Raises DatabaseError."""
    found = [_of_crashes(keyspace), _of_memory(keyspace.command("INFO", "memory"))]
    return [risk for risk in found if risk]


def _of_crashes(keyspace: Keyspace) -> str | None:
    if not keyspace.command("INFO", "persistence").get("aof_enabled"):
        return (
            "the server keeps no append-only file: when it crashes, acknowledged writes since its last snapshot are "
            "lost; set appendonly to yes and appendfsync to always"
        )
    try:
        fsync = _text(keyspace.command("CONFIG GET", "appendfsync"), "appendfsync")
    except DatabaseError:  # managed servers refuse the command
        return "the server does not tell its appendfsync: unless that is always, its crash can lose acknowledged writes"
    if fsync == EVERY_WRITE:
        return None
    lost = LOSSES.get(fsync, "acknowledged writes")
    return f"appendfsync of the server is {fsync}: when it crashes, {lost} can be lost; always loses none"


def _of_memory(info: dict[str, Any]) -> str | None:
    policy = info.get("maxmemory_policy", KEEPS)
    if not info.get("maxmemory") or policy == KEEPS:
        return None
    return (
        f"maxmemory-policy of the server is {policy}: when its memory is full, it removes conversations before their "
        f"time; {KEEPS} refuses new ones instead"
    )


def _text(found: dict[Any, Any], name: str) -> str:
    value = found.get(name, found.get(name.encode(), ""))
    return value.decode() if isinstance(value, bytes) else str(value)
