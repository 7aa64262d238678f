"""The output of commands that changed or made a conversation."""

from typing import TYPE_CHECKING

from conversation_mcp.cli.output.terminal import put, put_json, say

if TYPE_CHECKING:
    from conversation_mcp.app import App
    from conversation_mcp.records.models import Conversation


def put_tidied(
    conversation: "Conversation", app: "App", what: str, notices: tuple[str, ...] = (), *, as_json: bool
) -> None:
    """Print the id with what was done, or the conversation as one JSON document."""
    if as_json:
        from conversation_mcp.tooling.tidied import tidied

        put_json(tidied(conversation, app, notices=notices).data())
    else:
        put(f"{conversation.conversation_id}  {what}")
        for notice in notices:
            say(f"Notice: {notice}")


def put_new(
    conversation: "Conversation", app: "App", what: str, notices: tuple[str, ...] = (), *, as_json: bool
) -> None:
    """Print a conversation that was made from others, and how to follow up in it."""
    put_tidied(conversation, app, what, notices, as_json=as_json)
    if not as_json:
        say(f'Follow up with:  conversation-mcp ask -c {conversation.conversation_id} "…"')
