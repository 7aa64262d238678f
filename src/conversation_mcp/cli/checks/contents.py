"""The check of what questions name: whether it is all kept, whole, and nothing besides."""

from collections.abc import Iterator

from conversation_mcp.conversations.attached import attached_in
from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.records.attached import hashes_of
from conversation_mcp.records.findings import SHOWN, Finding, some
from conversation_mcp.records.models import Conversation, ConversationId
from conversation_mcp.stores.finder import Finder
from conversation_mcp.text import counted, one_line

SHOWN_HASH_CHARS = 12


def check_contents(finder: Finder, conversation: Conversation) -> Iterator[Finding]:
    """Yield what is missing, damaged, or not named by any question."""
    conversation_id = ConversationId(conversation.conversation_id)
    try:
        kept = finder.attachments.sizes(conversation_id)
        damaged = {name for name in kept if name not in finder.attachments.get(conversation_id, [name])}
    except ConversationMCPError as error:
        yield Finding("fail", error.message)
        return
    named = [one.named for one in attached_in(conversation)]
    lacking = [one for one in named if one.sent != "skipped" and not kept.keys() >= set(hashes_of([one]))]
    if lacking and not finder.is_being_answered(conversation_id):  # else they may be about to be written
        paths = list(dict.fromkeys(one_line(one.path) for one in lacking))
        what = counted(len(paths), "file")
        yield Finding("fail", f"{conversation_id}: the contents of {what} are missing: {some(paths, SHOWN)}")
    if damaged:
        paths = [one_line(one.path) for one in named if damaged.intersection(hashes_of([one]))]
        shown = list(dict.fromkeys(paths)) or [name[:SHOWN_HASH_CHARS] for name in sorted(damaged)]
        what = counted(len(damaged), "content")
        yield Finding("fail", f"{conversation_id}: {what} of its files changed on disk: {some(shown, SHOWN)}")
    if unnamed := kept.keys() - damaged - set(hashes_of(named)):
        shown = [name[:SHOWN_HASH_CHARS] for name in sorted(unnamed)]
        what = counted(len(unnamed), "content")
        yield Finding("warn", f"{conversation_id}: {what} kept that no question names: {some(shown, SHOWN)}")
