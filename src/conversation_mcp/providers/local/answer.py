"""The words of an answer: quoted passages, where they stand, and what was not found or not done."""

from collections.abc import Sequence

from conversation_mcp.models import Source
from conversation_mcp.providers.base import Answer
from conversation_mcp.providers.local.index import Findings, location
from conversation_mcp.providers.local.passages import Passage
from conversation_mcp.providers.options import Options
from conversation_mcp.text import storable

INTRODUCTION = "These passages are quoted from your documents; nothing was added to them."
NOTHING = "No passage in the named documents speaks of this."
SHORTENED = "The question is long: the local provider looked for the words of its beginning and its end only."
SHOWN_MISSING_WORDS = 8


def compose(findings: Findings, *, by_file: bool, notices: Sequence[str]) -> Answer:
    """Return the answer that quotes the passages, numbered in the order in which they stand."""
    groups = _by_file(findings.passages) if by_file else [findings.passages]
    passages = [passage for group in groups for passage in group]
    if not passages:
        text = _nothing(findings)
    else:
        parts = [INTRODUCTION]
        numbers = iter(range(1, len(passages) + 1))
        for group in groups:
            if by_file:
                parts.append(f"**{group[0].title}** · `{group[0].path}`")
            parts += [_quoted(next(numbers), passage) for passage in group]
        if findings.missing:
            parts.append(f"No passage speaks of: {_listed(findings.missing)}.")
        text = "\n\n".join(parts)
    sources = tuple(_source(number, passage) for number, passage in enumerate(passages, 1))
    return Answer(storable(text), sources=sources, model="local", notices=tuple(notices))


def option_notices(options: Options) -> list[str]:
    """Return one sentence for each thing that was asked for and that documents on disk cannot honour."""
    asked = [name for name, value in options.model_dump(exclude_none=True).items() if value is not False]
    return [f"{name} was not applied: the local provider searches the documents you named." for name in asked]


def _by_file(passages: Sequence[Passage]) -> list[list[Passage]]:
    """Group the passages, the file of the best one first, in the order of the file's lines."""
    groups: dict[object, list[Passage]] = {}
    for passage in passages:
        groups.setdefault(passage.path, []).append(passage)
    return [sorted(group, key=lambda passage: passage.start_line) for group in groups.values()]


def _quoted(number: int, passage: Passage) -> str:
    under = f" · {passage.heading}" if passage.heading else ""
    quote = "\n".join(f"> {line}" if line else ">" for line in passage.text.split("\n"))
    return f"[{number}] `{location(passage)}`{under}\n\n{quote}"


def _nothing(findings: Findings) -> str:
    if not findings.nearest:
        return NOTHING
    headings = "; ".join(f"{passage.heading} (`{passage.path}`)" for passage in findings.nearest)
    return f"{NOTHING} The nearest headings: {headings}."


def _listed(words: Sequence[str]) -> str:
    more = len(words) - SHOWN_MISSING_WORDS
    return ", ".join(words[:SHOWN_MISSING_WORDS]) + (f" and {more} more words" if more > 0 else "")


def _source(number: int, passage: Passage) -> Source:
    return Source.of(
        id=number,
        title=storable(passage.title),
        url=passage.path.as_uri(),
        path=storable(str(passage.path)),
        heading=passage.heading or None,
        start_line=passage.start_line,
        end_line=passage.end_line,
    )
