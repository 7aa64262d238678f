"""The other ways to a workflow: templates, tools of their own names, prompts, and the command line."""

from functools import partial
from pathlib import Path

import pytest
from anyio import to_thread
from mcp import Client
from mcp.types import TextContent
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
