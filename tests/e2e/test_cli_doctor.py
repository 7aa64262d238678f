"""The doctor: what it finds, and what it writes into clients' files."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from dirty_equals import IsPartialDict
from inline_snapshot import snapshot
from tests.fixtures.agent import LoopbackAgent
from tests.fixtures.chat_rules import KEY as CHAT_KEY
from tests.fixtures.chat_server import ChatServer
from tests.fixtures.cli import Ended, piped, put_conversation
from tests.fixtures.documents import written
from tests.fixtures.folders import ID


@pytest.fixture
def agent() -> Iterator[LoopbackAgent]:
    with LoopbackAgent() as agent:
        yield agent


def findings(ended: Ended) -> list[str]:
    return [line.strip() for line in ended.out.splitlines() if re.match(r"  (ok|warn|fail) ", line)]


def without_numbers(text: str, folder: Path) -> str:
    """Return the report without what differs from one installation to the next."""
    text = text.replace(str(folder), "/home/me").replace(str(Path(sys.prefix) / "bin"), "/venv/bin")
    text = re.sub(r"version .* at .*", "version 1, SDK 2, Python 3 at /venv/bin/python", text)
    return re.sub(r"[0-9]+ tools, [0-9,]+ bytes, [0-9.]+ s", "6 tools, 6,912 bytes, 0.9 s", text)


def test_what_may_be_a_secret_in_an_address_is_neither_shown_nor_passed_to_clients(tmp_path: Path) -> None:
    addresses = {
        "CUSTOM_API_URL": "http://me:hidden1@127.0.0.1:9/v1?api-key=hidden2",
        "OLLAMA_BASE_URL": "http://hidden3@127.0.0.1:9/v1",
    }
    report = piped(tmp_path, "doctor", **addresses)
    listed = piped(tmp_path, "config", **addresses)
    assert "CUSTOM_API_URL = http://…@127.0.0.1:9/v1?… (from CUSTOM_API_URL)" in report.out
    assert "Put ollama_base_url and custom_base_url into" in report.out
    assert "http://…@127.0.0.1:9/v1" in listed.out
    assert "hidden" not in report.out + report.err + listed.out + listed.err


def test_the_report_says_what_is_set_and_how_clients_are_told(tmp_path: Path, agent: LoopbackAgent) -> None:
    put_conversation(tmp_path, ID)
    (tmp_path / "conversation-logs").chmod(0o700)
    ended = piped(
        tmp_path, "doctor", base_url=agent.base_url, HTTPS_PROXY="http://me:secret@proxy:8080", NO_PROXY="127.0.0.1"
    )
    assert ended.code == 0, ended.out
    assert without_numbers(ended.out, tmp_path).replace(agent.base_url, "URL") == snapshot("""\
  ok    version 1, SDK 2, Python 3 at /venv/bin/python
  ok    configuration file /home/me/home/.config/conversation-mcp/config.toml (there is none)
  ok    PERPLEXITY_BASE_URL = URL (from PERPLEXITY_BASE_URL)
  ok    CONVERSATION_MCP_EMBEDDINGS = off (from CONVERSATION_MCP_EMBEDDINGS)
  warn  PERPLEXITY_API_KEY from the environment, ends in …6789; not tried (use --online)
  ok    HTTPS_PROXY = http://…@proxy:8080
  ok    NO_PROXY = 127.0.0.1
  ok    conversations in /home/me/conversation-logs (from CONVERSATION_LOGS_DIR), 1 file, writable, private (0700)
  ok    the store writes, locks and reads back
  ok    server answers: initialize, 6 tools, 6,912 bytes, 0.9 s

Clients, with this installation's own path; `conversation-mcp doctor --write CLIENT` does it for you:
  Claude Code:  claude mcp add --env PERPLEXITY_BASE_URL=URL --env CONVERSATION_LOGS_DIR=/home/me/conversation-logs --env CONVERSATION_MCP_EMBEDDINGS=off --scope user conversations -- /venv/bin/conversation-mcp
  Codex:  codex mcp add conversations --env PERPLEXITY_BASE_URL=URL --env CONVERSATION_LOGS_DIR=/home/me/conversation-logs --env CONVERSATION_MCP_EMBEDDINGS=off -- /venv/bin/conversation-mcp
  Claude Desktop, in /home/me/home/.config/Claude/claude_desktop_config.json:
  Cursor, in /home/me/home/.cursor/mcp.json:
    {
      "mcpServers": {
        "conversations": {
          "command": "/venv/bin/conversation-mcp",
          "env": {
            "PERPLEXITY_BASE_URL": "URL",
            "CONVERSATION_LOGS_DIR": "/home/me/conversation-logs",
            "CONVERSATION_MCP_EMBEDDINGS": "off"
          }
        }
      }
    }
  VS Code, in /home/me/home/.config/Code/User/mcp.json:
    {
      "servers": {
        "conversations": {
          "type": "stdio",
          "command": "/venv/bin/conversation-mcp",
          "env": {
            "PERPLEXITY_BASE_URL": "URL",
            "CONVERSATION_LOGS_DIR": "/home/me/conversation-logs",
            "CONVERSATION_MCP_EMBEDDINGS": "off"
          }
        }
      }
    }

