"""The official inspector's command line over stdio, and over HTTP with a token, in both eras."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.http_process import http_process
from tests.fixtures.node import node_program
from tests.fixtures.processes import environment

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
ERAS = pytest.mark.parametrize("era", ["legacy", "modern"])
ASKING = ["search", "search_followup", "deep_research", "deep_research_followup"]
DOCUMENT = "# B-tree\n\nA B-tree keeps its keys sorted in nodes of a fixed size.\n"


class Inspector:
    def __init__(self, folder: Path, era: str) -> None:
        self.folder = folder
        (folder / "b-tree.md").write_text(DOCUMENT, encoding="utf-8")
        settings = {
            "CONVERSATION_LOGS_DIR": str(folder / "conversation-logs"),
            "CONVERSATION_MCP_DOCUMENTS": str(folder / "b-tree.md"),
        }
        self.command = [
            *node_program("inspector"),
            "--cli",
            *("--protocol-era", era, "--format", "json", "--quiet"),
            *(part for name, value in settings.items() for part in ("-e", f"{name}={value}")),
            *(sys.executable, "-m", "conversation_mcp"),
        ]

    def __call__(self, method: str, *options: str) -> dict[str, Any]:
        run = subprocess.run(
            [*self.command, "--method", method, *options],
            check=False,
            capture_output=True,
            text=True,
            encoding="utf-8",
            env=environment(self.folder),
            cwd=self.folder,
        )
        assert run.returncode == 0, run.stdout + run.stderr
        return json.loads(run.stdout)["result"]

    def tool(self, name: str, **arguments: str) -> dict[str, Any]:
        given = ("--tool-name", name, "--tool-args-json", json.dumps(arguments))
        return self("tools/call", *given)["structuredContent"]


@ERAS
def test_it_lists_strictly_and_calls_every_tool(tmp_path: Path, era: str) -> None:
    inspector = Inspector(tmp_path, era)
    tools = inspector("tools/list", "--strict")["tools"]
    values = {"query": "How are keys kept?"}
    for tool in tools:
        required = tool["inputSchema"].get("required", ())
        result = inspector.tool(tool["name"], **{name: values[name] for name in required})
        values |= {name: value for name, value in result.items() if name == "conversationId"}
    assert len(tools) >= len(ASKING)
    history = inspector.tool("get_conversation_history", conversationId=values["conversationId"])
    assert [message["tool"] for message in history["messages"][::2]] == ASKING[2:]


@ERAS
def test_it_reads_resources_and_prompts(tmp_path: Path, era: str) -> None:
    inspector = Inspector(tmp_path, era)
    identifier = inspector.tool("search", query="How are keys kept?")["conversationId"]
    (template,) = inspector("resources/templates/list")["resourceTemplates"]
    uri = template["uriTemplate"].replace("{conversationId}", identifier)
    (content,) = inspector("resources/read", "--uri", uri)["contents"]
    prompts = [prompt["name"] for prompt in inspector("prompts/list")["prompts"]]
    prompt = inspector("prompts/get", "--prompt-name", prompts[-1], "--prompt-args", f"conversationId={identifier}")
    assert "sorted in nodes of a fixed size" in content["text"]
    assert content["text"] in prompt["messages"][0]["content"]["text"]


@ERAS
def test_over_http_it_lists_strictly_and_gets_an_answer(tmp_path: Path, era: str) -> None:
    document = tmp_path / "b-tree.md"
    document.write_text(DOCUMENT, encoding="utf-8")
    with http_process(tmp_path, "--documents", str(document)) as server:
        command = [*node_program("inspector"), "--cli", server.url, "--transport", "http"]
        options = ["--protocol-era", era, "--format", "json", "--quiet", "--method"]
        call = ["tools/call", "--tool-name", "search", "--tool-args-json", json.dumps({"query": "How are keys kept?"})]
        told: list[str] = []
        for method in (["tools/list", "--strict"], call):
            run = subprocess.run(
                [*command, *options, *method], check=False, capture_output=True, text=True, encoding="utf-8"
            )
            assert run.returncode == 0, run.stdout + run.stderr
            told.append(run.stdout)
    assert len(json.loads(told[0])["result"]["tools"]) == 6
    assert "keys sorted" in told[1]
    assert str(tmp_path) not in told[1]


@ERAS
def test_over_http_a_token_opens_what_nobody_sees_without_one(tmp_path: Path, era: str) -> None:
    document = tmp_path / "b-tree.md"
    document.write_text(DOCUMENT, encoding="utf-8")
    tokens = tmp_path / "tokens.json"
    token = added_token(tmp_path, tokens, "alice")
    settings = {"CONVERSATION_MCP_TOKENS_FILE": str(tokens)}
    with http_process(tmp_path, "--documents", str(document), **settings) as server:
        command = [*node_program("inspector"), "--cli", server.url, "--transport", "http", "--stored-auth-only"]
        options = ["--protocol-era", era, "--format", "json", "--quiet"]

        def inspected(*method: str, header: str | None = f"Authorization: Bearer {token}") -> tuple[int, str]:
            with_header = () if header is None else ("--header", header)
            run = subprocess.run(
                [*command, *with_header, *options, "--method", *method],
                check=False,
                capture_output=True,
                text=True,
                encoding="utf-8",
                env=environment(tmp_path),
            )
            return run.returncode, run.stdout + run.stderr

        def called(name: str, **arguments: str) -> dict[str, Any]:
            given = ("tools/call", "--tool-name", name, "--tool-args-json", json.dumps(arguments))
            code, told = inspected(*given)
            assert code == 0, told
            return json.loads(told)["result"]["structuredContent"]

        assert inspected("tools/list", "--strict")[0] == 0
        started = called("search", query="How are keys kept?")
        assert "keys sorted" in started["rawResultText"]
        listed = called("list_conversations")["conversations"]
        assert [each["conversationId"] for each in listed] == [started["conversationId"]]
        for header in (None, f"Authorization: Bearer {token[:-1]}"):
            code, told = inspected("tools/list", header=header)
            assert code != 0
            assert "search_followup" not in told
    assert list((tmp_path / "conversation-logs" / ".owners").glob("alice-*"))


def added_token(folder: Path, tokens: Path, owner: str) -> str:
    """Return the token that the command line prints for an owner."""
    run = subprocess.run(
        [sys.executable, "-m", "conversation_mcp", "token", "add", owner],
        check=True,
        capture_output=True,
        text=True,
        env=environment(folder, CONVERSATION_MCP_TOKENS_FILE=str(tokens)),
    )
    return run.stdout.splitlines()[-1]
