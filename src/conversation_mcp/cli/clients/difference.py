"""The diff of a client's file as it is shown, without the secrets in it."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import unified_diff
from typing import cast

from conversation_mcp.cli.configuration.values import masked
from conversation_mcp.logs import redact

HIDDEN = "…"
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'|(?<![\w.])-?[0-9][\w.+-]*')
"""A string of JSON or TOML, or a number."""
PRIVATE_TABLES = frozenset({"env", "headers", "http_headers"})
PRIVATE_NAME = re.compile(r"key|token|secret|passw|credential|auth|cookie|bearer", re.IGNORECASE)
PRIVATE_FLAG = re.compile(r"--?[\w-]*(?:key|token|secret|pass|auth)[\w-]*", re.IGNORECASE)
LONG_WORD = re.compile(r"(?=[^\s/\\]*[0-9])(?=[^\s/\\]*[A-Za-z])[^\s/\\]{16,}")
"""A word of letters and digits that looks random, as keys do."""
LEAST_CHARS = 4
"""Shorter parts of a secret are not searched for in a line; they would hide half of the diff."""


def difference(before: str, after: str, name: str, secrets: Iterable[str]) -> str:
    """Return the unified diff, with an ellipsis in place of each secret."""
    hidden = frozenset(secrets)
    # One line of context: more would show more of the other servers' entries.
    lines = unified_diff(_lines(before), _lines(after), name if before else "(no file)", name, n=1, lineterm="")
    return redact("".join(f"{_without(line, hidden)}\n" for line in lines))


def _lines(text: str) -> list[str]:
    """Split at line feeds only; other characters at which `splitlines` splits may occur within strings."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return lines if lines[-1] else lines[:-1]


def secrets_in(data: Mapping[str, object], known: Iterable[str]) -> Iterator[str]:
    """Yield the values that may be secrets: all variables and headers, and values that look like keys.

    Args:
        data: the parsed file.
        known: values that are not secret, although they occur among the variables.
    """
    safe = frozenset(known)
    return (text for text in _secrets(data, "", is_private=False) if text not in safe)


def _secrets(value: object, name: str, *, is_private: bool) -> Iterator[str]:
    if isinstance(value, Mapping):
        for inner, item in cast("Mapping[str, object]", value).items():
            yield from _secrets(item, inner, is_private=is_private or inner.lower() in PRIVATE_TABLES)
    elif isinstance(value, list):
        before = ""  # an argument after a flag such as --token is secret
        for item in cast("list[object]", value):
            yield from _secrets(item, name, is_private=is_private or bool(PRIVATE_FLAG.fullmatch(before)))
            before = item if isinstance(item, str) else ""
    elif isinstance(value, str):
        if is_private or PRIVATE_NAME.search(name) or _looks_secret(value):
            yield value
    elif is_private and value is not None:
        yield json.dumps(value)


def _looks_secret(text: str) -> bool:
    flag, is_assigned, _ = text.partition("=")
    is_flag = bool(is_assigned) and PRIVATE_FLAG.fullmatch(flag) is not None
    return is_flag or bool(LONG_WORD.search(text)) or masked(text) != text or redact(text) != text


def _without(line: str, secrets: frozenset[str]) -> str:
    line = TOKEN.sub(lambda found: _token(found.group(), secrets), line)
    for part in (part for secret in secrets if "\n" in secret for part in secret.splitlines()):
        line = line.replace(part, HIDDEN) if len(part) >= LEAST_CHARS else line
    return line


def _token(token: str, secrets: frozenset[str]) -> str:
    quote = token[0] if token[0] in "\"'" else ""
    return f"{quote}{HIDDEN}{quote}" if _value(token) in secrets else token


def _value(token: str) -> str:
    if not token.startswith('"'):
        return token.strip("'")
    try:
        return str(json.loads(token))
    except ValueError:  # an escape that only TOML knows
        return token[1:-1]
