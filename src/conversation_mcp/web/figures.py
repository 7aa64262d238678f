"""The page of costs and turns."""

from typing import Literal, cast, get_args

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response

from conversation_mcp.conversations.phrases import skipped
from conversation_mcp.conversations.prices import Prices
from conversation_mcp.conversations.statistics import Statistics, statistics
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.records.facts import milliseconds_of
from conversation_mcp.stores.headway import Headway
from conversation_mcp.text import dollars
from conversation_mcp.web.desk import Desk
from conversation_mcp.web.pages.charts import figures_of

ShownBy = Literal["day", "provider", "model", "tool"]


class FiguresPage:
    """Answers with sums of everything, the trash included, as the command `stats` counts."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def page(self, request: Request) -> Response:
        """Return the sums by day, provider, model or tool, since a day if one is given."""
        app = self._desk.app(request)
        by, since = request.query_params.get("by", "day"), request.query_params.get("since", "").strip()
        if by not in get_args(ShownBy):
            raise InvalidInputError(f"sums are by {', '.join(get_args(ShownBy))}; got {by!r}.")
        try:
            since_milliseconds = milliseconds_of(since) if since else None
        except ValueError:
            raise InvalidInputError("a date must be written as 2026-01-31.") from None

        def sums() -> tuple[Statistics, str]:
            prices = Prices(app.providers.catalogue.load())
            found = statistics(app.store.finder, cast("ShownBy", by), since_milliseconds, prices, Headway())
            return found, str(prices.date)

        found, date = await to_thread.run_sync(sums)
        estimated = found.total.estimated_usd
        return self._desk.page(
            request,
            "figures.html",
            by=by,
            ways=get_args(ShownBy),
            since=since,
            figures=figures_of(found),
            estimate=dollars(estimated) if estimated else "",
            prices_date=date,
            problems=skipped(len(found.problems), found.problems) if found.problems else "",
        )
