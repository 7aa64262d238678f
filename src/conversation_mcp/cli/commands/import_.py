"""The command `import`: reads conversations from exports of other programs."""

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import anyio
import typer
from pydantic.alias_generators import to_camel

from conversation_mcp.cli.exit_codes import FAILED
from conversation_mcp.cli.options import AsJson, LogsDir, Owner
from conversation_mcp.cli.output.progress import bytes_progress
from conversation_mcp.cli.output.terminal import put, put_json, say
from conversation_mcp.cli.questions.interrupts import Interrupt, interrupts
from conversation_mcp.cli.setup import settings_from
from conversation_mcp.clock import utc_now
from conversation_mcp.errors import ConversationMCPError, InvalidInputError
from conversation_mcp.importing.base import Item, LeftOut, ReadOptions
from conversation_mcp.importing.catalog import IMPORT_FORMATS, import_formats
from conversation_mcp.importing.importer import Importer, Outcome, Report
from conversation_mcp.importing.recognition import Recognition, plan_of
from conversation_mcp.importing.sources import list_files
from conversation_mcp.redacting.redactor import named_counts
from conversation_mcp.redacting.texts import TextRedaction
from conversation_mcp.stores.catalog import open_store
from conversation_mcp.text import shorten

AUTO = "auto"
SHOWN_PROBLEMS, MAX_NAMED_CHARS = 20, 200
WAITING = "Waiting for another import into this folder to end."
STOPPING = "Stopping after this conversation."
OUTCOMES: dict[Outcome, str] = {
    "imported": "imported",
    "extended": "extended by new messages",
    "unchanged": "already here",
    "changed": "changed at their source since, left as they are here",
    "deleted": "deleted here, not brought back",
    "empty": "without messages",
    "problem": "skipped",
}
LEFT_OUT: dict[LeftOut, str] = {
    "tool messages": "calls of tools and their results",
    "hidden messages": "hidden messages",
    "attachments": "attachments",
    "other branches": "other branches",
    "citation marks": "marks of sources that are not told",
}


def import_(
    *,
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="A file, a folder or a zip archive, which is not unpacked.")
    ],
    file_format: Annotated[
        str,
        typer.Option("--format", metavar="FORMAT", help=f"auto, by the content, or {', '.join(IMPORT_FORMATS)}."),
    ] = AUTO,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count; write nothing.")] = False,
    all_branches: Annotated[
        bool, typer.Option("--all-branches", help="Also import earlier versions of questions and answers, as branches.")
    ] = False,
    deleted: Annotated[
        bool, typer.Option("--deleted", help="Also import what was deleted here, to the trash or for good.")
    ] = False,
    as_json: AsJson = False,
    logs_dir: LogsDir = None,
    owner: Owner = None,
) -> None:
    """Bring in conversations from ChatGPT, Claude, Claude Code and others.

    Importing again adds only what is new, and nothing that was deleted here. Times and titles are kept. What cannot be
    read is named and left out, and the exit code is then 1. No provider is asked, and nothing is sent.
    """
    if file_format not in {AUTO, *IMPORT_FORMATS}:
        raise InvalidInputError(f"--format must be {AUTO} or one of {', '.join(IMPORT_FORMATS)}; got {file_format!r}.")
    settings = settings_from({"logs_dir": logs_dir, "owner": owner}).settings
    hours, encryption = settings.conversation_timeout_hours, settings.encryption
    store = open_store(
        settings.store_url,
        utc_now,
        settings.owner,
        encryption=encryption,
        timeout_hours=hours,
        mirror=settings.mirror,
    )
    folder = store.finder.folder
    if folder is not None and path.resolve() == folder.resolve():
        raise InvalidInputError(f"{path} is the folder of the conversations itself; there is nothing to import.")
    plan = plan_of(list_files(path), import_formats(), None if file_format == AUTO else file_format)
    importer = Importer(store, utc_now, TextRedaction(settings.redact), dry_run=dry_run, deleted=deleted)
    # Two imports at the same time would not see each other's conversations and import them twice.
    alone = nullcontext() if dry_run else store.import_alone(lambda: say(WAITING))
    with (
        alone,
        interrupts(STOPPING) as interrupt,
        bytes_progress("importing", plan.total_bytes) as progress,
    ):
        reading = ReadOptions(utc_now(), all_branches, progress)
        failure = anyio.run(_import, importer, plan.items(reading), interrupt)
    if as_json:
        put_json({"dryRun": dry_run, **_data(importer.report, plan)})
    else:
        _show(importer.report, plan, "dry run: nothing was written" if dry_run else f"to {store.finder.place}")
    if failure is not None:
        raise failure
    if interrupt.number is not None:
        say("Stopped; what was imported is complete. Run the same command to continue.")
        raise typer.Exit(interrupt.exit_code)
    raise typer.Exit(FAILED if importer.report.counts["problem"] else 0)


async def _import(
    importer: Importer, items: Iterator[tuple[str, Item]], interrupt: Interrupt
) -> ConversationMCPError | None:
    with interrupt.scope():
        try:
            await importer.run(items)
        except ConversationMCPError as error:
            return error  # raised after the report of what was imported before it
    return None


def _show(report: Report, plan: Recognition, where: str) -> None:
    for problem in report.problems[:SHOWN_PROBLEMS]:
        say(f"{problem.place}: {problem.reason}")
    if (more := report.counts["problem"] + report.counts["changed"] - SHOWN_PROBLEMS) > 0:
        say(f"… and {more:,} more; --json names up to 1,000.")
    titles = ", ".join(chosen.title for chosen, _ in plan.groups.values())
    put(f"{titles}, {where}")
    for name, words in OUTCOMES.items():
        if count := report.counts[name]:
            put(f"{count:>9,}  {words}")
    if report.undated:
        put(f"{report.undated:>9,}  of them without a time of their own; they got that of the import")
    left_out = {**LEFT_OUT, **_named(report)}
    counted = [f"{words} ({report.left_out[name]:,})" for name, words in left_out.items() if report.left_out[name]]
    if counted:
        put(f"Left out: {', '.join(counted)}.")
    _show_more(report, plan)


def _show_more(report: Report, plan: Recognition) -> None:
    if report.redacted:
        put(f"Redacted: {named_counts(report.redacted)}.")
    if report.left_out["other branches"]:
        put("--all-branches imports the other branches, too.")
    if report.counts["deleted"]:
        put("--deleted brings in what was deleted here, too.")
    if plan.others:
        named = f": {shorten(', '.join(plan.unread), MAX_NAMED_CHARS)}" if plan.unread else "."
        put(f"{plan.others:,} other file{' was' if plan.others == 1 else 's were'} not read{named}")


def _named(report: Report) -> dict[str, str]:
    """Return what was left out without a rule of its own, by the names in the source."""
    return {name: name for name in sorted(report.left_out) if name not in LEFT_OUT and report.left_out[name]}


def _data(report: Report, plan: Recognition) -> dict[str, object]:
    return {
        "formats": {name: [file.name for file in files] for name, (_, files) in plan.groups.items()},
        "otherFiles": plan.others,
        "unreadFiles": plan.unread,
        "conversations": {name: report.counts[name] for name in OUTCOMES},
        "undated": report.undated,
        "redacted": dict(report.redacted),
        "leftOut": {to_camel(name.replace(" ", "_")): report.left_out[name] for name in LEFT_OUT},
        "leftOutByName": {name: report.left_out[name] for name in _named(report)},
        "problems": [{"place": problem.place, "reason": problem.reason} for problem in report.problems],
    }
