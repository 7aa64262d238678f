"""The command `owners`: whose conversations there are."""

from collections.abc import Mapping
from typing import Any

from conversation_mcp.cli.options import AsJson, LogsDir
from conversation_mcp.cli.output.progress import progress
from conversation_mcp.cli.output.terminal import console, is_terminal, printable, put_fields, put_json, say
from conversation_mcp.cli.setup import finder_of, settings_from
from conversation_mcp.conversations.phrases import skipped
from conversation_mcp.conversations.prices import Prices
from conversation_mcp.conversations.statistics import COST_DIGITS, Statistics, statistics
from conversation_mcp.providers.model_facts import Catalogue
from conversation_mcp.stores.catalog import open_retention, owners_in
from conversation_mcp.stores.headway import Headway
from conversation_mcp.text import dollars

COUNTING = "reading the conversations"


def owners(*, as_json: AsJson = False, logs_dir: LogsDir = None) -> None:
    """Show whose conversations there are, with counts and cost.

    The owner local is who runs the program; the others came with the tokens of a server over HTTP, or with --owner. In
    a pipe, each is a line of name, conversations, answered questions, cost, and the age of user keep or nothing,
    separated by tabs.
    """
    settings, headway = settings_from({"logs_dir": logs_dir}).settings, Headway()
    prices = Prices(Catalogue(settings.models).load())
    with progress(COUNTING, headway):
        found = {
            owner: statistics(finder_of(settings, owner), "provider", None, prices, headway)
            for owner in owners_in(settings.store_url)
        }
    ages = open_retention(settings.store_url).ages()
    problems = [problem for each in found.values() for problem in each.problems]
    if problems:
        say(f"Notice: {skipped(len(problems), problems)}.")
    if as_json:
        put_json({"owners": [_data(owner, each, ages) for owner, each in found.items()]})
    elif is_terminal():
        _show(found, ages)
    else:
        put_fields((owner, *_cells(each), ages.get(owner, "")) for owner, each in found.items())


def _data(owner: str, found: Statistics, ages: Mapping[str, str]) -> dict[str, Any]:
    total = found.total
    estimated = {"estimatedCostUsd": round(total.estimated_usd, COST_DIGITS)} if total.estimated_usd else {}
    return {
        "owner": owner,
        "conversationCount": found.conversation_count,
        "turns": total.answered,
        "costUsd": round(total.cost_usd, COST_DIGITS),
        **estimated,
        **({"keep": ages[owner]} if owner in ages else {}),
    }


def _cells(found: Statistics) -> tuple[str, ...]:
    about = "~" if found.total.estimated_usd else ""
    return str(found.conversation_count), str(found.total.answered), about + dollars(found.total.cost_usd)


def _show(found: dict[str, Statistics], ages: Mapping[str, str]) -> None:
    from rich.table import Table

    if not found:
        say("There are no conversations.")
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("owner", overflow="fold")
    for heading in ("conversations", "turns", "cost", "keep"):
        table.add_column(heading, justify="right", no_wrap=True)
    for owner, each in found.items():
        table.add_row(printable(owner), *_cells(each), printable(ages.get(owner, "")))
    console().print(table)
