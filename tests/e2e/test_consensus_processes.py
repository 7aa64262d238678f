"""A consensus in real servers: killed in the middle, the same call in two of them, and with models of llama.cpp."""

import json
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.chat_rules import KEY
from tests.fixtures.chat_server import ChatServer
from tests.fixtures.chat_wire import Completion
from tests.fixtures.engines import LLAMA_MODEL, llama
from tests.fixtures.folders import only_conversation
from tests.fixtures.processes import ROOT, RawServer

from conversation_mcp.prompting.prompts import consensus_texts

pytestmark = pytest.mark.slow
QUICK = {"model": "custom:small-1", "stance": "for"}
SLOW = {"model": "custom:large-1", "stancePrompt": "Look at the risks. [[hold]]"}
SUM = {"synthesis": "custom:small-1"}


class SlowSummer(ChatServer):
    """Holds back its summaries until it is released."""

    def create(self, data: bytes, headers: dict[str, str]) -> Completion | str:
        made = super().create(data, headers)
        sums_up = isinstance(made, Completion) and made.question.strip() == consensus_texts()["synthesis"].strip()
        return replace(made, question="[[hold]]") if isinstance(made, Completion) and sums_up else made


@contextmanager
def server_of(folder: Path, provider: ChatServer, **changes: str) -> Generator[RawServer]:
    access = {
        "CUSTOM_API_URL": provider.base_url, "CUSTOM_API_KEY": KEY, "CONVERSATION_MCP_TOOLS": "research,models,consult",
    }  # fmt: skip
    with RawServer(folder, cwd=folder, **access, **changes) as server:
        server.initialize()
        yield server


def ask(server: RawServer, *models: dict[str, str], **more: Any) -> None:
    arguments = {"prompt": "Shall we?", "models": list(models), **more}
    params = {"name": "consensus", "arguments": arguments, "_meta": {"progressToken": "p"}}
    server.send("tools/call", params, 1)


def result_of(server: RawServer) -> dict[str, Any]:
    result = server.answer_to(1)["result"]
    assert not result.get("isError"), result
    return result


def until_said(server: RawServer, words: str) -> None:
    """Read the progress of the call until it says so."""
    assert server.process.stdout
    for line in server.process.stdout:
        if words in json.loads(line).get("params", {}).get("message", ""):
            return
    raise AssertionError(words)


def states(conversation: dict[str, Any]) -> list[str]:
    return [one.get("status", "running") for one in conversation.get("pendingTurn", {}).get("calls", ())]


def test_killed_while_a_verdict_is_in_flight_it_keeps_the_other_and_asks_again_with_a_notice(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    files = {"files": [str(tmp_path / "a.py")]}
    with ChatServer("custom") as provider:
        with server_of(tmp_path, provider) as server:
            ask(server, QUICK, SLOW, **files)
            until_said(server, "1 of 2 answered")
            server.process.kill()
        assert states(only_conversation(tmp_path)) == ["completed", "running"]
        provider.release()
        with server_of(tmp_path, provider) as server:
            identifier = only_conversation(tmp_path)["conversationId"]
            server.call("get_conversation_history", 7, conversationId=identifier)
            read = server.answer_to(7)["result"]
            assert read["structuredContent"]["pendingTurn"]["status"] == "interrupted"
            assert len(provider.requests) == 2
            ask(server, QUICK, SLOW, **files)
            result = result_of(server)
    verdicts = result["structuredContent"]["verdicts"]
    assert [one["status"] for one in verdicts] == ["completed", "completed"]
    assert sorted(request["model"] for request in provider.requests[:2]) == ["large-1", "small-1"]
    assert [request["model"] for request in provider.requests[2:]] == ["large-1"]
    assert all("1\tx = 1" in json.dumps(request).replace("\\t", "\t") for request in provider.requests)
    assert [any("may be billed, too" in one for one in each.get("notices", ())) for each in verdicts] == [False, True]
    kept = only_conversation(tmp_path)
    assert [one.get("stance") for one in kept["messages"]] == [None, None, "for", "own"]
    assert kept["messages"][1]["files"][0]["path"] == files["files"][0]
    assert [(one["model"], one["status"]) for one in kept["unansweredTurns"]] == [("custom:large-1", "interrupted")]


def test_killed_between_the_verdicts_and_the_synthesis_it_asks_for_the_synthesis_alone(tmp_path: Path) -> None:
    against = {"model": "custom:large-1", "stance": "against"}
    with SlowSummer("custom") as provider:
        with server_of(tmp_path, provider) as server:
            ask(server, QUICK, against, **SUM)
            until_said(server, "sums up")
            assert provider.wait_until(lambda one: len(one.paid) == 3)
            server.process.kill()
        assert states(only_conversation(tmp_path)) == ["completed", "completed", "running"]
        provider.release()
        with server_of(tmp_path, provider) as server:
            ask(server, QUICK, against, **SUM)
            result = result_of(server)["structuredContent"]
    assert len(provider.requests) == 4
    assert result["synthesis"]["status"] == "completed"
    assert "may be billed, too" in str(result["synthesis"]["notices"])
    assert len(only_conversation(tmp_path)["messages"]) == 5


def test_two_processes_that_get_the_same_consensus_pay_it_once(tmp_path: Path) -> None:
    with ChatServer("custom") as provider, server_of(tmp_path, provider) as one, server_of(tmp_path, provider) as two:
        ask(one, QUICK, SLOW)
        until_said(one, "1 of 2 answered")
        ask(two, QUICK, SLOW)
        until_said(two, "already being answered")
        provider.release()
        first, second = (result_of(server)["structuredContent"] for server in (one, two))
    assert first["verdicts"] == second["verdicts"]
    assert first["conversationId"] == second["conversationId"]
    assert len(provider.requests) == 2


def test_three_models_of_llama_cpp_judge_a_file_of_this_repository(tmp_path: Path) -> None:
    file = ROOT / "tests" / "fixtures" / "folders.py"
    names = ("a", "b", "c")
    with llama(window_tokens=8192) as base_url:
        config = tmp_path / "config" / "conversation-mcp" / "config.toml"
        config.parent.mkdir(parents=True)
        config.write_text("".join(
            f'[providers.{name}]\nfamily = "chat_completions"\nbase_url = "{base_url}"\nkind = "local"\ndefault_window_tokens = 8192\nquirks.output_limit_tokens = 32\n' for name in names
        ))  # fmt: skip
        settings = {
            "XDG_CONFIG_HOME": str(tmp_path / "config"), "CONVERSATION_MCP_TOOLS": "research,models,consult",
            "CONVERSATION_MCP_ROOTS": str(ROOT),
        }  # fmt: skip
        with RawServer(tmp_path, cwd=tmp_path, **settings) as server:
            server.initialize()
            stances = zip(names, ("for", "against", "neutral"), strict=True)
            models = [{"model": f"{name}:{LLAMA_MODEL}", "stance": stance} for name, stance in stances]
            ask(server, *models, files=[str(file)], synthesis=models[0]["model"])
            result = result_of(server)["structuredContent"]
    verdicts = [*result["verdicts"], result["synthesis"]]
    assert [one["provider"] for one in verdicts] == ["a", "b", "c", "a"]
    assert all(one["text"] for one in verdicts)
    assert all(one["usage"]["outputTokens"] > 0 for one in verdicts)
    assert len(only_conversation(tmp_path)["messages"]) == 6
