"""Which conversations belong with another one, as JSON, as lines for a pipe, and for people."""

from collections.abc import Sequence
from typing import Any

from conversation_mcp.cli.output.rows import when_updated
from conversation_mcp.cli.output.terminal import console, is_terminal, printable, put_fields, say
from conversation_mcp.clock import utc_now
from conversation_mcp.conversations.vicinity import Confirmed, NearConversation

FOUND_BY = {"words": "words", "meaning": "meaning", "both": "words and meaning"}
GONE = "(no longer there)"


def relations_data(
    conversation_id: str, kept: Sequence[Confirmed], near: Sequence[NearConversation], notice: str | None
) -> dict[str, Any]:
    """Return both as JSON data, without unknown facts."""
    return {
        "conversationId": conversation_id,
        "related": [_known(_kept_data(each)) for each in kept],
        "near": [_near_data(each) for each in near],
        **({"notices": [notice]} if notice else {}),
    }


def put_relations(conversation_id: str, kept: Sequence[Confirmed], near: Sequence[NearConversation]) -> None:
    """Print both: as lines of fields in a pipe, on a terminal for people."""
    if not is_terminal():
        put_fields((*_kept_fields(each),) for each in kept)
        put_fields(
            (each.facts.conversation_id, "", f"{each.score:.2f}", each.found_by, _shared(each), each.facts.title)
            for each in near
        )
        return
    from rich.text import Text

    screen, moment = console(), utc_now().astimezone()
    for one in kept:
        title = printable(one.facts.title) if one.facts else GONE
        where = " · ".join((_type(one), one.conversation_id))
        screen.print(Text.assemble((title, "bold"), (f"  {where}", "dim")))
    for one in near:
        words = f": {_shared(one)}" if one.shared_words else ""
        why = f"{one.score:.2f} · {FOUND_BY[one.found_by]}{words}"
        where = f"{why} · {when_updated(one.facts, moment)} · {one.facts.conversation_id}"
        screen.print(Text.assemble((printable(one.facts.title), "bold"), (f"  {printable(where)}", "dim")))
    if near:
        other = near[0].facts.conversation_id
        say(f"Keep one with: conversation-mcp related {conversation_id} --keep {other} --as related")


def _kept_data(one: Confirmed) -> dict[str, Any]:
    return {
        "conversationId": one.conversation_id,
        "type": one.type,
        "score": one.score,
        "title": one.facts.title if one.facts else None,
        "updatedAt": one.facts.updated_at if one.facts else None,
        "isGone": None if one.facts else True,
        "isNamedThere": one.is_named_there or None,
    }


def _near_data(one: NearConversation) -> dict[str, Any]:
    return {
        "conversationId": one.facts.conversation_id,
        "title": one.facts.title,
        "updatedAt": one.facts.updated_at,
        "score": round(one.score, 4),
        "foundBy": one.found_by,
        "sharedWords": list(one.shared_words),
    }


def _kept_fields(one: Confirmed) -> tuple[str, ...]:
    score = "" if one.score is None else f"{one.score:.2f}"
    return one.conversation_id, _type(one), score, "", "", one.facts.title if one.facts else ""


def _type(one: Confirmed) -> str:
    """Return what the other one is to this one; of a follow-up by who names whom."""
    if one.type != "follow_up":
        return one.type
    return "this one follows it" if one.is_named_there else "follow-up"


def _shared(one: NearConversation) -> str:
    return ", ".join(one.shared_words)


def _known(data: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if value is not None}
