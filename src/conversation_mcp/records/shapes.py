"""A quick check of conversation.json without the records, whose import takes longer than reading a thousand files.

Whatever passes here is accepted by the codec, with the same meaning. What does not pass may still be valid: the codec
decides.
"""

from collections.abc import Callable, Mapping
from typing import cast

from conversation_mcp.clock import parse_time

MAX_DEPTH = 32
"""Of lists and objects in unknown fields; the codec accepts more."""
LARGE = 10**9
"""Larger numbers in our own fields are left to the codec."""
SAFE_INTEGER = 1 << 53

Fits = Callable[[object], bool]
Fields = Mapping[str, Fits | type]
NO_FIELDS: Fields = {}


# Types are compared exactly throughout, because to `isinstance` a bool is an int.
def _time(value: object) -> bool:
    try:
        return type(value) is str and bool(parse_time(value))
    except ValueError:
        return False


def _integer(value: object) -> bool:
    return type(value) is int and -LARGE <= value <= LARGE


def _number(value: object) -> bool:
    return type(value) in (int, float) and -LARGE <= cast("float", value) <= LARGE


def _one_of(*values: str) -> Fits:
    return lambda value: type(value) is str and value in values


def _each(fits: Fits) -> Fits:
    return lambda value: type(value) is list and all(map(fits, cast("list[object]", value)))


def _texts_by_name(value: object) -> bool:
    return type(value) is dict and all(map(_text, cast("dict[str, object]", value).values()))


def _text(value: object) -> bool:
    return type(value) is str


def _object(value: object) -> bool:
    return type(value) is dict and is_plain(cast("object", value))


def is_plain(value: object, depth: int = 0) -> bool:
    """Tell whether every reader of JSON accepts the value: numbers are in range, and nesting is not too deep."""
    if value is None or type(value) in (str, bool):
        return True
    if type(value) in (int, float):
        return -SAFE_INTEGER < cast("float", value) < SAFE_INTEGER
    inner = cast("dict[str, object]", value).values() if type(value) is dict else cast("list[object]", value)
    return depth < MAX_DEPTH and all(is_plain(each, depth + 1) for each in inner)


def _record(needed: Fields, optional: Fields, never_null: Fields = NO_FIELDS) -> Fits:
    """Return the check of an object: the needed fields exist, each field fits, and only optional ones may be null."""
    fields = {**needed, **optional, **never_null}

    def fits(value: object) -> bool:
        if type(value) is not dict:
            return False
        data = cast("dict[str, object]", value)
        for name, held in data.items():
            field = fields.get(name, is_plain)
            if type(held) is field or (held is None and name in optional):
                continue
            if isinstance(field, type) or not field(held):
                return False
        return needed.keys() <= data.keys()

    return fits


