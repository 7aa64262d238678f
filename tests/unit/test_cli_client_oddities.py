"""Whatever a client's file looks like, only the entry of the server changes, or nothing."""

import json
import re
import tomllib
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fixtures.entries import CLIENTS, WITH_MORE

from conversation_mcp.cli.clients.entries import CannotEditError, edited
from conversation_mcp.cli.clients.json_text import with_member
from conversation_mcp.cli.configuration.toml_text import toml_table

SPACES = st.sampled_from(["", " ", "\n", "\t", "\r\n  "])
NAMES = st.text(max_size=3) | st.just("mcpServers")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=3), children, max_size=3),
    max_leaves=8,
)
TOML_VALUES = (
    st.booleans() | st.integers(0, 9) | st.text("ab\"'\n[]=#", max_size=5) | st.lists(st.text("a]", max_size=2))
)


@settings(max_examples=80, deadline=None)
@given(
    mine=st.dictionaries(st.sampled_from(["command", "args", "x y", "startup_timeout_sec"]), TOML_VALUES),
    other=st.dictionaries(st.text('ab. "', max_size=3), TOML_VALUES),
    variables=st.none() | st.dictionaries(st.text("AB", max_size=2), st.text(max_size=4)),
    is_first=st.booleans(),
)
def test_whatever_an_entry_holds_it_is_updated_and_no_other_table_changes(
    mine: dict[str, Any], other: dict[str, Any], variables: dict[str, str] | None, is_first: bool
) -> None:
    entry = mine if variables is None else {**mine, "env": variables}
    tables = [toml_table("mcp_servers.conversations", entry), toml_table("other", other)]
    text = "\n# a comment = [\n".join(tables if is_first else tables[::-1])
    data = tomllib.loads(edited(text, CLIENTS["codex"], WITH_MORE))
    own = data["mcp_servers"]["conversations"]
    assert data["other"] == tomllib.loads(text)["other"]
    assert own["env"] == {**(variables or {}), **WITH_MORE.variables}
    assert (own["command"], own["args"]) == ("/opt/conversation-mcp", ["--documents", "/my notes"])
    assert own.get("x y") == mine.get("x y")


@pytest.mark.parametrize("nothing", ['{"env": null}', "null", "{}"])
def test_a_null_is_taken_for_nothing(nothing: str) -> None:
    text = f'{{"mcpServers": {{"conversations": {nothing}}}}}'
    entry = json.loads(edited(text, CLIENTS["cursor"], WITH_MORE))["mcpServers"]["conversations"]
    assert entry["env"] == {"CONVERSATION_LOGS_DIR": "/my logs"}


@settings(max_examples=60, deadline=None)
@given(
    servers=VALUES | st.dictionaries(st.just("conversations"), VALUES | st.dictionaries(NAMES | st.just("env"), VALUES))
)
def test_whatever_stands_in_the_place_of_the_entry_is_changed_or_refused_in_a_sentence(servers: Any) -> None:
    with suppress(CannotEditError):
        changed = edited(json.dumps({"mcpServers": servers}), CLIENTS["cursor"], WITH_MORE)
        assert json.loads(changed)["mcpServers"]["conversations"]["command"] == "/opt/conversation-mcp"


@st.composite
def _json_texts(draw: st.DrawFn) -> str:
    """Draw an object with free spaces between its parts, names that come twice, and our own name in the middle."""
    parts: list[str] = []
    for name in draw(st.lists(NAMES, max_size=4)):
        value: Any = draw(st.dictionaries(st.text(max_size=3), VALUES) if name == "mcpServers" else VALUES)
        written = json.dumps(value, ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([None, 1, "\t"])))
        spaces = [draw(SPACES) for _ in range(4)]
        parts.append(f"{spaces[0]}{json.dumps(name)}{spaces[1]}:{spaces[2]}{written}{spaces[3]}")
    return draw(SPACES) + "{" + ",".join(parts) + draw(SPACES) + "}" + draw(SPACES)


@settings(max_examples=60, deadline=None)
@given(text=_json_texts(), entry=st.dictionaries(st.text(max_size=3), VALUES))
def test_whatever_a_file_looks_like_one_place_in_it_changes_and_no_other_byte(text: str, entry: dict[str, Any]) -> None:
    changed = with_member(text, ("mcpServers", "conversations"), entry)
    before, after = json.loads(text), json.loads(changed)
    assert after == {**before, "mcpServers": {**before.get("mcpServers", {}), "conversations": entry}}
    if "conversations" not in before.get("mcpServers", {}):
        kept = iter(changed)
        assert all(char in kept for char in re.sub(r"{\s+}", "{}", text))
