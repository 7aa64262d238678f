"""The ids of messages in a log."""

import re
from collections.abc import Sequence

from conversation_mcp.records.models import Message

OURS = re.compile(r"m-([0-9]{1,15})")


def with_ids(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the messages, each with an id of its own.

    A stored id stays. A message without one, or with one that stands before it, gets its number in the file, or if that
    is taken the next number after all others.
    """
    stored = {message.message_id for message in messages if message.message_id}
    numbers = [int(found[1]) for name in stored if (found := OURS.fullmatch(name))]
    free = max([len(messages), *numbers]) + 1
    seen: set[str] = set()
    named: list[Message] = []
    for place, message in enumerate(messages, 1):
        name = message.message_id
        if not name or name in seen:
            name = f"m-{place}"
            if name in stored or name in seen:
                name, free = f"m-{free}", free + 1
            message = message.model_copy(update={"message_id": name})  # noqa: PLW2901 -- the same message, named
        seen.add(name)
        named.append(message)
    return tuple(named)
