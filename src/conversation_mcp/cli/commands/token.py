"""The command `token`: the tokens that open a server over HTTP."""

import os
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from conversation_mcp.access.token_file import TokenFile, default_tokens_path
from conversation_mcp.access.tokens import IssuedToken
from conversation_mcp.cli.exit_codes import FAILED
from conversation_mcp.cli.options import AsJson
from conversation_mcp.cli.output.terminal import console, is_terminal, printable, put, put_fields, put_json, say
from conversation_mcp.clock import utc_now
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.owners import REQUIREMENT, is_owner
from conversation_mcp.records.ages import age_of
from conversation_mcp.records.models import iso
from conversation_mcp.sources import config_path, variable_of
from conversation_mcp.sources import gather as gather_settings
from conversation_mcp.text import counted

token = typer.Typer()
NONE_YET = "There are no tokens."
MINUTES = len("2026-01-31T12:00")


@token.callback(invoke_without_command=True)
def show_tokens(*, context: typer.Context, as_json: AsJson = False) -> None:
    """Make, list or revoke the tokens that open a server over HTTP.

    Each token opens the conversations of one owner. Only hashes are kept, in tokens.json beside the configuration file
    or where CONVERSATION_MCP_TOKENS_FILE says. A running server follows the file within a second. Without a command,
    lists the tokens.
    """
    if context.invoked_subcommand is None:
        list_tokens(as_json=as_json)
    elif as_json:
        raise InvalidInputError(f"options of token {context.invoked_subcommand} belong after it.")


@token.command("add")
def add_token(
    *,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The owner whose conversations it opens.")],
    expires: Annotated[
        str | None, typer.Option(metavar="AGE", help="How long it is valid, such as 90d. Default: until it is revoked.")
    ] = None,
    may_act_for: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATTERN",
            help="Other owners whom requests may name in the header Conversation-Owner, such as 'user-*'; may be "
            "repeated.",
        ),
    ] = None,
) -> None:
    """Make a token and print it, alone on the last line and only this once.

    An owner may have several, so that one can be replaced before the old one is revoked.
    """
    if not is_owner(name):
        raise InvalidInputError(f"NAME {REQUIREMENT}; got {name!r}.")
    patterns = tuple(dict.fromkeys(may_act_for or ()))
    for pattern in patterns:
        if not is_owner(pattern):
            raise InvalidInputError(f"--may-act-for {REQUIREMENT}; got {pattern!r}.")
    file = _file()
    was_there, now = file.exists, utc_now()
    made, issued = file.add(name, now, expires_at=_expiry(expires, now), may_act_for=patterns)
    if not was_there:
        say("This is the first token: from now on each request to a server over HTTP needs one.")
    say(f"Token {issued.token_id} opens the conversations of {name}. It is shown only now:")
    put(made)


@token.command("list")
def list_tokens(*, as_json: AsJson = False) -> None:
    """List the tokens, without what would open anything.

    In a pipe, each is a line of id, owner, time of its making, end and patterns, separated by tabs.
    """
    tokens, now = _file().read(), utc_now()
    if as_json:
        put_json({"tokens": [_data(each, now) for each in tokens]})
    elif not is_terminal():
        put_fields((each.token_id, *_cells(each, now)) for each in tokens)
    elif tokens:
        _show(tokens, now)
    else:
        say(NONE_YET)


@token.command("revoke")
def revoke_token(
    *,
    name: Annotated[
        str, typer.Argument(metavar="ID", help="The id of a token, as list shows it, or an owner: all of the owner's.")
    ],
) -> None:
    """Revoke tokens. Without any left, a server over HTTP lets nobody in."""
    file = _file()
    removed = file.revoke(name)
    if not removed:
        say(f"There is no token {name!r}. conversation-mcp token list shows them.")
        raise typer.Exit(FAILED)
    left = len(file.read())
    rest = "" if left else " None is left, so a server over HTTP now lets nobody in."
    say(f"Revoked {counted(len(removed), 'token')}: {', '.join(each.token_id for each in removed)}.{rest}")


def _file() -> TokenFile:
    """Return the file of tokens without reading other settings."""
    names = {"tokens_file": (variable_of("tokens_file"),)}
    found = gather_settings(names, {}, os.environ, config_path(), Path.cwd()).values.get("tokens_file")
    return TokenFile(Path.cwd() / Path(str(found)).expanduser() if found else default_tokens_path())


def _expiry(text: str | None, now: datetime) -> datetime | None:
    if text is None:
        return None
    try:
        age = age_of(text)
        moment = None if age is None else now + age
    except OverflowError:
        moment = None
    if moment is None:
        raise InvalidInputError(f"--expires must be an age such as 12h, 90d or 1y; got {text!r}.")
    return moment


def _data(issued: IssuedToken, now: datetime) -> dict[str, object]:
    kept = issued.model_dump(mode="json", by_alias=True, exclude={"hash"}, exclude_defaults=True)
    return {"tokenId": issued.token_id, **kept, "isValid": issued.is_valid(now)}


def _cells(issued: IssuedToken, now: datetime) -> tuple[str, ...]:
    over = "" if issued.is_valid(now) else " (over)"
    end = "never" if issued.expires_at is None else iso(issued.expires_at)[:MINUTES] + over
    return issued.owner, iso(issued.created_at)[:MINUTES], end, " ".join(issued.may_act_for)


def _show(tokens: tuple[IssuedToken, ...], now: datetime) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for heading in ("id", "owner", "made (UTC)", "ends (UTC)", "may act for"):
        table.add_column(heading, overflow="fold")
    for each in tokens:
        table.add_row(each.token_id, *map(printable, _cells(each, now)))
    console().print(table)
