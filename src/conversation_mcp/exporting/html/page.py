"""The format `html`: the pages of the viewer without what moves in them."""

from base64 import b64encode
from hashlib import sha256

from markupsafe import Markup

from conversation_mcp.conversations.phrases import dotted, minute, related_to
from conversation_mcp.conversations.sections import sections
from conversation_mcp.exporting.base import NO_CONTENTS, Contents, ExportFormat
from conversation_mcp.exporting.file_texts import FileTexts
from conversation_mcp.exporting.html.environment import content_style, environment
from conversation_mcp.exporting.html.markdown import SafeMarkdown
from conversation_mcp.exporting.html.sections import section_view
from conversation_mcp.records.costs import cost_of
from conversation_mcp.records.models import Conversation
from conversation_mcp.records.titles import title_of_conversation
from conversation_mcp.text import counted, dollars


def render(conversation: Conversation, contents: Contents = NO_CONTENTS) -> str:
    """Return the page. Every text of the conversation is either escaped or rendered by `SafeMarkdown`."""
    style, markdown, texts = content_style(), SafeMarkdown(), FileTexts(contents)
    style_hash = b64encode(sha256(style.encode()).digest()).decode()
    page = environment().get_template("shared/export.html")
    return page.render(
        # Only this style sheet is allowed, by its hash. If a text slipped through, it could run and load nothing.
        policy=f"default-src 'none'; style-src 'sha256-{style_hash}'; base-uri 'none'; form-action 'none'",
        style=Markup(style),  # noqa: S704 -- part of the package
        title=title_of_conversation(conversation),
        facts=[line for line in (fact_line(conversation), related_to(conversation.related)) if line],
        conversation_id=conversation.conversation_id,
        views=[
            section_view(section, place, markdown, texts) for place, section in enumerate(sections(conversation), 1)
        ],
    )


def fact_line(conversation: Conversation) -> str:
    """Return the facts of a conversation as the head of its page shows them."""
    begun, ended = minute(conversation.created_at), minute(conversation.updated_at)
    return dotted(
        begun if begun == ended else f"{begun} to {ended}",
        counted(conversation.turn_count, "answer"),
        dollars(cost_of(conversation)),
        ", ".join(conversation.tags or ()),
        f"imported from {conversation.imported.source}" if conversation.imported else "",
    )


HTML = ExportFormat("html", ".html", render)
