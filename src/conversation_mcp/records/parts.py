"""The parts of conversation.json, for stores that keep each message by itself. Nothing here imports the records."""

from collections.abc import Iterable

INDENT = "\n    "


def joined(head: str, messages: Iterable[str]) -> bytes:
    """Return the bytes of the file, as the codec writes it, from its parts as the codec writes them."""
    listed = f",{INDENT}".join(message.replace("\n", INDENT) for message in messages)
    body = f"{INDENT}{listed}\n  " if listed else ""
    return f'{head[:-2]},\n  "messages": [{body}]\n}}\n'.encode()


def message_bytes(message: str) -> int:
    """Return how many bytes the message takes in the file, with what separates it from the next."""
    return len(message.encode()) + 4 * message.count("\n") + len(INDENT) + 1


def whole_bytes(head: str, messages_bytes: int) -> int:
    """Return the size of the file from its head and the sum of the sizes of its messages."""
    # One less for the comma that the first message lacks; three for the line break and the spaces before the bracket.
    return len(joined(head, ())) + (messages_bytes - 1 + 3 if messages_bytes else 0)
