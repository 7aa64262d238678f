"""The trial of an empty store: whether it writes, locks and reads back."""

from conversation_mcp.records.findings import Finding
from conversation_mcp.records.hashes import hash_of
from conversation_mcp.records.ids import created_at
from conversation_mcp.records.models import Conversation
from conversation_mcp.stores.base import Store

CONTENT = b"doctor"


async def tried(store: Store) -> Finding:
    """Write a conversation with a content, change it and read it back. Raises the errors of the store."""
    conversation_id = await store.reserve()
    now = created_at(conversation_id)
    await store.create(
        Conversation(conversation_id=conversation_id, created_at=now, updated_at=now, message_count=0, messages=())
    )
    lock = await store.acquire_turn(conversation_id, 0, _no_wait)
    await store.update(conversation_id, lambda stored, _: stored.changed(title="doctor"))
    await lock.release()
    contents = {hash_of(CONTENT): CONTENT}
    await store.attachments.put(conversation_id, contents)
    is_kept = await store.attachments.get(conversation_id, [*contents]) == contents
    is_intact = is_kept and (await store.load(conversation_id)).title == "doctor"
    return (
        Finding("ok", "the store writes, locks and reads back")
        if is_intact
        else Finding("fail", "the store lost a change")
    )


async def _no_wait(_seconds: float) -> None:
    """Report a wait to nobody."""
