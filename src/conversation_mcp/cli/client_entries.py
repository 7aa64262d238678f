"""What a client's file says with this server in it: the text there was, changed in one place."""

import json
import tomllib
from collections.abc import Mapping
from typing import Any, cast

from conversation_mcp.cli.clients import SERVER_NAME, Client, Launch
from conversation_mcp.cli.json_text import members_of, with_member


class CannotEditError(Exception):
    """The file is not changed; the message says why."""


def edited(text: str, client: Client, launch: Launch) -> str:
    """Return the text with the server in it; the same text when it stands there as it should.

    Raises:
        CannotEditError: the text cannot be changed without a risk for the rest of it.
    """
    return _edited_toml(text, client, launch) if client.form == "toml" else _edited_json(text, client, launch)


def _edited_json(text: str, client: Client, launch: Launch) -> str:
    try:
        before: object = members_of(text, client.key).get(SERVER_NAME)
        if not isinstance(before, dict | None):
            raise CannotEditError(f"{SERVER_NAME!r} is no object in it")
        entry = _merged(cast("Mapping[str, Any]", before or {}), launch.entry(client.fields))
        return text if entry == before else with_member(text, (client.key, SERVER_NAME), entry)
    except json.JSONDecodeError as error:
        what = "has comments" if "//" in text or "/*" in text else "is not plain JSON"
        raise CannotEditError(f"it {what} (line {error.lineno}, column {error.colno})") from None
    except (ValueError, IndexError, RecursionError) as error:
        raise CannotEditError(str(error)) from None


def _merged(before: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry with what a person had added to it: variables, and arguments where the program is the same."""
    if "url" in before:
        raise CannotEditError(f"it has another server by the name {SERVER_NAME!r}")
    merged = {**before, **entry}
    if "args" not in entry and before.get("command") != entry["command"]:
        merged.pop("args", None)
    if "env" in entry:
        merged["env"] = {**before.get("env", {}), **entry["env"]}
    return merged


def _edited_toml(text: str, client: Client, launch: Launch) -> str:
    wanted = launch.entry(client.fields)
    try:
        before = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CannotEditError(f"it is not valid TOML: {error}") from None
    servers: object = before.get(client.key, {})
    if not isinstance(servers, dict):
        raise CannotEditError(f"{client.key!r} is no table in it")
    there = cast("Mapping[str, Any]", servers).get(SERVER_NAME)
    if there is not None:
        if isinstance(there, dict) and {**there, **wanted} == there:
            return text
        raise CannotEditError(f"it has another [{client.key}.{SERVER_NAME}]")
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text else newline if text.endswith("\n") else newline * 2
    changed = text + gap + client.snippet(launch).replace("\n", newline)
    try:
        after = tomllib.loads(changed)
    except tomllib.TOMLDecodeError:
        after = {}
    if after != {**before, client.key: {**servers, SERVER_NAME: wanted}}:
        raise CannotEditError("it is written in a way that cannot be changed safely")
    return changed
