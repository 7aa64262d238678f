"""What is put into clients' configuration files, and that nothing else in them changes."""

import json
import tomllib

import pytest
from inline_snapshot import snapshot
from tests.fixtures.entries import CLIENTS, WITH_MORE

from conversation_mcp.cli.clients.catalog import Launch
from conversation_mcp.cli.clients.entries import CannotEditError, edited

LAUNCH = Launch(("/opt/conversation-mcp",))


def test_an_empty_or_missing_file_becomes_what_would_be_pasted() -> None:
    for client in CLIENTS.values():
        assert edited("", client, WITH_MORE) == client.snippet(WITH_MORE)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "{}",
            snapshot("""\
{
  "mcpServers": {
    "conversations": {
      "command": "/opt/conversation-mcp"
    }
  }
}\
"""),
        ),
        (
            '{\n    "theme": "dark"\n}\n',
            snapshot("""\
{
    "theme": "dark",
    "mcpServers": {
        "conversations": {
            "command": "/opt/conversation-mcp"
        }
    }
}
"""),
        ),
        (
            '{\n  "mcpServers": {}\n}',
            snapshot("""\
{
  "mcpServers": {
    "conversations": {
      "command": "/opt/conversation-mcp"
    }
  }
}\
"""),
        ),
        (
            '{\n\t"mcpServers": {\n\t\t"other": {"command": "x"}\n\t},\n\t"z": 1.50\n}\n',
            snapshot("""\
{
	"mcpServers": {
		"other": {"command": "x"},
		"conversations": {
			"command": "/opt/conversation-mcp"
		}
	},
	"z": 1.50
}
"""),
        ),
        (
            '{"mcpServers": {"other": {"command": "x"}}, "big": 12345678901234567890}',
            snapshot(
                '{"mcpServers": {"other": {"command": "x"}, "conversations": {"command": "/opt/conversation-mcp"}}, "big": 12345678901234567890}'
            ),
        ),
        (
            '{\r\n  "mcpServers": {\r\n    "a": {}\r\n  }\r\n}\r\n',
            snapshot("""\
{\r
  "mcpServers": {\r
    "a": {},\r
    "conversations": {\r
      "command": "/opt/conversation-mcp"\r
    }\r
  }\r
}\r
"""),
        ),
        (
            '{"mcpServers": {"conversations": {"command": "old", "args": ["x"], "env": {"K": "v"}}}}',
            snapshot("""\
{"mcpServers": {"conversations": {
  "command": "/opt/conversation-mcp",
  "env": {
    "K": "v"
  }
}}}\
"""),
        ),
    ],
)
def test_only_the_entry_of_the_server_changes_in_a_json_file(before: str, after: str) -> None:
    assert edited(before, CLIENTS["cursor"], LAUNCH) == after


def test_a_second_time_nothing_changes() -> None:
    for client in CLIENTS.values():
        once = edited("", client, WITH_MORE)
        assert edited(once, client, WITH_MORE) == once


def test_what_a_person_added_to_the_entry_stays() -> None:
    entry = {"command": "/opt/conversation-mcp", "args": ["--tools", "research"], "env": {"PERPLEXITY_API_KEY": "k"}}
    text = json.dumps({"mcpServers": {"conversations": entry}})
    assert edited(text, CLIENTS["cursor"], LAUNCH) == text
    merged = json.loads(edited(text, CLIENTS["cursor"], WITH_MORE))["mcpServers"]["conversations"]
    assert merged["env"] == {"PERPLEXITY_API_KEY": "k", "CONVERSATION_LOGS_DIR": "/my logs"}


