"""The tool `list_conversations`."""

from typing import Annotated

from pydantic import AfterValidator, Field

from conversation_mcp.app import App
from conversation_mcp.conversations.filters import wanted_of
from conversation_mcp.conversations.library import ConversationPage
from conversation_mcp.records.facts import milliseconds_of
from conversation_mcp.records.found import State
from conversation_mcp.tooling.rendering.lists import render_list
from conversation_mcp.tooling.tool import AS_WRITTEN, READS, Input, Tool
from conversation_mcp.turns.ask import Caller

MAX_QUERY_CHARS = 10_000


def _query(text: str) -> str:
    if len(text) > MAX_QUERY_CHARS:
        message = f"takes up to {MAX_QUERY_CHARS:,} characters; got {len(text):,}"
        raise ValueError(message)
    return text


def _moment(text: str) -> str:
    try:
        milliseconds_of(text)
    except ValueError:
        raise ValueError("must be a date or time such as 2026-01-31 or 2026-01-31T12:00:00Z") from None
    return text


Moment = Annotated[str, AfterValidator(_moment)]


class ListInput(Input):
    """Words and filters that choose conversations, and the page of their list."""

    query: Annotated[str, AfterValidator(_query), AS_WRITTEN] = Field(
        default="", description='Words in any of them; "a phrase" must occur, begin* is a beginning.'
    )
    limit: int = Field(default=20, ge=1, le=100)
    cursor: str | None = Field(default=None, description="nextCursor of the page before.")
    tool: str | None = None
    provider: str | None = None
    model: str | None = None
    tag: str | None = None
    state: State | None = None
    after: Moment | None = Field(default=None, description="Updated since this ISO date or time.")
    before: Moment | None = Field(default=None, description="Updated before it.")


async def list_conversations(given: ListInput, app: App, caller: Caller) -> ConversationPage:
    """Find conversations by their words or by facts about them."""
    wanted = wanted_of(
        given.query,
        state=given.state,
        after=given.after,
        before=given.before,
        tags=() if given.tag is None else (given.tag,),
        tool=given.tool,
        provider=given.provider,
        model=given.model,
    )
    return await app.library.find(wanted, given.limit, given.cursor, caller.report)


LIST_CONVERSATIONS = Tool(
    name="list_conversations",
    run=list_conversations,
    render=render_list,
    input_model=ListInput,
    title="List conversations",
    description=(
        "Find conversations, newest first, or best first for a query, with ids to continue them. "
        "Archived only with state archived."
    ),
    hints=READS,
    steps={"find": "list_conversations"},
)
