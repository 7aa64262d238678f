"""The tool `export_conversation`."""

from anyio import to_thread

from conversation_mcp.app import App
from conversation_mcp.exporting.catalog import FormatName, export_format
from conversation_mcp.records.ids import check_id
from conversation_mcp.records.models import ConversationId
from conversation_mcp.records.record import Record
from conversation_mcp.records.transcript import contents_named_in
from conversation_mcp.tooling.questions import ConversationIdArgument
from conversation_mcp.tooling.tool import Hints, Input, Tool
from conversation_mcp.turns.ask import Caller


class ExportInput(Input):
    """The conversation to export, and the format."""

    conversation_id: ConversationIdArgument
    format: FormatName = "markdown"


class Exported(Record):
    """An exported conversation, as text or as a file."""

    conversation_id: str
    """The conversation."""
    format: str
    """The format of the export."""
    text: str | None = None
    """The whole export, if it is short enough for a result."""
    path: str | None = None
    """The file with the export, if it is longer; the next export in this format replaces it."""
    characters: int
    """The length of the export."""
    conversation_path: str
    """The absolute path of conversation.json."""


async def export_conversation(given: ExportInput, app: App, _caller: Caller) -> Exported:
    """Return the conversation in another format; one that is too long goes to a file, where the caller can read it."""
    conversation_id = ConversationId(check_id(given.conversation_id))
    conversation = await app.store.load(conversation_id)
    # In threads: the format's module is imported on first use, and a long conversation takes a while to render.
    chosen = await to_thread.run_sync(export_format, given.format)
    contents = await app.store.attachments.get(conversation_id, contents_named_in(conversation))
    text = await to_thread.run_sync(chosen.render, conversation, contents)
    location = app.store.location(conversation_id)
    path = None
    if len(text) > app.settings.max_result_chars and not app.is_remote:
        path = await app.store.keep_export(conversation_id, chosen.suffix, text)
    return Exported.of(
        conversation_id=conversation_id,
        format=given.format,
        text=text if path is None else None,
        path=path,
        characters=len(text),
        conversation_path=location,
    )


def render_export(exported: Exported) -> str:
    """Return the exported text, or the path of the file that has it."""
    if exported.text is not None:
        return exported.text
    return (
        f"Conversation {exported.conversation_id} as {exported.format}: {exported.characters:,} characters, "
        f"too long to show.\n\nFile: {exported.path}"
    )


EXPORT_CONVERSATION = Tool(
    name="export_conversation",
    run=export_conversation,
    render=render_export,
    input_model=ExportInput,
    title="Export a conversation",
    description=(
        "Return a whole conversation as markdown, html (one page), json (the file) or jsonl (OpenAI messages); a long "
        "one as the path of a file that is written beside it. Changes nothing in the conversation."
    ),
    # A long export is written to a file.
    hints=Hints(read_only=False, destructive=False, idempotent=True, open_world=False),
)
