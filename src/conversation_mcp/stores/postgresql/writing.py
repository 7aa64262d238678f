"""What a change writes: the rows that differ, as the values of one statement."""

import json
from collections.abc import Mapping
from datetime import datetime
from operator import is_
from typing import Any, NamedTuple

from conversation_mcp.records.codec import head_of, settle, text_of
from conversation_mcp.records.costs import inherited_count
from conversation_mcp.records.facts import facets_of, listed, text_beside, texts_of
from conversation_mcp.records.models import Conversation, Message
from conversation_mcp.records.parts import message_bytes, whole_bytes
from conversation_mcp.records.tally import Tally
from conversation_mcp.stores.leases import Lease, turn_of
from conversation_mcp.stores.postgresql.connections import Database
from conversation_mcp.stores.postgresql.facets import facet_text
from conversation_mcp.stores.postgresql.memories import MemoryDifference, difference_of
from conversation_mcp.stores.postgresql.rows import Held
from conversation_mcp.stores.postgresql.texts import cut_texts

TYPES = (
    "text, text, bigint, bigint, text, bigint, timestamptz, json, integer, bigint, bigint, boolean, text, boolean, "
    "json, text[], text, text, boolean, integer[], text[], integer[], integer[], text[], integer[]"
)
"""Of what `write_conversation` takes; see the migration that makes it."""
WRITE = f"SELECT write_conversation({', '.join(f'%b::{name}' for name in TYPES.split(', '))})".encode()
"""Values go as they are, because texts in arrays would have to be escaped otherwise."""
WRITTEN, LOST = "written", "lost"


class Difference(NamedTuple):
    """Messages to write, by their numbers, and the sums over all that are then there."""

    bodies: Mapping[int, str]
    """As JSON."""
    texts: Mapping[int, str]
    """What is indexed of them; empty for those that are not seen."""
    tally: Tally
    messages_bytes: int


class PlannedWrite(NamedTuple):
    """What is to be written, and what is then there."""

    new: Held
    head: str
    bodies: Mapping[int, str]
    memories: MemoryDifference | None
    """Of their rows; None if they are the same as before."""
    values: tuple[Any, ...]
    """Of WRITE, after those that say who writes."""

    def values_for(self, database: Database, lease: Lease | None) -> tuple[Any, ...]:
        """Return all values of WRITE for who holds the turn, or for anybody."""
        turn = turn_of(self.new.conversation.conversation_id)
        key = self.new.slot, self.new.version - 1
        return (database.owner, database.commits, *key, turn, lease.fence if lease else None, *self.values)


def writing(before: Held, after: Conversation, changed_at: datetime) -> PlannedWrite:
    """Return what differs between what was read and what is to be there."""
    try:
        after, head, written = _settled(before, after)
    except ValueError:  # a text that cannot be stored
        after, head, written = _settled(before, settle(after)[0])
    data: dict[str, Any] = json.loads(head)
    size_bytes = whole_bytes(head, written.messages_bytes)
    new = Held(
        slot=before.slot,
        version=before.version + 1,
        conversation=after,
        tally=written.tally,
        inherited_count=inherited_count(data),
        head_bytes=size_bytes - written.messages_bytes,
        messages_bytes=written.messages_bytes,
        beside=text_beside(data),
    )
    known = (before.conversation.memories if before.version else None) or ()
    there = after.memories or ()
    memories = None if known == there else difference_of(known, there, after.created_at)
    values = changed_at, head, *_facts(new, data), *_rows(before, new, written)
    return PlannedWrite(new, head, written.bodies, memories, values)


def _rows(before: Held, new: Held, written: Difference) -> tuple[Any, ...]:
    before_count = before.tally.message_count
    texts = {0: new.beside, **written.texts} if new.beside != before.beside else written.texts
    # Of a new message without a text there is no row to delete.
    gone = [number for number, text in texts.items() if not text and number <= before_count]
    there = cut_texts({number: text for number, text in texts.items() if text})
    return (
        written.tally.message_count < before_count,
        list(written.bodies),
        list(written.bodies.values()),
        [each.number for each in there],
        [each.word_count for each in there],
        [each.line for each in there],
        gone,
    )


def _facts(new: Held, head: Mapping[str, Any]) -> tuple[Any, ...]:
    facts = listed(head, new.tally, new.conversation.conversation_id, new.size_bytes)
    imported: Mapping[str, str] = head.get("imported") or {}
    return (
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
    )


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
