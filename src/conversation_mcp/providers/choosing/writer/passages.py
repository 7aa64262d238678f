"""The messages for a model that writes from passages, and the check of the numbers in its answer."""

import re
from collections.abc import Collection, Sequence
from importlib.resources import files
from pathlib import Path

from conversation_mcp.providers.wire.code_spans import CODE
from conversation_mcp.records.chat import ChatMessage
from conversation_mcp.records.models import Source

# The look-behind lets a match begin only at the first of several spaces: else a long run takes quadratic time.
NUMBERS = r"(?<![ \t])[ \t]*\[(?P<numbers>[0-9]+|[1-9][0-9]*(?:[,;][ ]?[1-9][0-9]*)+)\]"
CODE_OR_NUMBERS = re.compile(f"{CODE}|{NUMBERS}", re.VERBOSE | re.MULTILINE | re.DOTALL)
"""Code is matched too, so that brackets in it are passed over: they are not citations."""

INSTRUCTIONS = (
    files("conversation_mcp.providers.choosing.writer")
    .joinpath("instructions", "passages.md")
    .read_text("utf-8")
    .strip()
)
"""Read on import, like code: once, and never while an event loop waits for the file."""


def framed(messages: Sequence[ChatMessage], sources: Sequence[Source], texts: Sequence[str]) -> tuple[ChatMessage, ...]:
    """Return the messages with the passages in front of the question, and instructions behind the system text."""
    *before, question = messages
    system = [message.content for message in before if message.role == "system"]
    turns = [message for message in before if message.role != "system"]
    passages = [_passage(source, text) for source, text in zip(sources, texts, strict=True)]
    return (
        ChatMessage("system", "\n\n".join([*system, INSTRUCTIONS])),
        *turns,
        ChatMessage("user", "\n\n".join([*passages, "The question:", question.content])),
    )


def checked(text: str, sources: Collection[Source]) -> tuple[str, tuple[str, ...]]:
    """Return the text without the numbers that refer to no source, and these numbers."""
    known = {str(source.id) for source in sources}
    unknown: dict[str, None] = {}

    def check(match: re.Match[str]) -> str:
        if match["code"] is not None:
            return match[0]
        numbers = re.split("[,;] ?", match["numbers"])
        unknown.update(dict.fromkeys(number for number in numbers if number not in known))
        space = match[0].partition("[")[0]
        cited = "".join(f"[{number}]" for number in numbers if number in known)
        return space + cited if cited else ""

    return CODE_OR_NUMBERS.sub(check, text), tuple(unknown)


def _passage(source: Source, text: str) -> str:
    """Return the passage under its number; all lines of the document are behind `>`, so none can end the passage."""
    place = Path(source.path).name if source.path else source.url or ""
    under = f" ({source.heading or source.title})" if source.heading or source.title else ""
    lines = f"from {place}{under}\n\n{text}".splitlines()
    return "\n".join([f"[{source.id}]", *(f"> {line}".rstrip() for line in lines)])
