"""Deleting and restoring: the output of the commands, and the final deletion."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from conversation_mcp.cli.output.agreement import agreed
from conversation_mcp.cli.output.terminal import put, put_json, say

if TYPE_CHECKING:
    from conversation_mcp.app import App
    from conversation_mcp.conversations.trash_can import TrashedConversation
    from conversation_mcp.stores.base import Trashed

UNREADABLE = "(cannot be read)"


def put_trashed(
    shown: "Iterable[TrashedConversation]", what: str, problems: Sequence[str] = (), *, as_json: bool
) -> None:
    """Print each conversation with what was done, or all as one JSON document."""
    if as_json:
        put_json({"conversations": [each.data() for each in shown], "problems": list(problems)})
        return
    for each in shown:
        put(f"{each.conversation_id}  {what}: {each.title or UNREADABLE}")


def agreed_for_good(question: str, *, sure: bool) -> None:
    """Return if the user agrees to a final deletion, or has agreed with --yes."""
    agreed(question, sure=sure, to="delete for good", otherwise="Nothing was deleted.")


async def erase(app: "App", trashed: "Sequence[Trashed]") -> None:
    """Delete conversations in the trash for good."""
    for conversation_id in await app.trash.erase(trashed):
        say(f"Notice: the deletion of {conversation_id} could not be recorded; an import may bring it back.")
