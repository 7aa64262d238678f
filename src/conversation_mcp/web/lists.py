"""The list of conversations, and the trash."""

from collections.abc import Mapping
from typing import cast
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from conversation_mcp.conversations.filters import wanted_of
from conversation_mcp.conversations.library import FoundConversations
from conversation_mcp.errors import ConversationMCPError, InvalidInputError
from conversation_mcp.records.found import State, Wanted
from conversation_mcp.text import counted, dollars
from conversation_mcp.web.desk import Desk, sentence, status_of
from conversation_mcp.web.pages.rows import STATES, rows_of

FILTERS = ("q", "tool", "provider", "model", "tag", "state", "after", "before")
PAGE = 50
MAX_PAGE = 500
PATIENCE_SECONDS = 0.1
"""How long a page waits for what other programs have written; typing and scrolling do not wait at all."""


class Lists:
    """Answers with lists."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def conversations(self, request: Request) -> Response:
        """Return the list, or with `part` only the rows that follow."""
        given = {name: value for name in FILTERS if (value := request.query_params.get(name, "").strip())}
        cursor, is_part = request.query_params.get("cursor"), "part" in request.query_params
        problem, found, status = "", FoundConversations((), None, ()), 200
        try:
            library, wanted = self._desk.app(request).library, _wanted(given)
            if not is_part:
                await library.catch_up(PATIENCE_SECONDS)
            found = await library.look_up(wanted, _limit(request), cursor)
        except ConversationMCPError as error:
            problem, status = sentence(error, request), status_of(error)
        rows = rows_of(found.conversations)
        more = urlencode({**given, "cursor": found.next_cursor}) if found.next_cursor else ""
        template = "rows.html" if is_part else "list.html"
        return self._desk.page(
            request,
            template,
            status,
            given=dict.fromkeys(FILTERS, "") | given,
            states=STATES,
            rows=rows,
            more=more,
            notices=found.notices,
            problem=problem,
            summary=_summary(len(rows), sum(row.cost_usd for row in rows), has_more=bool(more)),
            is_filtered=bool(given),
            is_narrowed=bool(given.keys() - {"q"}),
            deleted=request.query_params.get("deleted", ""),
        )

    async def trash(self, request: Request) -> Response:
        """Return the contents of the trash."""
        can = self._desk.app(request).trash
        entries = [await can.facts_of(each) for each in (await can.entries())[:MAX_PAGE]]
        return self._desk.page(request, "trash.html", entries=entries)


def _wanted(given: Mapping[str, str]) -> Wanted:
    state = given.get("state")
    if state is not None and state not in STATES:
        raise InvalidInputError(f"the state must be one of {', '.join(STATES)}; got {state!r}.")
    try:
        return wanted_of(
            given.get("q", ""),
            state=cast("State | None", state),
            after=given.get("after"),
            before=given.get("before"),
            tags=(given["tag"],) if "tag" in given else (),
            tool=given.get("tool"),
            provider=given.get("provider"),
            model=given.get("model"),
        )
    except ValueError:
        raise InvalidInputError("a date must be written as 2026-01-31.") from None


def _limit(request: Request) -> int:
    """Return how many rows to show: more than a page for who comes back to a long list."""
    limit = request.query_params.get("limit", "")
    return min(max(int(limit), PAGE), MAX_PAGE) if limit.isdecimal() and len(limit) < len(str(MAX_PAGE)) + 1 else PAGE


def _summary(count: int, cost_usd: float, *, has_more: bool) -> str:
    shown = f"{counted(count, 'conversation')}{' so far' if has_more else ''}"
    return f"{shown} · {dollars(cost_usd)}" if cost_usd else shown