@pytest.mark.parametrize(
    ("client", "text", "why"),
    [
        ("vscode", '{\n  // mine\n  "servers": {}\n}', "it has comments (line 2, column 3)"),
        ("vscode", '{"servers": {},}', "it is not plain JSON (line 1, column 1"),
        ("cursor", "[]", "'mcpServers' in it is not an object"),
        ("cursor", '{"mcpServers": []}', "'mcpServers' in it is not an object"),
        ("cursor", '{"mcpServers": {"conversations": 1}}', "'conversations' in it is not an object"),
        ("cursor", '{"mcpServers": {"conversations": {"url": "https://x"}}}', "it has another server"),
        ("codex", "[mcp_servers", "it is not valid TOML"),
        (
            "cursor",
            '{"mcpServers": {"conversations": {"env": "x"}}}',
            "'env' of 'conversations' in it is not an object",
        ),
        ("codex", '[mcp_servers.conversations]\nurl = "https://x"\n', "it has another server"),
        ("codex", "[mcp_servers]\nconversations = 1\n", "'conversations' in it is not a table"),
        ("codex", '[mcp_servers]\nconversations = {command = "x"}\n', "written in a way that cannot be changed safely"),
        ("codex", '[[mcp_servers.conversations]]\ncommand = "x"\n', "'conversations' in it is not a table"),
        ("codex", "mcp_servers = {}\n", "it is written in a way that cannot be changed safely"),
        ("codex", "mcp_servers = 1\n", "'mcp_servers' in it is not a table"),
    ],
)
def test_what_cannot_be_changed_safely_is_left_alone(client: str, text: str, why: str) -> None:
    with pytest.raises(CannotEditError) as caught:
        edited(text, CLIENTS[client], LAUNCH)
    assert why in str(caught.value)


def test_a_table_is_added_at_the_end_of_a_toml_file() -> None:
    text = '# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "y" # keep'
    assert edited(text, CLIENTS["codex"], WITH_MORE) == snapshot("""\
# mine
model = "x"

[mcp_servers.other]
command = "y" # keep

[mcp_servers.conversations]
startup_timeout_sec = 20
command = "/opt/conversation-mcp"
args = ["--documents", "/my notes"]

[mcp_servers.conversations.env]
CONVERSATION_LOGS_DIR = "/my logs"
""")
    assert tomllib.loads(edited(text.replace("\n", "\r\n"), CLIENTS["codex"], LAUNCH))["model"] == "x"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            '[mcp_servers.conversations]\ncommand = "/old/conversation-mcp" # mine\n\n[tui]\nx = 1\n',
            snapshot("""\
[mcp_servers.conversations]
command = "/opt/conversation-mcp"
startup_timeout_sec = 20
args = ["--documents", "/my notes"]
env = { CONVERSATION_LOGS_DIR = "/my logs" }

[tui]
x = 1
"""),
        ),
        (
            """\
[mcp_servers.a]
text = '''
[mcp_servers.conversations]
command = "not me"
'''

  [mcp_servers."conversations"]  # keep this
  # and this
  args = [
    "--tools",  # [not a table]
    "research",
  ]
  command = "/opt/conversation-mcp"
  tool_timeout_sec = 60

[mcp_servers.conversations.env]
PERPLEXITY_API_KEY = "k"
CONVERSATION_LOGS_DIR = "/old logs\"""",
            snapshot("""\
[mcp_servers.a]
text = '''
[mcp_servers.conversations]
command = "not me"
'''

  [mcp_servers."conversations"]  # keep this
  # and this
  args = ["--documents", "/my notes"]
  command = "/opt/conversation-mcp"
  tool_timeout_sec = 60
startup_timeout_sec = 20

[mcp_servers.conversations.env]
PERPLEXITY_API_KEY = "k"
CONVERSATION_LOGS_DIR = "/my logs"
"""),
        ),
    ],
)
def test_an_entry_of_its_own_is_updated_in_a_toml_file_and_keeps_what_a_person_added(before: str, after: str) -> None:
    for newline in ("\n", "\r\n"):
        changed = edited(before.replace("\n", newline), CLIENTS["codex"], WITH_MORE)
        assert changed.replace("\r\n", "\n") == after
        assert changed.count("\n") == changed.count(newline)
        assert edited(changed, CLIENTS["codex"], WITH_MORE) == changed
