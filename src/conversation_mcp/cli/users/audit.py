"""The command `user audit`: who exported, deleted or looked at whose conversations."""

from typing import Annotated, cast

import typer

from conversation_mcp.cli.exit_codes import FAILED
from conversation_mcp.cli.options import AsJson, LogsDir
from conversation_mcp.cli.output.terminal import put_fields, put_json, say
from conversation_mcp.cli.setup import store_url_from
from conversation_mcp.clock import utc_now
from conversation_mcp.records.audit import FIRST, AuditLine, checked
from conversation_mcp.records.hashes import hash_of
from conversation_mcp.stores.catalog import open_audit
from conversation_mcp.text import counted

SHOWN = ("time", "actor", "via", "owner", "action")


def audit_users(
    *,
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Only what was done with the data of this user.")
    ] = None,
    verify: Annotated[bool, typer.Option("--verify", help="Check the chain of hashes, and show only breaks.")] = False,
    as_json: AsJson = False,
    logs_dir: LogsDir = None,
) -> None:
    """Show who exported, deleted or looked at the conversations of others.

    Each is a line of time, who did it, by which way, whose data it was, what was done, and the ids of conversations,
    separated by tabs. Each line names the hash of the line before it; --verify says where that is broken.
    """
    trail = open_audit(store_url_from(logs_dir), utc_now)
    lines = [*trail.lines()]
    found, last = [*checked(lines)], hash_of(lines[-1]) if lines else FIRST
    broken = [line for line in found if line.problem]
    shown = broken if verify else [line for line in found if name is None or line.data.get("owner") == name]
    if as_json:
        put_json({"lines": [_data(line) for line in shown], "lineCount": len(found), "lastHash": last})
    elif verify:
        for line in broken:
            say(f"Line {line.number} {line.problem}.")
        say(f"{trail.place}: {counted(len(found), 'line')}, {_verdict(broken)}; the hash of the last one is {last}.")
    else:
        put_fields((*(line.data.get(field, "") for field in SHOWN), _targets(line)) for line in shown)
        for line in broken:
            say(f"Notice: line {line.number} of the audit trail {line.problem}.")
    raise typer.Exit(FAILED if broken and verify else 0)


def _data(line: AuditLine) -> dict[str, object]:
    return {"number": line.number, **line.data, **({"problem": line.problem} if line.problem else {})}


def _targets(line: AuditLine) -> str:
    targets: object = line.data.get("targets")
    return " ".join(map(str, cast("list[object]", targets))) if isinstance(targets, list) else ""


def _verdict(broken: list[AuditLine]) -> str:
    return f"broken at {counted(len(broken), 'line')}" if broken else "none of them changed, none removed between them"
