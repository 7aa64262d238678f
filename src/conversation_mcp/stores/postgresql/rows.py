"""A conversation as rows: how it is read, and how the rows that differ are written."""

import json
from collections.abc import Mapping
from operator import is_
from typing import Any, NamedTuple

from conversation_mcp.errors import ConversationNotFoundError
from conversation_mcp.records.codec import decode_with_data, head_of, settle, text_of
from conversation_mcp.records.costs import inherited_count
from conversation_mcp.records.facts import facets_of, listed, milliseconds_of, tally_of, text_beside, texts_of
from conversation_mcp.records.memory_facts import memories_of
from conversation_mcp.records.models import Conversation, ConversationId, Message
from conversation_mcp.records.parts import joined, message_bytes, whole_bytes
from conversation_mcp.records.tally import Tally
from conversation_mcp.stores.postgresql.connections import Connection, Database
from conversation_mcp.stores.postgresql.facets import facet_text
from conversation_mcp.stores.postgresql.memories import put_memories
from conversation_mcp.stores.postgresql.texts import put_texts

LIVE = "owner = %s AND id = %s AND deleted_milliseconds IS NULL AND head IS NOT NULL"
BODY = """
    SELECT head::text, ARRAY(
        SELECT body::text FROM messages m WHERE m.owner = c.owner AND m.slot = c.slot ORDER BY number
    ) FROM conversations c WHERE owner = %s AND slot = %s
"""
CUT = (
    "DELETE FROM messages WHERE owner = %s AND slot = %s AND number > %s",
    "DELETE FROM words WHERE owner = %s AND slot = %s AND number > %s",
)
PUT_MESSAGE = """
    INSERT INTO messages (owner, slot, number, body) VALUES (%s, %s, %s, %s)
    ON CONFLICT (owner, slot, number) DO UPDATE SET body = excluded.body
"""
PUT_FACTS = """
    UPDATE conversations SET version = version + 1, changed_at = %s, head = %s, message_count = %s, size_bytes = %s,
        updated_milliseconds = %s, archived = %s, pending = %s, runs_at_provider = %s, facts = %s, facets = %s,
        imported_from = %s, imported_id = %s
    WHERE owner = %s AND slot = %s
"""


class Held(NamedTuple):
    """A conversation in memory with the sums that were made of it."""

    slot: int
    version: int
    conversation: Conversation
    tally: Tally
    inherited_count: int
    """Of the messages that are not in the cost of the tally."""
    head_bytes: int
    messages_bytes: int
    beside: str
    """The text outside of messages, as it is indexed."""

    @property
    def size_bytes(self) -> int:
        """The size of the file that it would be."""
        return self.head_bytes + self.messages_bytes


class Difference(NamedTuple):
    """Messages to write, by their numbers, and the sums over all that are then there."""

    bodies: Mapping[int, str]
    """As JSON."""
    texts: Mapping[int, str]
    """What is indexed of them; empty for those that are not seen."""
    tally: Tally
    messages_bytes: int


def body_of(connection: Connection, database: Database, slot: int, conversation_id: str) -> bytes:
    """Return the bytes of the file that the rows stand for.

    Raises:
        ConversationNotFoundError: they are gone.
    """
    return joined(*_parts(connection, database, slot, conversation_id))


def held(connection: Connection, database: Database, slot: int, version: int, conversation_id: ConversationId) -> Held:
    """Read the conversation; raises as `body_of` and `decode`."""
    head, texts = _parts(connection, database, slot, conversation_id)
    body = joined(head, texts)
    conversation, data = decode_with_data(body, database.location(conversation_id), conversation_id)
    sizes = sum(map(message_bytes, texts))
    beside = text_beside(data)
    return Held(slot, version, conversation, tally_of(data), inherited_count(data), len(body) - sizes, sizes, beside)


def empty(slot: int, conversation: Conversation) -> Held:
    """Return what stands for nothing written yet."""
    return Held(slot, 0, conversation.changed(messages=()), Tally(), 0, 0, 0, "")


