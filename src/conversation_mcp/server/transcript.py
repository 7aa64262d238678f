"""The transcript of a conversation: a Markdown document that fits into a model's context."""

from collections.abc import Iterable

from conversation_mcp.app import App
from conversation_mcp.conversations.markdown import markdown
from conversation_mcp.records.models import ConversationId
from conversation_mcp.server.resources import uri_of
from conversation_mcp.text import cut
from conversation_mcp.turns.ask import Caller

RULE = "\n\n---\n\n"


async def read_transcript(conversation_id: str, app: App) -> str:
    """Return the conversation as it is now; as in the history, the turn of a dead server is settled first.

    Raises:
        ConversationMCPError: there is no such conversation, or it cannot be read.
    """
    view = await app.watch.look(conversation_id, Caller(wait_seconds=0))
    path = app.store.location(ConversationId(view.conversation.conversation_id))
    if app.is_remote:
        path = uri_of(ConversationId(view.conversation.conversation_id))
    return bounded(markdown(view.conversation), path, view.notices, app.settings.max_result_chars)


def bounded(document: str, path: str, notices: Iterable[str], max_chars: int) -> str:
    """Return the document with the path of its file; if it is too long, its head and the last turns that fit."""
    head, *turns = document.rstrip().split(RULE)
    shown = _last(turns, max_chars - len(head))
    notes = [*notices]
    if shown != turns:
        size = f"{sum(map(len, shown)):,} of {sum(map(len, turns)):,} characters"
        notes.append(f"only the end of this conversation is shown here, {size}; the whole of it is in {path}")
    return RULE.join(["\n\n".join([head, *(f"> Notice: {note}" for note in notes)]), *shown, f"File: {path}"])


def _last(turns: list[str], room: int) -> list[str]:
    """Return the last turns that fit, or the beginning of the last one if not even that fits."""
    kept: list[str] = []
    for turn in reversed(turns):
        if len(turn) > room:
            return kept or [cut(turn, room)]
        kept.insert(0, turn)
        room -= len(turn)
    return kept
