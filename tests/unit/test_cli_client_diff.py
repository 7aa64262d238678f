"""What a person sees of a client's file before it is written: the change, and nobody's secrets."""

import json
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from conversation_mcp.cli.clients.difference import difference, secrets_in

SECRET = "q7Zk-0123456789-unknown"  # noqa: S105 -- nobody takes it
FOREIGN = {
    "command": "npx",
    "args": ["-y", "server", "--api-key", SECRET, f"--token={SECRET}", "--port", "8080"],
    "env": {"ANY": SECRET, "SHORT": "abc", "PIN": 1234},
    "headers": {"Authorization": f"Bearer {SECRET}"},
    "url": f"https://me:{SECRET}@example.org/mcp?key={SECRET}",
    "apiKey": "short",
}


def shown(before: dict[str, Any], after: dict[str, Any], *known: str) -> str:
    secrets = {secret for each in (before, after) for secret in secrets_in(each, known)}
    return difference(json.dumps(before, indent=2), json.dumps(after, indent=2), "mcp.json", secrets)


def test_neither_variables_nor_what_looks_like_a_key_is_shown_whatever_its_form() -> None:
    text = shown({"mcpServers": {}}, {"mcpServers": {"other": FOREIGN}})
    assert SECRET not in text
    assert [line[7:] for line in text.splitlines() if line.startswith("+      ")] == snapshot(
        [
            '"command": "npx",',
            '"args": [',
            '  "-y",',
            '  "server",',
            '  "--api-key",',
            '  "…",',
            '  "…",',
            '  "--port",',
            '  "8080"',
            "],",
            '"env": {',
            '  "ANY": "…",',
            '  "SHORT": "…",',
            '  "PIN": …',
            "},",
            '"headers": {',
            '  "Authorization": "…"',
            "},",
            '"url": "…",',
            '"apiKey": "…"',
        ]
    )


def test_what_is_written_on_purpose_is_shown() -> None:
    entry = {"command": "/opt/conversation-mcp", "env": {"CONVERSATION_LOGS_DIR": "/my logs", "OTHER": "/my logs 2"}}
    text = shown({}, {"mcpServers": {"conversations": entry}}, "/my logs")
    assert '"CONVERSATION_LOGS_DIR": "/my logs"' in text
    assert '"OTHER": "…"' in text


@pytest.mark.parametrize("quoted", [f'"{SECRET}"', f"'{SECRET}'", f'"""\n{SECRET}\n"""', f"'''{SECRET}\nx'''"])
def test_every_kind_of_string_that_toml_has_is_covered(quoted: str) -> None:
    text = f"[mcp_servers.a.env]\nA = {quoted}\n"
    assert SECRET not in difference("", text, "config.toml", secrets_in(tomllib.loads(text), ()))


@given(value=st.text(min_size=4), is_ascii=st.booleans(), indent=st.none() | st.just(2))
def test_no_variable_of_another_server_is_ever_shown(value: str, is_ascii: bool, indent: int | None) -> None:
    data = {"mcpServers": {"other": {"env": {"A": value}}}}
    text = json.dumps(data, ensure_ascii=is_ascii, indent=indent)
    shown = difference("", text, "mcp.json", secrets_in(data, ()))
    assert json.dumps(value, ensure_ascii=is_ascii) not in shown
    assert '"…"' in shown
