"""The MCP clients that can be set up: where their files are, what they are told."""

import sys
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from conversation_mcp.cli.clients.catalog import Launch, launch_of, load_clients
from conversation_mcp.cli.commands.doctor import ClientName
from conversation_mcp.settings import load_settings

WITH_MORE = Launch(("/opt/conversation-mcp", "--documents", "/my notes"), {"CONVERSATION_LOGS_DIR": "/my logs"})
CLIENTS = load_clients()


def test_the_names_that_can_be_typed_are_those_of_the_data_file() -> None:
    assert list(CLIENTS) == list(ClientName.__args__)


def test_each_client_has_its_file_on_each_system() -> None:
    home = Path("/home/me")
    assert {
        platform: {name: client.path({}, home, platform).as_posix() for name, client in CLIENTS.items()}
        for platform in ("linux", "darwin", "win32")
    } == snapshot(
        {
            "linux": {
                "claude-code": "/home/me/.claude.json",
                "claude-desktop": "/home/me/.config/Claude/claude_desktop_config.json",
                "cursor": "/home/me/.cursor/mcp.json",
                "vscode": "/home/me/.config/Code/User/mcp.json",
                "codex": "/home/me/.codex/config.toml",
            },
            "darwin": {
                "claude-code": "/home/me/.claude.json",
                "claude-desktop": "/home/me/Library/Application Support/Claude/claude_desktop_config.json",
                "cursor": "/home/me/.cursor/mcp.json",
                "vscode": "/home/me/Library/Application Support/Code/User/mcp.json",
                "codex": "/home/me/.codex/config.toml",
            },
            "win32": {
                "claude-code": "/home/me/.claude.json",
                "claude-desktop": "/home/me/AppData/Roaming/Claude/claude_desktop_config.json",
                "cursor": "/home/me/.cursor/mcp.json",
                "vscode": "/home/me/AppData/Roaming/Code/User/mcp.json",
                "codex": "/home/me/.codex/config.toml",
            },
        }
    )


def test_a_folder_that_was_moved_is_found() -> None:
    moved = {"CODEX_HOME": "/moved", "CLAUDE_CONFIG_DIR": "/claude", "XDG_CONFIG_HOME": "/xdg", "APPDATA": "/roaming"}
    home = Path("/home/me")
    assert CLIENTS["codex"].path(moved, home, "linux") == Path("/moved/config.toml")
    assert CLIENTS["claude-code"].path(moved, home, "linux") == Path("/claude/.claude.json")
    assert CLIENTS["claude-desktop"].path(moved, home, "linux") == Path("/xdg/Claude/claude_desktop_config.json")
    assert CLIENTS["vscode"].path(moved, home, "win32") == Path("/roaming/Code/User/mcp.json")


def test_what_is_pasted_has_the_absolute_path_and_what_clients_would_not_know() -> None:
    assert {name: client.snippet(WITH_MORE) for name, client in CLIENTS.items()} == snapshot(
        {
            "claude-code": """\
{
  "mcpServers": {
    "conversations": {
      "type": "stdio",
      "command": "/opt/conversation-mcp",
      "args": [
        "--documents",
        "/my notes"
      ],
      "env": {
        "CONVERSATION_LOGS_DIR": "/my logs"
      }
    }
  }
}
""",
            "claude-desktop": """\
{
  "mcpServers": {
    "conversations": {
      "command": "/opt/conversation-mcp",
      "args": [
        "--documents",
        "/my notes"
      ],
      "env": {
        "CONVERSATION_LOGS_DIR": "/my logs"
      }
    }
  }
}
""",
            "cursor": """\
{
  "mcpServers": {
    "conversations": {
      "command": "/opt/conversation-mcp",
      "args": [
        "--documents",
        "/my notes"
      ],
      "env": {
        "CONVERSATION_LOGS_DIR": "/my logs"
      }
    }
  }
}
""",
            "vscode": """\
{
  "servers": {
    "conversations": {
      "type": "stdio",
      "command": "/opt/conversation-mcp",
      "args": [
        "--documents",
        "/my notes"
      ],
      "env": {
        "CONVERSATION_LOGS_DIR": "/my logs"
      }
    }
  }
}
""",
            "codex": """\
[mcp_servers.conversations]
startup_timeout_sec = 20
command = "/opt/conversation-mcp"
args = ["--documents", "/my notes"]

[mcp_servers.conversations.env]
CONVERSATION_LOGS_DIR = "/my logs"
""",
        }
    )


@pytest.mark.skipif(sys.platform == "win32", reason="quotes for another shell")
def test_clients_with_a_command_of_their_own_are_told_by_it() -> None:
    assert [WITH_MORE.how_to_add(client) for client in CLIENTS.values()] == snapshot(
        [
            "claude mcp add --env 'CONVERSATION_LOGS_DIR=/my logs' --scope user conversations -- /opt/conversation-mcp --documents '/my notes'",
            "",
            "",
            "",
            "codex mcp add conversations --env 'CONVERSATION_LOGS_DIR=/my logs' -- /opt/conversation-mcp --documents '/my notes'",
        ]
    )


def test_a_launch_has_the_options_that_were_typed_and_the_variables_that_were_set_but_no_key(
    tmp_path: Path,
) -> None:
    environment = {
        "PERPLEXITY_API_KEY": "pplx-0123456789abcdef",
        "CONVERSATION_LOGS_DIR": "logs",
        "CONVERSATION_MCP_RETRIES": "0",
    }
    options: dict[str, object] = {"documents": [Path("notes"), Path("/more")], "tools": None, "logs_dir": None}
    loaded = load_settings(options, environment, tmp_path / "config.toml", tmp_path)
    assert launch_of(["/opt/conversation-mcp"], loaded, options) == Launch(
        ("/opt/conversation-mcp", "--documents", str(tmp_path / "notes"), "--documents", "/more"),
        {"CONVERSATION_LOGS_DIR": str(tmp_path / "logs"), "CONVERSATION_MCP_RETRIES": "0"},
    )
