"""Workflows through the server: steps in the file, another model at the end, and other tools in between."""

import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from tests.fixtures.homes import Home
from tests.fixtures.models import FakeModels
from tests.fixtures.providers import answer_to, failing
from tests.fixtures.serving import data_of, error_of, serving, text_of

from conversation_mcp.errors import ProviderUnavailableError
from conversation_mcp.workflows.definition import Workflow
from conversation_mcp.workflows.library import Workflows
from conversation_mcp.workflows.names import SHIPPED

TOOLS = ("research", "models", "consult")
KNOWN = Workflows()
OUTCOME = '{"outcome": "needs_files", "needs": ["src/tree.py"]}'


def stored(result: dict[str, Any]) -> dict[str, Any]:
    return json.loads(Path(result["conversationPath"]).read_text(encoding="utf-8"))


def step(number: int, total: int, workflow: str = "debug", **facts: Any) -> dict[str, Any]:
    return {
        "workflow": workflow, "step": f"Do {number}.", "stepNumber": number, "totalSteps": total,
        "next": number < total, "findings": f"Finding {number}.", **facts,
    }  # fmt: skip


async def consult(client: Client, **arguments: Any) -> dict[str, Any]:
    return data_of(await client.call_tool("consult", arguments))


async def test_x(tmp_path: Path) -> None:
    models = FakeModels(name="openai")
    (tmp_path / "a.py").write_text("x = 1\n")
    async with serving(tmp_path, models, tools=TOOLS, roots=(tmp_path,)) as client:
        first = await consult(client, **step(1, 2, files=[str(tmp_path / "a.py")]))
        print(json.dumps(first, indent=1))
        same = {"conversationId": first["conversationId"]}
        done = await consult(client, **step(2, 2, **same))
        print(json.dumps(done, indent=1))
        again = await client.call_tool("consult", step(2, 2, **same))
        print(text_of(again))
        print(json.dumps(stored(done), indent=1))
    print(models.requests)
    assert 0
