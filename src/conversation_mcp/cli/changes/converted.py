"""What `encrypt` and `decrypt` share: what there is to do, the work, and what is said of it."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import typer

from conversation_mcp.cli.exit_codes import FAILED
from conversation_mcp.cli.output.progress import progress
from conversation_mcp.cli.output.terminal import put, put_json, say
from conversation_mcp.cli.setup import settings_from
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.stores.catalog import open_converter, owners_in
from conversation_mcp.stores.conversion import Converter, Convertible, Goal
from conversation_mcp.stores.headway import Headway
from conversation_mcp.text import counted

LABELS: Mapping[Goal, str] = {"encrypt": "encrypting", "decrypt": "decrypting", "rotate": "changing the keys"}
DONE: Mapping[Goal, str] = {"encrypt": "encrypted", "decrypt": "decrypted", "rotate": "changed"}
NO_KEY = "there is no encryption key: set CONVERSATION_MCP_ENCRYPTION_KEY or CONVERSATION_MCP_ENCRYPTION_KEY_FILE."


class Work(NamedTuple):
    """The converters by owner."""

    converters: Mapping[str, Converter]


def work_of(logs_dir: Path | None) -> Work:
    """Return the work on the store of the settings, for all its owners.

    Raises:
        InvalidInputError: no key is set, or the store cannot be encrypted.
    """
    settings = settings_from({"logs_dir": logs_dir}).settings
    if (encryption := settings.encryption) is None:
        raise InvalidInputError(NO_KEY)
    if not encryption.masters:
        raise InvalidInputError(NO_KEY)
    url = settings.store_url
    return Work({owner: open_converter(url, owner, encryption) for owner in owners_in(url)})


def convert(work: Work, goal: Goal, afterwards: str, *, applied: bool, as_json: bool) -> None:
    """Show what there is to do, and do it if that was asked for; exit with 1 if something could not be done."""
    found = {owner: converter.look(goal) for owner, converter in work.converters.items()}
    total = Convertible()
    for each in found.values():
        total = total.plus(each)
    problems = list(_done(work, goal)) if applied else []
    if as_json:
        counts: dict[str, Any] = {**total._asdict()}
        put_json({"goal": goal, "applied": applied, **counts, "problems": problems})
    else:
        for problem in problems:
            say(f"Problem: {problem}")
        put(_summary(total, goal, applied=applied, has_problems=bool(problems)))
        if applied and not problems:
            say(afterwards)
    raise typer.Exit(FAILED if problems else 0)


def _done(work: Work, goal: Goal) -> Iterator[str]:
    for converter in work.converters.values():
        headway = Headway()
        with progress(LABELS[goal], headway):
            yield from converter.convert(goal, headway)


def _summary(total: Convertible, goal: Goal, *, applied: bool, has_problems: bool) -> str:
    parts = [
        counted(total.conversations, "conversation"),
        counted(total.contents, "content"),
        counted(total.calls, "call"),
    ]
    what = counted(total.keys, "key") if goal == "rotate" else ", ".join(parts)
    removed = f"; {counted(total.exports, 'export')} beside conversations to remove" if total.exports else ""
    if not any(total):
        return "Nothing is left to do."
    if not applied:
        return f"{what} to be {DONE[goal]}{removed}. Do it with --apply."
    if has_problems:
        return "Not everything could be done; what was done stays. See the problems above, then run it again."
    return f"{what} {DONE[goal]}{removed.replace(' to remove', ' removed')}."