def put(connection: Connection, database: Database, before: Held, after: Conversation, changed_at: object) -> Held:
    """Write the rows that differ between what was read and what is to be there."""
    try:
        after, head, written = _settled(before, after)
    except ValueError:  # a text that cannot be stored
        after, head, written = _settled(before, settle(after)[0])
    data: dict[str, Any] = json.loads(head)
    size_bytes = whole_bytes(head, written.messages_bytes)
    new = Held(
        slot=before.slot,
        version=before.version + 1,  # nobody else counts it up: the row is locked
        conversation=after,
        tally=written.tally,
        inherited_count=inherited_count(data),
        head_bytes=size_bytes - written.messages_bytes,
        messages_bytes=written.messages_bytes,
        beside=text_beside(data),
    )
    _put_messages(connection, database, before, written)
    beside = {0: new.beside} if new.beside != before.beside else {}
    put_texts(connection, database, new.slot, {**beside, **_texts_to_put(before, written)})
    known = before.conversation.memories if before.version else None
    if known != after.memories:
        put_memories(connection, database, new.slot, tuple(memories_of(data, milliseconds_of)))
    _put_facts(connection, database, new, head, data, changed_at)
    return new


def _parts(connection: Connection, database: Database, slot: int, conversation_id: str) -> tuple[str, list[str]]:
    found = connection.execute(BODY, (database.owner, slot)).fetchone()
    if found is None:
        raise ConversationNotFoundError(conversation_id, database.place)
    return found[0], found[1]


def _settled(before: Held, after: Conversation) -> tuple[Conversation, str, Difference]:
    """Return the conversation as it will be read back, its head, and what differs; raises ValueError as `text_of`."""
    count = len(after.messages)
    counted = after if after.message_count == count else after.changed(message_count=count)
    inherited = inherited_count({"parent": counted.parent})
    return counted, head_of(counted), _added(before, counted, inherited) or _changed(before, counted, inherited)


def _added(before: Held, after: Conversation, inherited: int) -> Difference | None:
    """Return the messages after those that are there, which are not looked into; None if one of them differs."""
    known = before.conversation.messages
    if inherited != before.inherited_count or len(after.messages) < len(known):
        return None
    if not all(map(is_, known, after.messages)):
        return None
    return _written(before.tally, before.messages_bytes, after.messages[len(known) :], inherited)


def _changed(before: Held, after: Conversation, inherited: int) -> Difference:
    known = before.conversation.messages
    whole = _written(Tally(), 0, after.messages, inherited)
    same = {number for number, pair in enumerate(zip(known, after.messages, strict=False), 1) if pair[0] is pair[1]}
    bodies, texts = (
        {number: text for number, text in all_of.items() if number not in same}
        for all_of in (whole.bodies, whole.texts)
    )
    return whole._replace(bodies=bodies, texts=texts)


def _written(tally: Tally, messages_bytes: int, messages: tuple[Message, ...], inherited: int) -> Difference:
    first = tally.message_count + 1
    bodies = {number: text_of(message) for number, message in enumerate(messages, first)}
    datas = [json.loads(body) for body in bodies.values()]
    texts = {**dict.fromkeys(bodies, ""), **texts_of(datas, first)}
    return Difference(
        bodies, texts, tally.and_of(datas, inherited), messages_bytes + sum(map(message_bytes, bodies.values()))
    )


def _put_messages(connection: Connection, database: Database, before: Held, written: Difference) -> None:
    key = database.owner, before.slot
    count = written.tally.message_count
    if count < before.tally.message_count:
        for sql in CUT:
            connection.execute(sql, (*key, count))
    if written.bodies:
        with connection.cursor() as cursor:
            cursor.executemany(PUT_MESSAGE, [(*key, number, body) for number, body in written.bodies.items()])


def _texts_to_put(before: Held, written: Difference) -> dict[int, str]:
    """Leave out the empty texts of new messages, of which there is no row to delete."""
    return {number: text for number, text in written.texts.items() if text or number <= before.tally.message_count}


def _put_facts(
    connection: Connection,
    database: Database,
    new: Held,
    head_text: str,
    head: Mapping[str, Any],
    changed_at: object,
) -> None:
    facts = listed(head, new.tally, new.conversation.conversation_id, new.size_bytes)
    imported: Mapping[str, str] = head.get("imported") or {}
    connection.execute(
        PUT_FACTS,
        (
            changed_at,
            head_text,
            facts.message_count,
            facts.size_bytes,
            facts.updated_milliseconds,
            facts.archived,
            facts.pending,
            facts.runs_at_provider,
            json.dumps(facts._asdict()),
            [facet_text(*facet) for facet in facets_of(head, new.tally)],
            imported.get("from", "").replace("\0", "\ufffd") if imported else None,
            imported.get("id", "").replace("\0", "\ufffd") if imported else None,
            database.owner,
            new.slot,
        ),
    )