Clients do not pass on your shell's PERPLEXITY_API_KEY. Put perplexity_api_key into /home/me/home/.config/conversation-mcp/config.toml (`conversation-mcp config --write` creates it), or into the client's env: --write CLIENT --with-key.
""")


def test_a_key_is_tried_only_when_asked_for_and_a_wrong_one_fails(tmp_path: Path, agent: LoopbackAgent) -> None:
    right = piped(tmp_path, "doctor", "--online", base_url=agent.base_url)
    wrong = piped(tmp_path, "doctor", "--online", base_url=agent.base_url, PERPLEXITY_API_KEY="pplx-wrong-0123456789")
    assert right.code == 0
    assert "ok    perplexity takes the key: 2 models" in findings(right)
    assert wrong.code == 1
    assert [line for line in findings(wrong) if "fail" in line] == snapshot(
        [
            "fail  perplexity: PROVIDER_AUTH: Perplexity refused the key. Set PERPLEXITY_API_KEY to a key from its API console; `conversation-mcp doctor` shows where the key came from."
        ]
    )
    assert agent.creates == 0


def test_what_does_not_belong_into_the_folder_is_named(tmp_path: Path) -> None:
    folder = put_conversation(tmp_path, ID).parent
    (folder / "conversation (1).json").write_text("{}", encoding="utf-8")
    (folder / ".conversation.0123456789abcdef.tmp").write_text("{", encoding="utf-8")
    (folder.parent / f"{ID} (conflict)").mkdir()
    (folder.parent / "20260131-1769817600001").mkdir()
    (folder.parent / ".locks").mkdir()
    (line,) = [line for line in findings(piped(tmp_path, "doctor")) if "leftovers" in line]
    assert line == snapshot(
        "warn  ignored copies or leftovers: 20260131-1769817600000/.conversation.0123456789abcdef.tmp, 20260131-1769817600000/conversation (1).json, 20260131-1769817600000 (conflict), 20260131-1769817600001 (no conversation.json); remove what you do not need"
    )


def test_files_that_can_be_deleted_at_any_time_are_named(tmp_path: Path) -> None:
    assert not [line for line in findings(piped(tmp_path, "doctor")) if "cache" in line]
    cache = tmp_path / "home" / "cache" / "conversation-mcp" / "index"
    cache.mkdir(parents=True)
    (cache / "one.sqlite").write_bytes(bytes(1_200_000))
    (line,) = [line for line in findings(piped(tmp_path, "doctor")) if "cache" in line]
    assert line == (f"ok    cache in {cache.parent}, 1 file, 1.2 MB; rebuilt if you delete it")


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
def test_conversations_that_git_would_commit_are_a_failure(tmp_path: Path) -> None:
    put_conversation(tmp_path, ID)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    ended = piped(tmp_path, "doctor")
    assert ended.code == 1
    assert any(line.startswith("fail  git would commit them: put a .gitignore") for line in findings(ended))
    (tmp_path / "conversation-logs" / ".gitignore").write_text("*\n", encoding="utf-8")
    assert "ok    git ignores them" in findings(piped(tmp_path, "doctor"))
    subprocess.run(["git", "-C", tmp_path, "add", "-f", f"conversation-logs/{ID}"], check=True)
    (line,) = [line for line in findings(piped(tmp_path, "doctor")) if "git still tracks" in line]
    assert line.startswith(f"warn  git still tracks 1 file of them: {ID}/conversation.json; ")


def test_what_is_left_out_of_the_documents_is_named_with_the_reason(tmp_path: Path) -> None:
    names = (
        "a.md",
        "b.py",
        ".hidden.md",
        "id_rsa",
        "photo.jpg",
        "one.exe",
        "two.exe",
        "three.exe",
        "node_modules/c.md",
    )
    documents = written(tmp_path / "documents", dict.fromkeys(names, "tea"))
    ended = piped(tmp_path, "doctor", "--documents", str(documents))
    shown = [line.replace(f"{documents}/", "") for line in findings(ended) if "document" in line or "left out" in line]
    assert ended.code == 0
    assert shown[2:] == [
        "ok    2 documents can be searched",
        "ok    left out: 1 hidden: .hidden.md",
        "ok    left out: 1 installed packages: node_modules",
        "ok    left out: 4 of a kind that is not read: one.exe, photo.jpg, three.exe, …",
        "ok    left out: 1 secrets by their names: id_rsa",
    ]


def test_a_model_that_gets_passages_is_named_and_must_be_configured(tmp_path: Path) -> None:
    documents = ("--documents", str(written(tmp_path / "documents", {"a.md": "tea"})))
    model = {"CONVERSATION_MCP_DOCUMENTS_MODEL": "openai:gpt-6-sol"}
    key = {"OPENAI_API_KEY": "sk-0123456789abcdef"}
    failed = "fail  answers are to be written by the model openai:gpt-6-sol, and openai is not configured"
    assert failed in findings(piped(tmp_path, "doctor", *documents, **model))
    fine = "ok    answers are written by the model openai:gpt-6-sol; passages and questions are sent to it"
    assert fine in findings(piped(tmp_path, "doctor", *documents, **model, **key))


def test_what_is_not_there_is_a_failure(tmp_path: Path) -> None:
    ended = piped(tmp_path, "doctor", "--documents", "nowhere", SSL_CERT_FILE="/nowhere.pem")
    assert ended.code == 1
    assert [line.replace(str(tmp_path), "/home/me") for line in findings(ended) if line.startswith("fail")] == snapshot(
        [
            "fail  SSL_CERT_FILE = /nowhere.pem, which cannot be read",
            "fail  PROVIDER_NOT_CONFIGURED: /home/me/nowhere does not exist or cannot be reached; the setting documents names it. Name documents, the folders that hold them, or patterns such as notes/**/*.md.",
        ]
    )


def test_a_program_gets_the_findings_and_the_configuration_as_json(tmp_path: Path) -> None:
    report = json.loads(piped(tmp_path, "doctor", "--json", "--logs-dir", "mine").out)
    assert {
        "state": "warn",
        "text": "no provider: set PERPLEXITY_API_KEY, or name documents with --documents",
    } in report["findings"]
    assert report["command"][-2:] == ["--logs-dir", str(tmp_path / "mine")]
    assert json.loads(report["clients"]["cursor"]["content"])["mcpServers"]["conversations"] == IsPartialDict(
        command=report["command"][0], args=report["command"][1:]
    )


def test_a_tool_set_that_does_not_exist_is_found_by_the_doctor_and_told_in_a_sentence(tmp_path: Path) -> None:
    ended = piped(tmp_path, "doctor", "--tools", "research,manege")
    failed = [line for line in findings(ended) if line.startswith("fail")]
    assert ended.code == 1
    assert failed == snapshot(
        [
            "fail  CONVERSATION_MCP_TOOLS = research,manege (from --tools): there is no tool set 'manege'; the sets are research, manage, models, consult, memories, log, workflows.",
            "fail  the server does not answer: VALIDATION_ERROR: there is no tool set 'manege'; the sets are research, manage, models, consult, memories, log, workflows.",
        ]
    )
    assert "TaskGroup" not in ended.out + ended.err


@pytest.mark.parametrize("command", [["serve"], ["ask", "one?"], ["tag", "last", "x"], ["resume"], ["delete", ID]])
def test_no_command_tells_a_person_of_groups_of_errors(tmp_path: Path, command: list[str]) -> None:
    put_conversation(tmp_path, ID)
    ended = piped(tmp_path, *command, CONVERSATION_MCP_TOOLS="manege")
    assert ended.code != 0
    assert (
        ended.err
        == "VALIDATION_ERROR: there is no tool set 'manege'; the sets are research, manage, models, consult, memories, log, workflows.\n"
    )


def test_every_provider_that_is_set_is_named_with_its_origin_and_tried(tmp_path: Path) -> None:
    config = tmp_path / "home" / ".config" / "conversation-mcp" / "config.toml"
    config.parent.mkdir(parents=True)
    with ChatServer("openrouter") as router, ChatServer("mistral") as mistral:
        table = f'[providers.openrouter]\napi_key = "{CHAT_KEY}"\nallowed_models = ["a/b"]\n'
        config.write_text(f'{table}base_url = "{router.base_url}"\n', encoding="utf-8")
        access = {"MISTRAL_BASE_URL": mistral.base_url, "MISTRAL_API_KEY": "sk-other-0123456789"}
        ended = piped(tmp_path, "doctor", "--online", **access)
    said = (
        ended.out.replace(router.base_url, "ROUTER").replace(mistral.base_url, "MISTRAL").replace(str(config), "CONFIG")
    )
    about = [line.strip() for line in said.splitlines() if re.search("(?i)openrouter|mistral", line) and "  " in line]
    assert about[:8] == snapshot(
        [
            "ok    MISTRAL_BASE_URL = MISTRAL (from MISTRAL_BASE_URL)",
            "ok    OPENROUTER_BASE_URL = ROUTER (from CONFIG)",
            "ok    OPENROUTER_ALLOWED_MODELS = a/b (from CONFIG)",
            "ok    MISTRAL_API_KEY from the environment, ends in …6789",
            "ok    OPENROUTER_API_KEY from CONFIG, ends in …6789",
            "ok    providers: mistral, openrouter; local servers are looked for when a question comes",
            "ok    mistral takes the key: 2 models",
            "ok    openrouter takes the key: 2 models",
        ]
    )
    assert "0123456789" not in ended.out
    assert ended.code == 0
