"""Updates of the index from the conversations."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from conversation_mcp.searching.database import transaction
from conversation_mcp.searching.stamped import Backlog, Follower
from conversation_mcp.stores.finder import Standing
from conversation_mcp.stores.headway import Headway
from conversation_mcp.stores.index.conversations import StampedConversations
from conversation_mcp.stores.index.rows import ConversationRows

if TYPE_CHECKING:
    import sqlite3

NOTED_EVERY = timedelta(seconds=2)


def standing(database: "sqlite3.Connection") -> Standing:
    """Return the result of the last comparison that was completed."""
    found = database.execute("SELECT conversations, finished FROM comparisons").fetchone()
    return Standing(found[0], datetime.fromisoformat(found[1])) if found else Standing(0, None)


def compare(
    database: "sqlite3.Connection", conversations: StampedConversations, headway: Headway, now: datetime
) -> None:
    """Bring the index up to date with the folder; if `headway` stops it, what was done is kept."""
    before = standing(database)
    is_first = before.compared_at is None  # by age, so that `rowid DESC` is newest first
    follower = Follower(ConversationRows(database), conversations.by_age() if is_first else conversations, headway)
    backlog = follower.look()
    headway.total = backlog.total
    while not backlog.is_done and not headway.is_stopped:
        headway.seen = backlog.total - backlog.waiting + backlog.done
        follower.go_on(backlog)
    headway.seen = backlog.total - backlog.waiting + backlog.done
    if not headway.is_stopped and _is_news(before, backlog.total, now):
        _note_comparison(database, backlog.total, now)


def take_in(database: "sqlite3.Connection", conversations: StampedConversations, ids: Collection[str]) -> None:
    """Read these conversations and replace what is known of them."""
    stamps = conversations.stamps(ids)
    backlog = Backlog(ahead=list(stamps.items()), gone=[name for name in ids if name not in stamps])
    Follower(ConversationRows(database), conversations).finish(backlog)


def _note_comparison(database: "sqlite3.Connection", present: int, now: datetime) -> None:
    with transaction(database):
        database.execute("DELETE FROM comparisons")
        database.execute("INSERT INTO comparisons VALUES (?, ?)", (present, now.isoformat()))


def _is_news(before: Standing, present: int, now: datetime) -> bool:
    """Tell whether a comparison is worth a write."""
    is_recent = before.compared_at is not None and abs(now - before.compared_at) < NOTED_EVERY
    return not is_recent or present != before.conversation_count
