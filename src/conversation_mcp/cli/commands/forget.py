"""The command `forget`: removes a memory for good."""

from typing import TYPE_CHECKING, Annotated

import typer

from conversation_mcp.cli.changes.session import opened
from conversation_mcp.cli.options import LogsDir, Owner
from conversation_mcp.cli.output.terminal import put
from conversation_mcp.cli.setup import settings_from
from conversation_mcp.errors import InvalidInputError

if TYPE_CHECKING:
    from conversation_mcp.app import App


def forget(
    *,
    memory_id: Annotated[str, typer.Argument(metavar="ID", help="The memory, as `memories` shows it.")],
    logs_dir: LogsDir = None,
    owner: Owner = None,
) -> None:
    """Forget a memory for good.

    It leaves the files of all conversations that have it, and its words leave the index.
    """

    async def work(app: "App") -> int:
        from conversation_mcp.records.found import WantedMemories

        memories = app.open_remembering().memories
        wanted, count = WantedMemories(memory_id=memory_id), 0
        while found := (await memories.page(wanted, 1, 0)).found:  # branches have the memories of their originals
            await memories.delete(memory_id, found[0].conversation_id)
            count += 1
        return count

    count = opened(settings_from({"logs_dir": logs_dir, "owner": owner}).settings, work)
    if not count:
        raise InvalidInputError(f"there is no memory {memory_id!r}; conversation-mcp memories shows them.")
    put(f"{memory_id} is forgotten.")
