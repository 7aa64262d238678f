"""HTML: a self-contained page that runs nothing and loads nothing."""

from base64 import b64encode
from collections.abc import Iterable, Iterator
from hashlib import sha256
from html import escape
from importlib.resources import files

from conversation_mcp.conversations.attached import attached_line
from conversation_mcp.conversations.phrases import dotted, minute
from conversation_mcp.conversations.sections import Section, facts, sections
from conversation_mcp.exporting.base import NO_CONTENTS, Contents, ExportFormat
from conversation_mcp.exporting.file_texts import FileTexts
from conversation_mcp.exporting.html_text import SafeMarkdown, anchor
from conversation_mcp.records.models import Conversation, Source
from conversation_mcp.records.titles import title_of_conversation
from conversation_mcp.text import counted, dollars, one_line

BELOW_SECTIONS = 2
OPEN_KINDS = frozenset({"question", "answer", "unanswered", "step"})


def render(conversation: Conversation, contents: Contents = NO_CONTENTS) -> str:
    """Return the page. Every text of the conversation is either escaped or rendered by `SafeMarkdown`."""
    style = files("conversation_mcp.exporting").joinpath("page.css").read_text("utf-8")
    style_hash = b64encode(sha256(style.encode()).digest()).decode()
    # Only this style sheet is allowed, by its hash. If a text slipped through, it could run and load nothing.
    policy = f"default-src 'none'; style-src 'sha256-{style_hash}'; base-uri 'none'; form-action 'none'"
    name, markdown, texts = escape(title_of_conversation(conversation)), SafeMarkdown(), FileTexts(contents)
    body = "\n".join(
        part
        for number, section in enumerate(sections(conversation), 1)
        for part in _section(section, number, markdown, texts)
    )
    return (
        '<!doctype html>\n<html lang="und">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="color-scheme" content="light dark">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{name}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n"
        f"<header>\n<h1>{name}</h1>\n{_facts(conversation)}</header>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _facts(conversation: Conversation) -> str:
    known = facts(conversation)
    answers = counted(conversation.turn_count, "answer")
    cost = known.get("costUsd")
    begun, ended = minute(conversation.created_at), minute(conversation.updated_at)
    shown = [
        begun if begun == ended else f"{begun} to {ended}",
        answers,
        dollars(cost) if isinstance(cost, float | int) else "",
        ", ".join(conversation.tags or ()),
        f"imported from {known['importedFrom']}" if "importedFrom" in known else "",
    ]
    line = escape(dotted(*shown))
    return f'<p class="facts">{line}</p>\n<p class="facts"><code>{escape(conversation.conversation_id)}</code></p>\n'


def _section(section: Section, number: int, markdown: SafeMarkdown, texts: FileTexts) -> Iterator[str]:
    name = f"m{number}"
    shown = escape(dotted(*section.facts))
    head = f"<h2>{escape(section.heading)}</h2>{f'<p class=facts>{shown}</p>' if shown else ''}"
    text = markdown.html(section.whole_text, name, [source.id for source in section.sources], BELOW_SECTIONS)
    yield f'<section class="{section.kind}" id="{name}">'
    if section.kind in OPEN_KINDS:
        yield f'<div class="head">{head}</div>\n<div class="text">\n{text}</div>'
    else:
        yield f'<details>\n<summary>{escape(section.heading)}</summary>\n<div class="text">\n{text}</div>\n</details>'
    yield from _list("Files", (f"<li>{escape(attached_line(named))}</li>" for named in section.attached))
    for named, text in texts.of(section):
        summary = escape(one_line(named.path))
        yield f"<details>\n<summary>{summary}</summary>\n<pre><code>{escape(text)}</code></pre>\n</details>"
    if section.reasoning:
        hidden = markdown.html(section.reasoning, below=BELOW_SECTIONS)
        yield f'<details>\n<summary>Reasoning</summary>\n<div class="text">\n{hidden}</div>\n</details>'
    yield from _list("Sources", (_source(source, name) for source in section.sources), "sources")
    yield from _list("Related questions", (f"<li>{escape(line)}</li>" for line in section.related_questions))
    yield from _list("Notices", (f"<li>{escape(line)}</li>" for line in section.notices))
    yield "</section>"


def _source(source: Source, name: str) -> str:
    place = source.place
    label = escape(source.title or place or "source")
    linked = label if source.path else anchor(source.url or "", label)
    rest = [place if place != (source.title or place) else "", source.heading or "", source.date or ""]
    more = escape(dotted(*rest))
    return (
        f'<li id="{name}-{source.id}"><span class="number">[{source.id}]</span> {linked}'
        f"{f' <span class=place>{more}</span>' if more else ''}"
        f"{f'<blockquote>{escape(one_line(source.snippet))}</blockquote>' if source.snippet else ''}</li>"
    )


def _list(heading: str, items: Iterable[str], kind: str = "notes") -> Iterator[str]:
    if lines := list(items):
        yield f'<div class="{kind}">\n<h3>{heading}</h3>\n<ul>\n' + "\n".join(lines) + "\n</ul>\n</div>"


HTML = ExportFormat("html", ".html", render)
