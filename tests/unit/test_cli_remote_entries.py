"""What clients are told of a server at a URL: never the token, and each in its own way where to find it."""

import json
from pathlib import Path

import pytest
from inline_snapshot import snapshot
from tests.fixtures.cli import piped
from tests.fixtures.entries import CLIENTS

from conversation_mcp.cli.clients.catalog import Launch
from conversation_mcp.cli.clients.entries import CannotEditError, edited
from conversation_mcp.cli.clients.remote import Remote, remote_at
from conversation_mcp.errors import InvalidInputError

REMOTE = Remote("https://mcp.example.com/mcp")
TOKEN = "a-token-that-nobody-writes-down"  # noqa: S105 -- opens nothing


def test_each_client_is_told_the_name_of_the_variable_with_the_token() -> None:
    assert {name: client.snippet(REMOTE) for name, client in CLIENTS.items()} == snapshot(
        {
            "claude-code": """\
{
  "mcpServers": {
    "conversations": {
      "type": "http",
      "url": "https://mcp.example.com/mcp",
      "headers": {
        "Authorization": "Bearer ${CONVERSATION_MCP_TOKEN}"
      }
    }
  }
}
""",
            "claude-desktop": """\
{
  "mcpServers": {
    "conversations": {
      "command": "npx",
      "args": [
        "-y",
        "mcp-remote",
        "https://mcp.example.com/mcp",
        "--transport",
        "http-only",
        "--header",
        "Authorization:${CONVERSATION_MCP_AUTHORIZATION}"
      ]
    }
  }
}
""",
            "cursor": """\
{
  "mcpServers": {
    "conversations": {
      "url": "https://mcp.example.com/mcp",
      "headers": {
        "Authorization": "Bearer ${env:CONVERSATION_MCP_TOKEN}"
      }
    }
  }
}
""",
            "vscode": """\
{
  "servers": {
    "conversations": {
      "type": "http",
      "url": "https://mcp.example.com/mcp",
      "headers": {
        "Authorization": "Bearer ${env:CONVERSATION_MCP_TOKEN}"
      }
    }
  }
}
""",
            "codex": """\
[mcp_servers.conversations]
url = "https://mcp.example.com/mcp"
bearer_token_env_var = "CONVERSATION_MCP_TOKEN"
""",
        }
    )


def test_two_clients_have_commands_of_their_own() -> None:
    commands = {name: REMOTE.how_to_add(client) for name, client in CLIENTS.items()}
    assert {name: command for name, command in commands.items() if command} == snapshot(
        {
            "claude-code": "claude mcp add --transport http --scope user conversations https://mcp.example.com/mcp --header 'Authorization: Bearer ${CONVERSATION_MCP_TOKEN}'",
            "codex": "codex mcp add conversations --url https://mcp.example.com/mcp --bearer-token-env-var CONVERSATION_MCP_TOKEN",
        }
    )


@pytest.mark.parametrize("name", CLIENTS)
def test_writing_twice_changes_nothing(name: str) -> None:
    once = edited("", CLIENTS[name], REMOTE)
    assert edited(once, CLIENTS[name], REMOTE) == once == CLIENTS[name].snippet(REMOTE)


@pytest.mark.parametrize("name", CLIENTS)
def test_a_server_that_the_client_starts_is_never_turned_into_a_remote_one_or_back(name: str) -> None:
    launch = Launch(("/opt/conversation-mcp",))
    for before, after in ((launch, REMOTE), (REMOTE, launch)):
        with pytest.raises(CannotEditError, match="another server by the name 'conversations'"):
            edited(CLIENTS[name].snippet(before), CLIENTS[name], after)


def test_another_url_replaces_the_old_one_and_keeps_what_the_user_added() -> None:
    before = {"url": "https://old.example.com/mcp", "headers": {"Conversation-Owner": "user-7"}, "disabled": False}
    after = edited(json.dumps({"mcpServers": {"conversations": before}}), CLIENTS["cursor"], REMOTE)
    assert json.loads(after)["mcpServers"]["conversations"] == {
        "url": REMOTE.url,
        "headers": {"Conversation-Owner": "user-7", "Authorization": "Bearer ${env:CONVERSATION_MCP_TOKEN}"},
        "disabled": False,
    }


def test_what_the_bridge_of_claude_desktop_needs_stays_in_its_entry() -> None:
    client = CLIENTS["claude-desktop"]
    entry = REMOTE.entry(client) | {"env": {"CONVERSATION_MCP_AUTHORIZATION": f"Bearer {TOKEN}"}}
    text = json.dumps({"mcpServers": {"conversations": entry}})
    assert edited(text, client, REMOTE) == text


@pytest.mark.parametrize(
    "url",
    [
        "mcp.example.com/mcp",
        "ftp://mcp.example.com/mcp",
        "https:///mcp",
        "https://mcp.example.com:0/mcp",
        "https://mcp.example.com:99999/mcp",
        "https://[::1/mcp",
        "https://mcp.example.com/a b",
        "https://mcp.example.com/${HOME}",
        "https://mcp.example.com/{token}",
        "https://mcp.example.com/`id`",
        "https://mcp.example.com/\n",
        "https://mcp.exämple.com/mcp",
    ],
)
def test_what_is_no_url_of_a_server_is_refused(url: str) -> None:
    with pytest.raises(InvalidInputError, match="must be the URL of a server"):
        remote_at(url)


@pytest.mark.parametrize("url", ["https://me:x@example.com/mcp", "https://example.com/mcp?key=x", "https://a.com/#x"])
def test_a_secret_in_the_url_is_neither_taken_nor_shown(url: str) -> None:
    with pytest.raises(InvalidInputError, match="no user, query or fragment") as refused:
        remote_at(url)
    assert "x@" not in str(refused.value)
    assert "key=" not in str(refused.value)


@pytest.mark.slow
def test_the_token_is_neither_written_nor_shown(tmp_path: Path) -> None:
    told = [
        piped(tmp_path, "doctor", "--write", name, "--url", REMOTE.url, "--yes", CONVERSATION_MCP_TOKEN=TOKEN)
        for name in CLIENTS
    ]
    assert {(ended.code, ended.err) for ended in told} == {(0, "")}
    shown = "".join(ended.out for ended in told)
    written = "".join(path.read_text("utf-8") for path in tmp_path.rglob("*") if path.is_file())
    assert TOKEN not in shown + written
    assert written.count(REMOTE.url) == len(CLIENTS)
    assert '"Authorization": "Bearer ${env:CONVERSATION_MCP_TOKEN}"' in shown


@pytest.mark.slow
def test_a_shell_without_the_token_is_told_what_the_client_will_need(tmp_path: Path) -> None:
    ended = piped(tmp_path, "doctor", "--write", "cursor", "--url", REMOTE.url, "--yes")
    assert ended.code == 0
    assert "Warning: CONVERSATION_MCP_TOKEN is not set in this shell" in ended.err


@pytest.mark.slow
@pytest.mark.parametrize("more", [["--online"], ["--tools", "all"], ["--with-key", "--write", "cursor"]])
def test_options_of_an_own_server_do_not_go_with_a_url(tmp_path: Path, more: list[str]) -> None:
    ended = piped(tmp_path, "doctor", "--url", REMOTE.url, *more)
    assert ended.code == 2
    assert "--url goes with --write, --yes and --json" in ended.err
