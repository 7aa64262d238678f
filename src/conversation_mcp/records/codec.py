"""The encoding of conversation.json, which is read tolerantly and always written in the same form."""

import json
import re
from codecs import BOM_UTF8
from collections.abc import Mapping
from math import isfinite
from typing import cast

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from conversation_mcp.errors import ConversationCorruptedError
from conversation_mcp.records.damage import is_of_a_number, place, problem_of, problem_of_syntax
from conversation_mcp.records.models import Conversation, ConversationId, Message
from conversation_mcp.records.origins import Origin
from conversation_mcp.text import storable_data

FILE = TypeAdapter(Conversation)
MESSAGES = b'\n  "messages": ['
"""Ends the facts in a file that this module wrote. JSON strings hold no line breaks, so no text can contain it."""
# Possessive, so that a string of megabytes leaves no places to go back to.
STRING_OR_FLOAT = re.compile(
    rb'"(?:[^"\\]++|\\.)*+"|(-?Infinity|NaN|-?[0-9]++(?=[.eE])(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?)'
)


def decode(data: bytes, path: str, conversation_id: ConversationId) -> Conversation:
    """Read the bytes of a file. Unknown fields are kept, and the given id wins over the one in the file.

    Raises:
        ConversationCorruptedError: they are not a conversation; the message names `path`, the place and the reason.
    """
    return decode_with_data(data, path, conversation_id)[0]


def decode_with_data(
    data: bytes, path: str, conversation_id: ConversationId
) -> tuple[Conversation, Mapping[str, object]]:
    """Read the bytes of a file, and return its JSON data, too. Raises as `decode`."""
    body = data.removeprefix(BOM_UTF8)
    skipped_bytes = len(data) - len(body)
    try:
        document = _parse(body)
        # In Python's spelling, the name of a field is that of an unknown one, which is kept.
        conversation = Conversation.model_validate(document, by_alias=True, by_name=False)
    except ValidationError as error:
        offset = _not_a_number(body) if is_of_a_number(error) else None
        problem = problem_of(error) if offset is None else f"is not valid JSON {place(body, offset, skipped_bytes)}"
        raise ConversationCorruptedError(path, problem, conversation_id) from None
    except ValueError as error:
        problem = problem_of_syntax(str(error), body, skipped_bytes)
        raise ConversationCorruptedError(path, problem, conversation_id) from None
    if conversation.conversation_id != conversation_id:
        conversation = conversation.changed(conversation_id=conversation_id)
    return conversation, cast("Mapping[str, object]", document)


def origin_of(head: bytes) -> Origin | None:
    """Return the origin that `imported` names in the bytes of a file, which may end before its messages."""
    facts, is_ours, _ = head.partition(MESSAGES)
    if b'"imported"' not in facts:
        return None
    try:
        data = json.loads(facts.removeprefix(BOM_UTF8) + (b'"messages": []}' if is_ours else b""))
        origin = data["imported"]["from"], data["imported"]["id"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    return origin if all(isinstance(part, str) for part in origin) else None


def encode(conversation: Conversation) -> bytes:
    """Return the bytes of the file: the facts first, `messages` last."""
    return settle(conversation)[1]


def settle(conversation: Conversation) -> tuple[Conversation, bytes]:
    """Return the bytes of the file, and the conversation as it will be read back: counted, and with storable text."""
    settled = counted(conversation)
    try:
        return settled, _dump(settled)
    except ValueError:
        # Hardly any text has a lone surrogate, so none is looked for until one is refused.
        clean = storable_data(settled.model_dump(by_alias=True, exclude_unset=True))
        settled = Conversation.model_validate(clean, by_alias=True, by_name=False)
        return settled, _dump(settled)


def counted(conversation: Conversation) -> Conversation:
    """Return the conversation with the number of its messages."""
    count = len(conversation.messages)
    return conversation if conversation.message_count == count else conversation.changed(message_count=count)


def head_of(conversation: Conversation) -> str:
    """Return the file without its messages, as JSON. Raises ValueError if a text in it cannot be stored."""
    return FILE.dump_json(conversation, indent=2, by_alias=True, exclude_unset=True, exclude={"messages"}).decode()


def messages_of(conversation: Conversation) -> bytes:
    """Return the file without all but its messages, as JSON. Raises ValueError if a text in it cannot be stored."""
    return FILE.dump_json(conversation, indent=2, by_alias=True, exclude_unset=True, include={"messages"})


def text_of(message: Message) -> str:
    """Return the message as JSON. Raises ValueError if a text in it cannot be stored."""
    return message.model_dump_json(indent=2, by_alias=True, exclude_unset=True)


def _parse(body: bytes) -> object:
    """Return the JSON data."""
    try:
        return from_json(body, cache_strings="keys")
    except ValueError as refusal:
        return _parse_surrogates(body, refusal)


def _parse_surrogates(body: bytes, refusal: ValueError) -> object:
    """Read a file whose only fault is a lone surrogate: JavaScript writes them, pydantic's parser refuses them."""
    try:
        return from_json(json.dumps(storable_data(json.loads(body.decode())), ensure_ascii=False))
    except (ValueError, RecursionError):
        raise refusal from None


def _not_a_number(body: bytes) -> int | None:
    """Return the offset of a number that is not finite: this parser accepts NaN, Infinity and 1e999, others may not."""
    found = (found.start() for found in STRING_OR_FLOAT.finditer(body) if found[1] and not isfinite(float(found[1])))
    return next(found, None)


def _dump(conversation: Conversation) -> bytes:
    if not conversation.model_extra:
        return FILE.dump_json(conversation, indent=2, by_alias=True, exclude_unset=True) + b"\n"
    # Pydantic writes unknown fields after the known ones, but `messages` must come last: see `origin_of`.
    return b"%b,%b\n" % (head_of(conversation)[:-2].encode(), messages_of(conversation)[1:])
