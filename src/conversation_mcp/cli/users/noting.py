"""Lines of the audit trail for what commands do with the conversations of others."""

from collections.abc import Sequence
from typing import Any

from typer.core import TyperCommand, TyperGroup

from conversation_mcp.cli.setup import store_url_from
from conversation_mcp.clock import utc_now
from conversation_mcp.owners import LOCAL, is_owner
from conversation_mcp.records.audit import AuditEvent, account, ids_in
from conversation_mcp.stores.catalog import open_audit

COMMAND_LINE = "command line"


def note(url: str, owner: str, action: str, targets: Sequence[str] = ()) -> None:
    """Append a line to the audit trail.

    Raises:
        FilesystemError: it cannot be written, so what it tells of must not be done.
    """
    open_audit(url, utc_now).add(AuditEvent(account(), COMMAND_LINE, owner, action, targets))


class OwnersCommand(TyperCommand):
    """A command whose option `--owner` lets it work with those of another, which is noted before it runs."""

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 -- of click, whose types typer hides
        _note_owner(ctx)
        return super().invoke(ctx)


class OwnersGroup(TyperGroup):
    """A group of commands that has such an option itself."""

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 -- as above
        _note_owner(ctx)
        return super().invoke(ctx)


def _note_owner(ctx: Any) -> None:  # noqa: ANN401 -- as above
    owner = ctx.params.get("owner")
    if "logs_dir" not in ctx.params:  # it works on other stores than that of the settings, and notes there
        return
    if isinstance(owner, str) and owner != LOCAL and is_owner(owner):
        command = ctx.command_path.partition(" ")[2]
        note(store_url_from(ctx.params.get("logs_dir")), owner, command, ids_in(ctx.params.values()))
