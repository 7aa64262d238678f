"""What a template shows of the parts of a conversation."""

from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import urlsplit

from markupsafe import Markup

from conversation_mcp.conversations.attached import attached_line
from conversation_mcp.conversations.phrases import dotted
from conversation_mcp.conversations.sections import Kind, Section
from conversation_mcp.exporting.file_texts import FileTexts
from conversation_mcp.exporting.html.markdown import SafeMarkdown, is_link
from conversation_mcp.records.models import Source
from conversation_mcp.text import one_line

BELOW_SECTIONS = 2
"""The title is a heading of the first level, and each part has one of the second."""
MESSAGES = frozenset[Kind]({"system", "question", "answer"})
OPEN_KINDS = MESSAGES - {"system"} | {"unanswered", "step"}


@dataclass(frozen=True)
class SourceView:
    """A source in the list below an answer."""

    anchor: str
    number: int
    label: str
    link: str | None
    """The address, if a page may link to it."""
    site: str
    facts: str
    snippet: str
    citation: str | None
    """The anchor of its first citation; None if the answer does not cite it."""


@dataclass(frozen=True)
class SectionView:
    """A part of a conversation; texts that are `Markup` are HTML, all others are escaped by the template."""

    kind: Kind
    anchor: str
    number: int
    """The number of the message; of anything else, that of the message before it."""
    heading: str
    facts: str
    text: Markup
    is_open: bool
    is_message: bool
    is_resumable: bool
    files: tuple[str, ...]
    file_texts: tuple[tuple[str, str], ...]
    reasoning: Markup | None
    sources: tuple[SourceView, ...]
    related_questions: tuple[str, ...]
    notices: tuple[str, ...]


def section_view(section: Section, place: int, markdown: SafeMarkdown, texts: FileTexts) -> SectionView:
    """Return what is shown of the section, the `place`-th of its conversation."""
    is_message = section.kind in MESSAGES
    anchor = f"m{section.number}" if is_message else f"e{place}"
    rendered = markdown.rendered(section.whole_text, anchor, [source.id for source in section.sources], BELOW_SECTIONS)
    return SectionView(
        kind=section.kind,
        anchor=anchor,
        number=section.number,
        heading=section.heading,
        facts=dotted(*section.facts, section.tokens),
        text=Markup(rendered.html),  # noqa: S704 -- escaped by SafeMarkdown
        is_open=section.kind in OPEN_KINDS,
        is_message=is_message,
        is_resumable=section.is_resumable,
        files=tuple(map(attached_line, section.attached)),
        file_texts=tuple((one_line(named.path), text) for named, text in texts.of(section)),
        reasoning=_reasoning(section.reasoning, markdown),
        sources=tuple(_source(source, anchor, rendered.cited) for source in section.sources),
        related_questions=section.related_questions,
        notices=section.notices,
    )


def _reasoning(text: str, markdown: SafeMarkdown) -> Markup | None:
    return Markup(markdown.rendered(text, below=BELOW_SECTIONS).html) if text else None  # noqa: S704 -- the same


def _source(source: Source, anchor: str, cited: Collection[int]) -> SourceView:
    place = source.place
    link = source.url if source.url and not source.path and is_link(source.url) else None
    site = (urlsplit(link).hostname or "").removeprefix("www.") if link else ""
    address = "" if link or place == (source.title or place) else place
    return SourceView(
        anchor=f"{anchor}-{source.id}",
        number=source.id,
        label=source.title or place or "source",
        link=link,
        site=site,
        facts=dotted(address, source.heading, source.date, "" if source.id in cited else "not cited"),
        snippet=one_line(source.snippet or ""),
        citation=f"{anchor}-{source.id}-c" if source.id in cited else None,
    )
