"""How a command says which conversations went to the trash, came back or are gone, and how it removes them for good."""

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
    """Go on if a person agrees that something is deleted for good, or has agreed before."""
    agreed(question, sure=sure, to="delete for good", otherwise="Nothing was deleted.")


async def erase(app: "App", trashed: "Sequence[Trashed]") -> None:
    """Remove what is in the trash for good."""
    for conversation_id in await app.trash.erase(trashed):
        say(f"Notice: that {conversation_id} was deleted could not be noted; an import may bring it back.")
