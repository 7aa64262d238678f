"""The command `copy`: copies conversations from one store into another."""

import os
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import anyio
import typer

from conversation_mcp.cli.exit_codes import FAILED
from conversation_mcp.cli.options import AsJson
from conversation_mcp.cli.output.terminal import put_fields, put_json, say
from conversation_mcp.cli.users.noting import note
from conversation_mcp.clock import utc_now
from conversation_mcp.conversations.copier import Copied, Copier, Outcome
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.owners import LOCAL, REQUIREMENT, is_owner
from conversation_mcp.sources import config_path, encryption_of, store_url
from conversation_mcp.stores.base import Store
from conversation_mcp.stores.catalog import can_be_encrypted, open_retention, open_store, owners_in
from conversation_mcp.stores.retention import Retention

if TYPE_CHECKING:
    from conversation_mcp.sealing.keys import Encryption

Told = tuple[str, Copied]
WORDS: dict[Outcome, str] = {
    "copied": "copied",
    "same": "there already",
    "different": "there already, with other content: they were left alone",
    "running": "left out, because a question is being answered",
    "failed": "failed",
}


def copy(
    *,
    source: Annotated[str, typer.Option("--from", metavar="FOLDER|URL", help="Where they are.")],
    target: Annotated[str, typer.Option("--to", metavar="FOLDER|URL", help="Where they are to be, too.")],
    owner: Annotated[
        str | None, typer.Option(metavar="NAME", help="Whose conversations alone. Default: everybody's.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only compare; write nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Copy conversations from a folder or database into another.

    Attachments, the trash, all owners and the ages of user keep come along; nothing is changed where they are. Each
    copy is read back and compared by its hash. What is there already is compared and left alone, so the same command
    continues one that was stopped. A folder is read and written with the encryption key of the settings, if there is
    one; in a database, nothing is encrypted. Each conversation is a line of
    outcome, owner, id and "deleted" if it is in the trash, separated by tabs. The exit code is 1 if one is missing or
    different afterwards.
    """
    if owner is not None and not is_owner(owner):
        raise InvalidInputError(f"--owner {REQUIREMENT}; got {owner!r}.")
    urls = _url(source), _url(target)
    if urls[0] == urls[1]:
        raise InvalidInputError("--from and --to are the same place.")
    owners = [owner] if owner is not None else list(owners_in(urls[0]))
    done: list[Told] = []
    encryption = encryption_of(os.environ, config_path(), Path.cwd())
    try:
        for each in owners:
            if each != LOCAL:
                note(urls[0], each, "copy")
            stores = [_store(url, each, encryption) for url in urls]
            anyio.run(partial(_copy, Copier(*stores, dry_run=dry_run), each, done, as_json=as_json))
            if not dry_run:
                _copy_age(each, *map(open_retention, urls))
    finally:
        # After a failure, too: what was copied before it stays copied.
        if as_json:
            put_json({"dryRun": dry_run, "conversations": [_data(*each) for each in done]})
        _say(done, dry_run=dry_run)
    raise typer.Exit(FAILED if any(each.outcome not in ("copied", "same") for _, each in done) else 0)


async def _copy(copier: Copier, owner: str, done: list[Told], *, as_json: bool) -> None:
    async for copied in copier.run():
        done.append((owner, copied))
        if copied.problem:
            say(copied.problem)
        if not as_json:
            deleted = ("deleted",) if copied.is_deleted else ()
            put_fields([(copied.outcome, owner, copied.conversation_id, *deleted)])


def _copy_age(owner: str, source: Retention, target: Retention) -> None:
    age = source.ages().get(owner)
    if age is not None and owner not in target.ages():
        target.put(owner, age)


def _store(url: str, owner: str, encryption: "Encryption | None") -> Store:
    return open_store(url, utc_now, owner, encryption=encryption if can_be_encrypted(url) else None)


def _url(place: str) -> str:
    return place if "://" in place else store_url(None, Path(place).expanduser())


def _say(done: list[Told], *, dry_run: bool) -> None:
    counts = Counter(each.outcome for _, each in done)
    told = [f"{counts[outcome]:,} {words}" for outcome, words in WORDS.items() if counts[outcome]]
    say(f"{'Dry run, nothing was written: ' if dry_run else ''}{'; '.join(told) or 'there are no conversations'}.")


def _data(owner: str, copied: Copied) -> dict[str, Any]:
    return {
        "owner": owner,
        "conversationId": copied.conversation_id,
        "outcome": copied.outcome,
        **({"deleted": True} if copied.is_deleted else {}),
        **({"problem": copied.problem} if copied.problem else {}),
    }
