"""The command `delete`: moves conversations to the trash, or deletes them for good."""

from typing import TYPE_CHECKING, Annotated

import typer

from conversation_mcp.cli.changes.session import on_each, opened, resolved
from conversation_mcp.cli.changes.trashed import agreed_for_good, erase, put_trashed
from conversation_mcp.cli.exit_codes import FAILED
from conversation_mcp.cli.options import AsJson, Ids, LogsDir, Owner
from conversation_mcp.cli.output.terminal import say
from conversation_mcp.cli.setup import settings_from
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.text import counted

if TYPE_CHECKING:
    from conversation_mcp.app import App
    from conversation_mcp.records.models import ConversationId
    from conversation_mcp.stores.base import Trashed


def delete(
    *,
    conversation_ids: Ids,
    for_good: Annotated[
        bool, typer.Option("--for-good", help="Delete them from the disk and the index instead.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --for-good: do not ask.")] = False,
    as_json: AsJson = False,
    logs_dir: LogsDir = None,
    owner: Owner = None,
) -> None:
    """Move conversations to the trash.

    Waits for a question that is being answered. Branches of a conversation stay.
    """
    if yes and not for_good:
        raise InvalidInputError("--yes goes with --for-good.")
    settings = settings_from({"logs_dir": logs_dir, "owner": owner}).settings
    ids = resolved(settings, conversation_ids)
    if for_good:
        agreed_for_good(f"Delete {counted(len(ids), 'conversation')} for good: {', '.join(ids)}?", sure=yes)

    async def work(app: "App") -> list[str]:
        deleted: list[Trashed] = []

        async def one(conversation_id: "ConversationId") -> None:
            deleted.append(await app.tidier.delete(conversation_id, _WaitNotice().report))

        problems = await on_each(ids, one)
        shown = [await app.trash.facts_of(trashed) for trashed in deleted]  # read before the files are gone
        if for_good:
            await erase(app, deleted)
        put_trashed(shown, "deleted for good" if for_good else "in the trash", problems, as_json=as_json)
        if shown and not for_good and not as_json:
            say(f"Bring back with:  conversation-mcp trash restore {shown[-1].conversation_id}")
        return problems

    raise typer.Exit(FAILED if opened(settings, work) else 0)


class _WaitNotice:
    """Says once that the command is waiting for a running question."""

    def __init__(self) -> None:
        self._is_told = False

    async def report(self, headline: str) -> None:
        if not self._is_told:
            self._is_told = True
            say(headline.partition(",")[0])
