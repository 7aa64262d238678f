"""What `import` does: reads, stores, and says what became of it all."""

import math
from collections.abc import Generator, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import anyio
from pydantic.alias_generators import to_camel

from conversation_mcp.cli.entry import FAILED, WrongUsageError
from conversation_mcp.cli.output.progress import bytes_progress
from conversation_mcp.cli.output.terminal import put, put_json, say
from conversation_mcp.cli.questions.interrupts import Interrupt, interrupts
from conversation_mcp.cli.setup import settings_from
from conversation_mcp.clock import utc_now
from conversation_mcp.disk.files import make_private_folder
from conversation_mcp.disk.locks import LockFolder
from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.importing.base import Item, LeftOut, ReadOptions
from conversation_mcp.importing.catalog import import_formats
from conversation_mcp.importing.importer import Importer, Outcome, Report
from conversation_mcp.importing.recognition import Recognition, plan_of
from conversation_mcp.importing.sources import list_files
from conversation_mcp.settings import Settings
from conversation_mcp.stores.catalog import build_store
from conversation_mcp.text import shorten

SHOWN_PROBLEMS, MAX_NAMED_CHARS = 20, 200
LOCK = "import.lock"
WAITING = "Waiting for another import into this folder to end."
STOPPING = "Stopping after this conversation."
OUTCOMES: dict[Outcome, str] = {
    "imported": "imported",
    "extended": "extended by what is new",
    "unchanged": "there already",
    "changed": "changed at their source since, left as they are here",
    "deleted": "deleted here, not brought back",
    "empty": "without any message",
    "problem": "skipped",
}
LEFT_OUT: dict[LeftOut, str] = {
    "tool messages": "calls of tools and their results",
    "hidden messages": "hidden messages",
    "attachments": "attachments",
    "other branches": "other branches",
    "citation marks": "marks of sources that are not told",
}


@dataclass(frozen=True)
class Wish:
    """What is to be imported, and how."""

    path: Path
    file_format: str | None
    dry_run: bool
    all_branches: bool
    deleted: bool


def run_import(wish: Wish, logs_dir: Path | None, *, as_json: bool) -> int:
    """Import, say what became of it, and return the exit code.

    Raises:
        WrongUsageError: the folder of the conversations itself was named.
        ConversationMCPError: there is nothing to import, or the store cannot be used.
    """
    settings = settings_from({"logs_dir": logs_dir}).settings
    if wish.path.resolve() == settings.logs_dir.resolve():
        raise WrongUsageError(f"{wish.path} is the folder of the conversations; they are there already.")
    plan = plan_of(list_files(wish.path), import_formats(), wish.file_format)
    store = build_store("files", settings, utc_now)
    importer = Importer(store, utc_now, dry_run=wish.dry_run, deleted=wish.deleted)
    alone = nullcontext() if wish.dry_run else _alone(settings.logs_dir)
    with (
        alone,
        interrupts(STOPPING) as interrupt,
        bytes_progress("importing", plan.total_bytes) as progress,
    ):
        reading = ReadOptions(utc_now(), wish.all_branches, progress)
        failure = anyio.run(_import, importer, plan.items(reading), interrupt)
    if as_json:
        put_json(_data(importer.report, plan, wish))
    else:
        _show(importer.report, plan, wish, settings)
    if failure is not None:
        raise failure
    if interrupt.number is not None:
        say("Stopped; what was imported is whole. The same command goes on.")
        return interrupt.exit_code
    return FAILED if importer.report.counts["problem"] else 0


async def _import(
    importer: Importer, items: Iterator[tuple[str, Item]], interrupt: Interrupt
) -> ConversationMCPError | None:
    with interrupt.scope():
        try:
            await importer.run(items)
        except ConversationMCPError as error:
            return error  # raised when it was said what is there already
    return None


@contextmanager
def _alone(folder: Path) -> Generator[None]:
    """Keep other imports into the folder out: each would bring in what it does not see there yet."""
    locks = LockFolder(folder / ".locks")
    if locks.is_locked(LOCK):
        say(WAITING)
    with locks.hold(LOCK, lambda: make_private_folder(folder), math.inf):
        yield


def _show(report: Report, plan: Recognition, wish: Wish, settings: Settings) -> None:
    for problem in report.problems[:SHOWN_PROBLEMS]:
        say(f"{problem.place}: {problem.reason}")
    if (more := report.counts["problem"] + report.counts["changed"] - SHOWN_PROBLEMS) > 0:
        say(f"… and {more:,} more; --json names up to 1,000.")
    titles = ", ".join(chosen.title for chosen, _ in plan.groups.values())
    put(f"{titles}{', dry run: nothing was written' if wish.dry_run else f', to {settings.logs_dir}'}")
    for name, words in OUTCOMES.items():
        if count := report.counts[name]:
            put(f"{count:>9,}  {words}")
    if report.undated:
        put(f"{report.undated:>9,}  of them without a time of their own; it is that of the import")
    left_out = {**LEFT_OUT, **_named(report)}
    counted = [f"{words} ({report.left_out[name]:,})" for name, words in left_out.items() if report.left_out[name]]
    if counted:
        put(f"Left out: {', '.join(counted)}.")
    if report.left_out["other branches"]:
        put("--all-branches imports the other branches, too.")
    if report.counts["deleted"]:
        put("--deleted brings in what was deleted here, too.")
    if plan.others:
        named = f": {shorten(', '.join(plan.unread), MAX_NAMED_CHARS)}" if plan.unread else "."
        put(f"{plan.others:,} other file{' was' if plan.others == 1 else 's were'} not read{named}")


def _named(report: Report) -> dict[str, str]:
    """Return what no rule names, by the names that the source has for it."""
    return {name: name for name in sorted(report.left_out) if name not in LEFT_OUT and report.left_out[name]}


def _data(report: Report, plan: Recognition, wish: Wish) -> dict[str, object]:
    return {
        "dryRun": wish.dry_run,
        "formats": {name: [file.name for file in files] for name, (_, files) in plan.groups.items()},
        "otherFiles": plan.others,
        "unreadFiles": plan.unread,
        "conversations": {name: report.counts[name] for name in OUTCOMES},
        "undated": report.undated,
        "leftOut": {to_camel(name.replace(" ", "_")): report.left_out[name] for name in LEFT_OUT},
        "leftOutByName": {name: report.left_out[name] for name in _named(report)},
        "problems": [{"place": problem.place, "reason": problem.reason} for problem in report.problems],
    }
