"""The command `tokens`: shows what the next question of a conversation carries."""

from typing import TYPE_CHECKING

from conversation_mcp.cli.options import AsJson, Id, LogsDir, ModelName
from conversation_mcp.cli.output.terminal import is_terminal, put, put_fields, put_json
from conversation_mcp.cli.selection.ids import resolve
from conversation_mcp.cli.setup import finder_of, settings_from

if TYPE_CHECKING:
    from conversation_mcp.turns.preview import ShownContext


def tokens(*, conversation_id: Id, model: ModelName = None, as_json: AsJson = False, logs_dir: LogsDir = None) -> None:
    """Show what the next question of a conversation carries.

    Each message is shown with what it takes, and what all of it costs. Nobody is asked. The tokens are estimated as
    they are before a question is sent. In a pipe, each message is a line of number, role, tokens and whether it is
    sent, separated by tabs.
    """
    settings = settings_from({"logs_dir": logs_dir}).settings
    chosen = resolve(finder_of(settings), conversation_id)
    from conversation_mcp.cli.changes.session import opened
    from conversation_mcp.tooling.rendering.context import render_context

    shown = opened(settings, lambda app: app.preview.show(chosen, model))
    if as_json:
        put_json(shown.data())
    elif is_terminal():
        put(render_context(shown))
    else:
        put_fields(_fields(shown))


def _fields(shown: "ShownContext") -> list[tuple[str, ...]]:
    return [
        (str(one.number or ""), one.role, str(one.tokens), "sent" if one.is_sent else "left out")
        for one in shown.messages
    ]
