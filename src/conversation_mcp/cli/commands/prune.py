"""The command `prune`: moves old conversations to the trash or the archive."""

from collections.abc import AsyncGenerator, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from conversation_mcp.cli.changes.session import opened
from conversation_mcp.cli.exit_codes import FAILED
from conversation_mcp.cli.options import AsJson, LogsDir, Owner
from conversation_mcp.cli.output.terminal import is_terminal, put, put_fields, put_json, say
from conversation_mcp.cli.output.times import when
from conversation_mcp.cli.setup import settings_from
from conversation_mcp.clock import utc_now
from conversation_mcp.conversations.pruner import Action, Pruned, PrunePlan
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.records.ages import age_of
from conversation_mcp.records.models import parse_time
from conversation_mcp.stores.catalog import lifetime_in
from conversation_mcp.text import shorten

if TYPE_CHECKING:
    from conversation_mcp.app import App

DONE: Mapping[Action, str] = {"trash": "in the trash", "archive": "archived"}
SHOWN_CHARS = 40


def prune(
    *,
    older_than: Annotated[
        str | None,
        typer.Option(metavar="AGE", help="Move conversations older than this to the trash: 36h, 90d, 12w, 2y."),
    ] = None,
    apply: Annotated[bool, typer.Option("--apply", help="Do it; without this, only show it.")] = False,
    as_json: AsJson = False,
    logs_dir: LogsDir = None,
    owner: Owner = None,
) -> None:
    """Put old conversations away.

    The age of a conversation is the time since its last update. Those older than CONVERSATION_TIMEOUT_HOURS, if it is
    set, are archived. Conversations with tags or a question without an answer are kept. In a pipe, each is a line of
    action, id, time of the last change and title, separated by tabs.
    """
    settings = settings_from({"logs_dir": logs_dir, "owner": owner}).settings
    # A store that forgets by itself takes the hours for that, and archives nothing.
    hours, forgets = settings.conversation_timeout_hours, lifetime_in(settings.store_url, None) is not None
    ages = _ages(older_than, None if forgets else hours)

    async def work(app: "App") -> int:
        plan = await app.pruner.plan(ages)
        for problem in plan.problems:
            say(problem)
        done: list[Pruned] = []
        async for pruned in app.pruner.carry_out(plan) if apply else _as_planned(plan):
            done.append(pruned)
            if pruned.problem:
                say(pruned.problem)
            if not as_json:
                _put(pruned, _outcome(pruned) if apply else pruned.action)
        if as_json:
            put_json(_data(plan, done, applied=apply))
        else:
            say(_summary(plan, done, applied=apply))
        return FAILED if any(pruned.problem for pruned in done) else 0

    raise typer.Exit(opened(settings, work))


async def _as_planned(plan: PrunePlan) -> AsyncGenerator[Pruned]:
    for action, facts in plan.old:
        yield Pruned(action, facts)


def _ages(older_than: str | None, timeout_hours: float | None) -> dict[Action, timedelta]:
    ages: dict[Action, timedelta] = {}
    if older_than is not None:
        age = age_of(older_than)
        if age is None:
            raise InvalidInputError(
                f"--older-than must be an age such as 36h, 90d, 12w or 2y; got {shorten(older_than, SHOWN_CHARS)!r}."
            )
        ages["trash"] = age
    if timeout_hours is not None:
        ages["archive"] = timedelta(hours=timeout_hours)
    if not ages:
        raise InvalidInputError("no age is given: add --older-than, or set CONVERSATION_TIMEOUT_HOURS.")
    return ages


def _put(pruned: Pruned, what: str) -> None:
    facts = pruned.facts
    if is_terminal():
        updated = when(parse_time(facts.updated_at), utc_now().astimezone())
        put(f"{what:<12}  {facts.conversation_id}  {updated:<10}  {facts.title}")
    else:
        put_fields([(what, facts.conversation_id, facts.updated_at, facts.title)])


def _outcome(pruned: Pruned) -> str:
    return "failed" if pruned.problem else "kept" if pruned.is_kept else DONE[pruned.action]


def _data(plan: PrunePlan, pruned: list[Pruned], *, applied: bool) -> dict[str, Any]:
    return {
        "applied": applied,
        "conversations": [
            {
                "action": each.action,
                "conversationId": each.facts.conversation_id,
                "title": each.facts.title,
                "updatedAt": each.facts.updated_at,
                **({"outcome": _outcome(each)} if applied else {}),
                **({"problem": each.problem} if each.problem else {}),
            }
            for each in pruned
        ],
        "keptCount": plan.kept_count,
        "unreadableCount": plan.unreadable_count,
        "problems": list(plan.problems),
    }


def _summary(plan: PrunePlan, pruned: list[Pruned], *, applied: bool) -> str:
    done = [each for each in pruned if not each.problem and not each.is_kept]
    counts = {action: sum(each.action == action for each in done) for action in DONE}
    moved, put_away = ("moved to the trash", "archived") if applied else ("to the trash", "to archive")
    parts = [f"{counts['trash']} {moved}", f"{counts['archive']} {put_away}"]
    if kept := plan.kept_count + sum(each.is_kept for each in pruned):
        parts.append(f"{kept} kept, with tags or a question without an answer")
    return f"{'; '.join(parts)}.{' Do it with --apply.' if done and not applied else ''}"
