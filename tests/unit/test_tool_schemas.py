"""What every client pays for in each of its contexts: the list of tools, byte for byte.

`pytest tests/unit/test_tool_schemas.py --inline-snapshot=fix` writes the file anew; the change is then reviewed.
"""

import json
from pathlib import Path

import pytest
from inline_snapshot import external_file
from tests.fixtures.processes import RawServer

from conversation_mcp.server.calls import shown
from conversation_mcp.tools.catalog import TOOL_SETS, AnyTool, tools_of

MAX_BYTES = 7_150
DEFAULT_TOOLS = tools_of(("research",))


def listed() -> str:
    tools = [shown(tool).model_dump(by_alias=True, mode="json", exclude_none=True) for tool in DEFAULT_TOOLS]
    return json.dumps(tools, indent=2, ensure_ascii=False) + "\n"


def test_the_tools_are_listed_as_they_were_reviewed() -> None:
    assert listed() == external_file("../fixtures/tools.json", format=".txt")


@pytest.mark.slow
def test_the_list_is_short_on_the_wire_and_is_the_one_that_was_reviewed(tmp_path: Path) -> None:
    with RawServer(tmp_path) as server:
        server.initialize()
        server.send("tools/list", number=1)
        result = server.answer_to(1)["result"]
        server.end_of_input()
    assert result["tools"] == json.loads(listed())
    assert len(server.lines[-1]) <= MAX_BYTES


def size(*sets: str) -> int:
    tools = [shown(tool).model_dump(by_alias=True, mode="json", exclude_none=True) for tool in tools_of(sets)]
    return len(json.dumps(tools, separators=(",", ":"), ensure_ascii=False).encode())


@pytest.mark.parametrize(("tool_set", "most"), [("consult", 2_700), ("workflows", 14_000), ("log", 4_850)])
def test_the_tools_of_other_sets_are_short(tool_set: str, most: int) -> None:
    assert size(tool_set) <= most


def test_the_tools_for_models_make_the_list_no_longer_than_half_as_much_again() -> None:
    assert size("research", "models") <= 1.5 * size("research")


@pytest.mark.parametrize("tool", tools_of(TOOL_SETS), ids=lambda tool: tool.name)
def test_every_tool_says_its_four_hints_and_takes_only_known_arguments(tool: AnyTool) -> None:
    told = shown(tool).model_dump(by_alias=True, mode="json", exclude_none=True)
    assert set(told["annotations"]) == {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
    assert told["inputSchema"]["additionalProperties"] is False
    assert "outputSchema" not in told
