"""The check of the index against the conversations: whether it is right, not only whether it is up to date."""

from typing import TYPE_CHECKING

from conversation_mcp.searching.stamped import UNTRUSTED
from conversation_mcp.stores.finder import Check
from conversation_mcp.stores.headway import Headway
from conversation_mcp.stores.index.conversations import StampedConversations
from conversation_mcp.stores.index.rows import ConversationRows

if TYPE_CHECKING:
    import sqlite3

SOUND = ("ok",)


def checked(database: "sqlite3.Connection", conversations: StampedConversations, headway: Headway) -> Check:
    """Read every conversation again and compare what the index should know of it with what it knows."""
    (found,) = database.execute("PRAGMA quick_check(1)").fetchone()
    if (found,) != SOUND:
        return Check(damage=str(found))
    rows = ConversationRows(database)
    known_count: int = database.execute("SELECT count(*) FROM conversations").fetchone()[0]
    unseen_count, present_count = 0, 0
    wrong: list[str] = []
    for stamps in conversations.batches():
        known = {name: stamp for name, (_, stamp) in rows.stamps(stamps).items()}
        present_count += len(known)
        for name, stamp in stamps.items():
            seen = conversations.read(name)
            if seen is not None and not rows.has(name, seen):
                if stamp != UNTRUSTED and known.get(name) == seen.stamp == stamp:
                    wrong.append(name)
                else:
                    unseen_count += 1
            headway.seen += 1
    return Check(None, known_count, unseen_count + known_count - present_count, tuple(wrong))
