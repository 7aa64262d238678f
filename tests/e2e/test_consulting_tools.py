"""The other ways to a workflow: templates, tools of their own names, prompts, and the command line."""

import json
import subprocess
from functools import partial
from pathlib import Path

import pytest
from anyio import to_thread
from mcp import Client, MCPError
from mcp.types import TextContent
from tests.fixtures.chat_rules import KEY
from tests.fixtures.chat_server import ChatServer
from tests.fixtures.cli import PROGRAM, clean_environment
from tests.fixtures.consulting import STEPPED, TOOLS, consult, step, stored
from tests.fixtures.models import FakeModels
from tests.fixtures.serving import data_of, server_on, serving

from conversation_mcp.workflows.names import SHIPPED


@pytest.mark.parametrize("name", [name for name in SHIPPED if name not in STEPPED])
async def test_a_template_answers_at_once_and_stores_nothing(tmp_path: Path, name: str) -> None:
    models = FakeModels(name="openai")
    async with serving(tmp_path, models, tools=TOOLS) as client:
        done = await consult(client, step(1, 1, name, step="The sky is green."))
    assert (done["state"], "The sky is green." in done["form"], models.requests) == ("template", True, [])
    assert "conversationId" not in done
    assert not list((tmp_path / "conversation-logs").glob("2*"))


async def test_each_workflow_is_a_tool_of_its_own_and_so_are_those_of_the_user(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "rubber-duck.md").write_text('+++\nsummary = "Explain it."\n[[guidance]]\nsay = "Go on."\n+++\n')
    (own / "search.md").write_text('+++\nsummary = "Explain it."\n[[guidance]]\nsay = "Go on."\n+++\n')
    models = FakeModels(name="openai")
    opened = partial(server_on, tmp_path, models, tools=("workflows",), workflows_dir=own, roots=(tmp_path,))
    async with Client(await to_thread.run_sync(opened), raise_exceptions=True) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == [*SHIPPED, "rubber-duck"]
        (tmp_path / "a.py").write_text("x = 1\n")
        given = {**step(1, 1), "files": [str(tmp_path / "a.py")], "severityFilter": "high", "reviewType": "quick"}
        del given["workflow"]
        done = data_of(await client.call_tool("codereview", given))
        assert stored(done)["workflowSteps"][0]["options"]["reviewType"] == "quick"
        filled = data_of(await client.call_tool("challenge", {"prompt": "The sky is green."}))
        assert filled["state"] == "template"
        del given["files"], given["severityFilter"], given["reviewType"]
        assert data_of(await client.call_tool("rubber-duck", given))["state"] == "finished"


async def test_each_workflow_is_a_prompt_with_its_options_as_arguments(tmp_path: Path) -> None:
    async with serving(tmp_path, FakeModels(name="openai"), tools=TOOLS) as client:
        prompts = {prompt.name: prompt for prompt in (await client.list_prompts()).prompts}
        assert set(SHIPPED) <= set(prompts)
        names = [argument.name for argument in prompts["secaudit"].arguments or ()]
        assert names[:3] == ["request", "files", "conversationId"]
        assert "threatLevel" in names
        asked = await client.get_prompt("secaudit", {"request": "Is it safe?", "files": "/src", "threatLevel": "high"})
        [message] = asked.messages
        assert isinstance(message.content, TextContent)
        assert "consult with workflow secaudit with stepNumber 1" in message.content.text
        assert "- files: /src\n- threatLevel: high" in message.content.text
    async with serving(tmp_path, FakeModels(name="openai")) as client:
        assert not {prompt.name for prompt in (await client.list_prompts()).prompts} & set(SHIPPED)


async def test_a_consensus_is_a_prompt_with_arguments_if_its_tool_is_on(tmp_path: Path) -> None:
    models = FakeModels(name="openai")
    async with serving(tmp_path, models, tools=TOOLS) as client:
        prompts = {prompt.name: prompt for prompt in (await client.list_prompts()).prompts}
        arguments = prompts["consensus"].arguments or ()
        assert [one.name for one in arguments] == ["request", "models", "files", "conversationId", "synthesis"]
        named = await client.get_prompt("consensus", {"request": "Shall we?", "models": "a:for, b", "files": "/src"})
        bare = await client.get_prompt("consensus", {"request": "Shall we?"})
        with pytest.raises(MCPError, match="consensus needs request"):
            await client.get_prompt("consensus", {"models": "a"})
    texts = [one.messages[0].content for one in (named, bare)]
    assert all(isinstance(text, TextContent) and text.text.endswith("\n\nShall we?") for text in texts)
    assert "Its models are: a:for, b." in str(texts[0])
    assert "- files: /src" in str(texts[0])
    assert "Choose with list_models two or three able models" in str(texts[1])
    async with serving(tmp_path, models) as client:
        assert "consensus" not in {prompt.name for prompt in (await client.list_prompts()).prompts}


def test_a_whole_workflow_runs_from_a_terminal_with_the_change_of_the_repository(tmp_path: Path) -> None:
    (work := tmp_path / "work").mkdir()
    repository(work)
    with ChatServer("custom") as server:
        access = {"CUSTOM_API_URL": server.base_url, "CUSTOM_API_KEY": KEY, "CUSTOM_MODEL_NAME": "small-1"}

        def consulted(*arguments: str) -> subprocess.CompletedProcess[str]:
            command, env = [*PROGRAM, "consult", *arguments], clean_environment(tmp_path, **access)
            return subprocess.run(
                command, check=False, capture_output=True, env=env, cwd=work, text=True, encoding="utf-8", timeout=100
            )

        done = consulted("precommit", "May I commit it?", "-o", "severityFilter=high")
        data = json.loads(consulted("codereview", "Is it good?", "-f", "a.py", "--json").stdout)
        turned_away = consulted("planner", "Plan it.")
        filled = consulted("challenge", "The sky is green.")
    assert (done.returncode, "answer 1 to" in done.stdout) == (0, True), done.stderr
    asked = json.dumps(server.requests[0])
    assert "x = 2" in asked
    assert "severityFilter: high" in asked
    assert (data["state"], data["asked"], data["workflow"]) == ("validated", True, "codereview")
    assert turned_away.returncode == 2
    assert turned_away.stderr.startswith("VALIDATION_ERROR: planner asks no model: an agent takes its steps")
    assert "The sky is green." in filled.stdout
    assert len(server.requests) == 2


def repository(folder: Path) -> None:
    """Make the folder a repository with one change that is not committed."""
    path = folder / "a.py"
    path.write_text("x = 1\n")
    for command in (["init", "-q"], ["add", "a.py"], ["commit", "-qm", "One."]):
        who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *who, *command], cwd=folder, check=True)
    path.write_text("x = 2\n")
