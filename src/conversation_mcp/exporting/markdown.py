"""Markdown: facts as front matter, then questions and answers under headings."""

import json
import re
from collections.abc import Iterable

from conversation_mcp.conversations.attached import attached_line
from conversation_mcp.conversations.markdown import MarkdownPage
from conversation_mcp.conversations.sections import Section, facts
from conversation_mcp.exporting.base import NO_CONTENTS, Contents, ExportFormat
from conversation_mcp.exporting.file_texts import FileTexts, fenced
from conversation_mcp.exporting.headings import nested
from conversation_mcp.records.models import Conversation, Source
from conversation_mcp.records.titles import title_of_conversation
from conversation_mcp.text import one_line

BELOW_SECTIONS = 2
SPECIAL = re.compile(r"([\\`*_\[\]<>#|~&])")
NOT_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


class ExportPage(MarkdownPage):
    """A page whose own headings and code blocks cannot be confused with those of an answer."""

    def __init__(self, contents: Contents) -> None:
        self._texts = FileTexts(contents)

    def head(self, conversation: Conversation) -> Iterable[str]:
        """Yield the front matter and the title."""
        title = title_of_conversation(conversation)
        known = {"title": title, **facts(conversation)}
        yield "\n".join(("---", *(f"{name}: {_yaml(value)}" for name, value in known.items()), "---"))
        yield f"# {_plain(title)}"

    def body(self, section: Section, conversation: Conversation) -> Iterable[str]:
        """Yield the heading, the facts, and the text with its own headings below."""
        del conversation
        yield f"## {section.heading}"
        yield f"*{_plain(' · '.join(section.facts))}*" if section.facts else ""
        yield nested(section.whole_text, BELOW_SECTIONS)

    def foot(self, section: Section) -> Iterable[str]:
        """Yield the texts of files, as code, and the reasoning, as a quote."""
        for named, text in self._texts.of(section):
            yield f"{_plain(attached_line(named))}:"
            yield fenced(text)
        yield _quoted("Reasoning", section.reasoning)

    def attached(self, section: Section) -> Iterable[str]:
        """Return the lines of all files and images."""
        return map(attached_line, section.attached)

    def line(self, text: str) -> str:
        """Return the text on one line, with its markup escaped."""
        return _plain(text)

    def source(self, source: Source) -> str:
        """Return all facts of a source."""
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


def _yaml(value: object) -> str:
    """Return the value as JSON, which is also YAML, with escapes for characters that YAML does not allow."""
    return NOT_IN_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False))


def _address(url: str) -> str:
    return (
        "".join(char for char in url if char.isprintable()).replace("<", "%3C").replace(">", "%3E").replace("\\", "%5C")
    )


def _plain(text: str) -> str:
    """Return the text on one line, with all Markdown syntax escaped."""
    return SPECIAL.sub(r"\\\1", one_line(text))


def _quoted(name: str, text: str) -> str:
    if not text:
        return ""
    quoted = "\n".join(f"> {line}".rstrip() for line in nested(text, BELOW_SECTIONS).splitlines())
    return f"{name}:\n\n{quoted}"


def render(conversation: Conversation, contents: Contents = NO_CONTENTS) -> str:
    """Return the page."""
    return ExportPage(contents).render(conversation)


MARKDOWN = ExportFormat("markdown", ".md", render)
