"""Adds this server's entry to the text of a client's file and leaves the rest of the text as it is."""

import json
import tomllib
from collections.abc import Mapping
from typing import Any, cast

from conversation_mcp.cli.clients.catalog import BRIDGE, SERVER_NAME, Client, Target
from conversation_mcp.cli.clients.json_text import members_of, with_member
from conversation_mcp.cli.clients.toml_table import UNSAFE, with_values


class CannotEditError(Exception):
    """The file cannot be changed safely; the message says why."""


def edited(text: str, client: Client, target: Target) -> str:
    """Return the text with the server's entry; the same text if the entry is up to date.

    Raises:
        CannotEditError: the text cannot be changed without a risk to the rest of it.
    """
    return _edited_toml(text, client, target) if client.form == "toml" else _edited_json(text, client, target)


def _edited_json(text: str, client: Client, target: Target) -> str:
    try:
        before: object = members_of(text, client.key).get(SERVER_NAME)
        if not isinstance(before, dict | None):
            raise CannotEditError(f"{SERVER_NAME!r} in it is not an object")
        entry = _merged(cast("Mapping[str, Any]", before or {}), target.entry(client))
        return text if entry == before else with_member(text, (client.key, SERVER_NAME), entry)
    except json.JSONDecodeError as error:
        what = "has comments" if "//" in text or "/*" in text else "is not plain JSON"
        raise CannotEditError(f"it {what} (line {error.lineno}, column {error.colno})") from None
    except (ValueError, IndexError, RecursionError) as error:
        raise CannotEditError(str(error)) from None


def _merged(before: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry with the user's additions: variables, and the arguments if the program is the same."""
    if before and _is_remote(before) != _is_remote(entry):  # their fields would contradict each other
        raise CannotEditError(f"it has another server by the name {SERVER_NAME!r}")
    variables: object = before.get("env")
    if not isinstance(variables, dict | None):
        raise CannotEditError(f"'env' of {SERVER_NAME!r} in it is not an object")
    merged = {**before, **entry}
    if "args" not in entry and before.get("command") != entry.get("command"):
        merged.pop("args", None)  # they were meant for another program
    for name in ("env", "headers"):
        if name in entry and isinstance(before.get(name), dict):
            merged[name] = {**before[name], **entry[name]}
    return merged


def _is_remote(entry: Mapping[str, Any]) -> bool:
    """Tell whether the entry has a URL of its own or starts a bridge to one."""
    words: object = entry.get("args")
    return "url" in entry or (isinstance(words, list) and BRIDGE in words)


def _edited_toml(text: str, client: Client, target: Target) -> str:
    try:
        before = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CannotEditError(f"it is not valid TOML: {error}") from None
    servers: object = before.get(client.key, {})
    if not isinstance(servers, dict):
        raise CannotEditError(f"{client.key!r} in it is not a table")
    there: object = cast("Mapping[str, Any]", servers).get(SERVER_NAME)
    if there is None:
        return _with_table(text, before, client, target)
    if not isinstance(there, dict):
        raise CannotEditError(f"{SERVER_NAME!r} in it is not a table")
    entry = cast("dict[str, Any]", there)
    try:
        return with_values(text, (client.key, SERVER_NAME), _merged(entry, target.entry(client)))
    except ValueError as error:
        raise CannotEditError(str(error)) from None


def _with_table(text: str, before: Mapping[str, Any], client: Client, target: Target) -> str:
    """Return the text with the server's table appended."""
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text else newline if text.endswith("\n") else newline * 2
    changed = text + gap + client.snippet(target).replace("\n", newline)
    try:
        after = tomllib.loads(changed)
    except tomllib.TOMLDecodeError:
        after = {}
    servers: Mapping[str, Any] = before.get(client.key, {})
    # Parsed again and compared: the appended table may clash with an inline table or dotted keys.
    if after != {**before, client.key: {**servers, SERVER_NAME: target.entry(client)}}:
        raise CannotEditError(UNSAFE)
    return changed


def parsed(text: str, client: Client) -> Mapping[str, Any]:
    """Return the data of a valid file of the client; nothing for an empty text."""
    data: object = tomllib.loads(text) if client.form == "toml" else json.loads(text) if text.strip() else {}
    return cast("Mapping[str, Any]", data) if isinstance(data, dict) else {}
