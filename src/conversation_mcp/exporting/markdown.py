"""Markdown: a front matter of facts, then questions and answers under headings."""

import json
import re
from collections.abc import Iterable, Iterator

from conversation_mcp.exporting.base import ExportFormat
from conversation_mcp.exporting.headings import nested
from conversation_mcp.exporting.sections import Section, facts, sections, title
from conversation_mcp.records.models import Conversation, Source

BELOW_SECTIONS = 2
SPECIAL = re.compile(r"([\\`*_\[\]<>#|~&])")
NOT_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def render(conversation: Conversation) -> str:
    """Return the text; headings and code blocks of an answer cannot be taken for those of the page."""
    parts = [
        _front_matter(conversation),
        f"# {_plain(title(conversation))}",
        *(part for section in sections(conversation) for part in _section(section)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _front_matter(conversation: Conversation) -> str:
    known = {"title": title(conversation), **facts(conversation)}
    return "\n".join(("---", *(f"{name}: {_yaml(value)}" for name, value in known.items()), "---"))


def _yaml(value: object) -> str:
    """Return the value as JSON, which YAML reads, with escapes for what YAML does not allow as it is."""
    return NOT_IN_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False))


def _section(section: Section) -> Iterator[str]:
    yield f"## {section.heading}"
    yield f"*{_plain(' · '.join(section.facts))}*" if section.facts else ""
    yield nested(section.text, BELOW_SECTIONS)
    yield _list("Sources", map(_source, section.sources))
    yield _list("Related questions", map(_plain, section.related_questions))
    yield _list("Notices", map(_plain, section.notices))
    yield _quoted("Reasoning", section.reasoning)


def _source(source: Source) -> str:
    place = source.place
    name = _plain(source.title or place)
    if source.url and not source.path:
        named = f"[{name}](<{_address(source.url)}>)"
    else:
        named = f"{name}, {_plain(place)}" if source.title and place else name
    heading = f" ({_plain(source.heading)})" if source.heading else ""
    return (
        f"\\[{source.id}\\] {named}{heading}"
        + (f" ({_plain(source.date)})" if source.date else "")
        + (f"\n  > {_plain(source.snippet)}" if source.snippet else "")
    )


def _address(url: str) -> str:
    return (
        "".join(char for char in url if char.isprintable()).replace("<", "%3C").replace(">", "%3E").replace("\\", "%5C")
    )


def _plain(text: str) -> str:
    """Return the text on one line, with nothing in it that Markdown would take for more than text."""
    return SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _list(name: str, lines: Iterable[str]) -> str:
    items = [f"- {line}" for line in lines]
    return "\n".join([f"{name}:", "", *items]) if items else ""


def _quoted(name: str, text: str) -> str:
    if not text:
        return ""
    quoted = "\n".join(f"> {line}".rstrip() for line in nested(text, BELOW_SECTIONS).splitlines())
    return f"{name}:\n\n{quoted}"


MARKDOWN = ExportFormat("markdown", ".md", render)