SOURCE = _record(
    {"id": _integer},
    {
        "title": str, "url": str, "date": str, "snippet": str, "path": str, "heading": str,
        "startLine": _integer, "endLine": _integer, "foundBy": _one_of("words", "meaning", "both"),
    },
)  # fmt: skip
USAGE = _record(
    {},
    {
        "inputTokens": _integer, "cachedInputTokens": _integer, "writtenInputTokens": _integer,
        "outputTokens": _integer, "reasoningTokens": _integer, "searches": _integer, "costUsd": _number,
    },
)  # fmt: skip
SENT_AS = {"sent": _one_of("whole", "diff", "known", "skipped")}
FILE = _record(
    {"path": str, **SENT_AS},
    {
        "sha256": str, "bytes": _integer, "lines": str, "text": str, "pages": _integer, "asPdf": bool,
        "changedSince": _integer, "reason": str,
    },
)  # fmt: skip
IMAGE = _record(
    {"path": str, **SENT_AS},
    {
        "sha256": str, "bytes": _integer, "mediaType": str, "width": _integer, "height": _integer, "shown": str,
        "reason": str,
    },
)  # fmt: skip
MESSAGE = _record(
    {"role": _one_of("system", "developer", "user", "assistant", "tool"), "content": str},
    {
        "messageId": str, "clientMessageId": str, "metadata": _object,
        "createdAt": str, "tool": str, "options": _object, "files": _each(FILE), "images": _each(IMAGE),
        "provider": str, "preset": str, "model": str, "requestedModel": str, "sentTo": _texts_by_name,
        "responseId": str, "finishReason": str,
        "sources": _each(SOURCE), "relatedQuestions": _each(_text), "usage": USAGE, "notices": _each(_text),
        "estimatedTokens": _integer, "reasoning": str, "stance": str,
    },
)  # fmt: skip
ERROR = _record({"code": str, "message": str}, {})
PENDING_CALL = _record(
    {"provider": str},
    {
        "model": str, "stance": str, "stancePrompt": str, "sentTo": _texts_by_name, "responseId": str,
        "background": bool, "estimatedTokens": _integer, "partialText": str, "answer": MESSAGE, "error": ERROR,
        "usage": USAGE, "notices": _each(_text),
    },
    {"status": _one_of("running", "interrupted", "failed", "completed")},
)  # fmt: skip
PENDING_TURN = _record(
    {"question": str},
    {
        "tool": str, "provider": str, "model": str, "sentTo": _texts_by_name, "options": _object,
        "files": _each(FILE), "images": _each(IMAGE), "startedAt": str,
        "afterMessage": _integer, "responseId": str, "background": bool,
        "partialText": str, "error": ERROR, "usage": USAGE,
        "estimatedTokens": _integer, "notices": _each(_text), "calls": _each(PENDING_CALL),
    },
    {"status": _one_of("running", "interrupted", "failed")},
)  # fmt: skip
SUMMARY = _record(
    {"content": str, "firstMessage": _integer, "lastMessage": _integer},
    {
        "createdAt": str, "provider": str, "model": str, "sentTo": _texts_by_name, "usage": USAGE,
        "error": _record({"code": str, "message": str}, {}),
    },
)  # fmt: skip
EXTRACTION = _record(
    {"lastMessage": _integer},
    {"createdAt": str, "provider": str, "model": str, "sentTo": _texts_by_name, "usage": USAGE, "error": ERROR},
)
STEP = _record(
    {
        "workflow": str, "run": _integer, "stepNumber": _integer, "totalSteps": _integer, "next": bool, "step": str,
        "findings": str,
    },
    {
        "checked": _each(_text), "files": _each(_text), "images": _each(_text), "symbols": _each(_text),
        "issues": _each(
            _record({"severity": _one_of("critical", "high", "medium", "low"), "description": str}, {"type": str})
        ),
        "hypothesis": str, "confidence": str, "options": _object, "revises": _integer, "branch": str,
        "branchFrom": _integer, "afterMessage": _integer, "createdAt": str,
        "validation": _record(
            {"asked": bool}, {"why": str, "messageNumber": _integer, "outcome": str, "needs": _each(_text)}
        ),
    },
)  # fmt: skip
MEMORY = _record(
    {"content": str},
    {
        "memoryId": str, "createdAt": str, "updatedAt": str, "tags": _each(_text), "metadata": _object,
        "messageNumber": _integer, "provider": str, "model": str,
        "embedding": _record({"model": str, "textHash": str, "vector": str}, {}),
    },
)  # fmt: skip
RELATION = _record({"conversationId": str, "type": str}, {"score": _number})
CONVERSATION = _record(
    {
        "conversationId": str, "createdAt": _time, "updatedAt": _time, "messageCount": _integer,
        "messages": _each(MESSAGE),
    },
    {
        "title": str, "tags": _each(_text), "archived": bool, "endedAt": str, "summary": str, "metadata": _object,
        "parent": _object, "parents": _each(_object),
        "related": _each(RELATION), "imported": _record({"from": str, "id": str}, {}), "pendingTurn": PENDING_TURN,
        "unansweredTurns": _each(PENDING_TURN), "summaries": _each(SUMMARY),
        "extractions": _each(EXTRACTION),
        "workflowSteps": _each(STEP), "memories": _each(MEMORY),
    },
)  # fmt: skip
