"""The command `tokens`: shows what the next question of a conversation carries."""

from typing import TYPE_CHECKING, Annotated

import typer

from conversation_mcp.cli.options import AsJson, Id, LogsDir, ModelName, Owner
from conversation_mcp.cli.output.terminal import is_terminal, put, put_fields, put_json, say
from conversation_mcp.cli.selection.ids import resolve
from conversation_mcp.cli.setup import finder_of, settings_from

if TYPE_CHECKING:
    from conversation_mcp.turns.preview import ShownContext

Exact = Annotated[
    bool,
    typer.Option("--exact", help="Have the provider count the tokens, which sends it the conversation. Not all can."),
]


def tokens(
    *,
    conversation_id: Id,
    model: ModelName = None,
    exact: Exact = False,
    as_json: AsJson = False,
    logs_dir: LogsDir = None,
    owner: Owner = None,
) -> None:
    """Show what the next question of a conversation carries.

    Each message is shown with what it takes, and what all of it costs. Nobody is asked. The tokens are estimated as
    they are before a question is sent; --exact has all of them counted by the provider, too. In a pipe, each message is
    a line of number, role, tokens and whether it is sent, separated by tabs; the provider's count is the last line.
    """
    settings = settings_from({"logs_dir": logs_dir, "owner": owner}).settings
    chosen = resolve(finder_of(settings), conversation_id)
    from conversation_mcp.cli.changes.session import opened
    from conversation_mcp.tooling.rendering.context import render_context

    shown = opened(settings, lambda app: app.preview.show(chosen, model, is_exact=exact))
    if as_json:
        put_json(shown.data())
    elif is_terminal():
        put(render_context(shown))
    else:
        put_fields(_fields(shown))
        for notice in (shown.notices or ()) if exact else ():
            say(notice)


def _fields(shown: "ShownContext") -> list[tuple[str, ...]]:
    counted = [] if shown.counted_tokens is None else [("", "", str(shown.counted_tokens), "counted")]
    messages = [
        (str(one.number or ""), one.role, str(one.tokens), "sent" if one.is_sent else "left out")
        for one in shown.messages
    ]
    return [*messages, *counted]
