"""The documents that come from the code are those of today, and say something of everything."""

import json
from copy import deepcopy
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from tests.fixtures.documents import handbook
from tests.fixtures.providers import FakeProvider
from tests.fixtures.serving import data_of, serving
from tests.reference.file_schema import file_schema
from tests.reference.pages import PAGES, ROOT
from tests.reference.records import Model, fields_of, records_in, sentences_of
from tests.reference.tools_page import result_of

from conversation_mcp.conversations.history import HistoryPage
from conversation_mcp.errors import ConversationCorruptedError
from conversation_mcp.records.codec import decode
from conversation_mcp.records.models import Conversation, ConversationId
from conversation_mcp.settings import Settings
from conversation_mcp.tools.catalog import TOOL_SETS, AnyTool, tools_of
from conversation_mcp.turns.result import TurnResult

TOOLS = tools_of(TOOL_SETS)
ID = ConversationId("20260131-1769817600000")
SMALLEST: dict[str, Any] = {
    "conversationId": ID,
    "createdAt": "2026-01-31T00:00:00.000Z",
    "updatedAt": "2026-01-31T00:00:00.000Z",
    "messageCount": 1,
    "messages": [{"role": "user", "content": "Why?"}],
}
WRONG: dict[str, dict[str, Any]] = {
    "no messages": {"messages": None},
    "an unknown role": {"messages": [{"role": "oracle", "content": "Why?"}]},
    "no content": {"messages": [{"role": "user"}]},
    "a count in words": {"messageCount": "one"},
    "a source without a number": {"messages": [{"role": "assistant", "content": "So.", "sources": [{"title": "B"}]}]},
    "tags that are no list": {"tags": "b-tree"},
    "a pending turn without a question": {"pendingTurn": {"status": "failed"}},
}


@pytest.mark.parametrize("name", PAGES)
def test_the_document_is_that_of_the_code(name: str) -> None:
    kept = (ROOT / name).read_text(encoding="utf-8") if (ROOT / name).is_file() else ""
    assert kept == PAGES[name](), f"{name} is stale; `make docs` writes it anew"


@pytest.mark.parametrize("name", [name for name in PAGES if name.endswith(".md")])
def test_every_row_of_a_table_has_as_many_cells_as_its_head(name: str) -> None:
    lines = [line.replace("\\|", "").count("|") for line in PAGES[name]().splitlines()]
    assert [(above, below) for above, below in pairwise(lines) if above and below and above != below] == []


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_tool_has_its_arguments_and_its_result_in_the_page(tool: AnyTool) -> None:
    section = PAGES["docs/tools.md"]().split(f"\n## {tool.name}\n")[1].split("\n## ")[0]
    assert tool.description in section
    assert all(f"| `{field.alias or name}` |" in section for name, field in tool.input_model.model_fields.items())
    assert f"[{result_of(tool).__name__}](#{result_of(tool).__name__.lower()})" in section


def test_every_record_of_a_result_has_a_section() -> None:
    page = PAGES["docs/tools.md"]()
    names = {name for tool in TOOLS for name in records_in(result_of(tool))}
    assert {"Source", "PendingTurn"} < names
    assert all(f"\n### {name}\n" in page for name in names)


@pytest.mark.parametrize("record", [TurnResult, HistoryPage], ids=lambda record: record.__name__)
def test_every_field_of_a_result_has_its_sentence(record: Model) -> None:
    assert [field.name for field in fields_of(record) if not field.words] == []


def test_every_setting_has_its_sentence() -> None:
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []


def test_a_sentence_is_found_under_its_field_and_in_bases() -> None:
    class Base(Conversation):
        first: str
        """The first
        of two."""

    class Derived(Base):
        second: int
        third: int
        """The third."""

    found = sentences_of(Derived)
    assert (found["first"], found.get("second"), found["third"]) == ("The first of two.", None, "The third.")


async def test_a_conversation_of_today_fits_the_schema(tmp_path: Path) -> None:
    async with serving(tmp_path, handbook(tmp_path), FakeProvider()) as client:
        first = data_of(await client.call_tool("search", {"query": "How is Kettle installed on Linux?"}))
        again = {"conversationId": first["conversationId"], "query": "And how much may it boil?"}
        last = data_of(await client.call_tool("deep_research_followup", again))
    kept = json.loads(Path(last["conversationPath"]).read_bytes())
    assert len(kept["messages"]) == 5
    assert problems(kept) == []


@pytest.mark.slow
def test_the_five_fields_of_the_contract_are_enough() -> None:
    assert problems(SMALLEST) == []
    for name in SMALLEST:
        assert problems({field: value for field, value in SMALLEST.items() if field != name})


@pytest.mark.parametrize("wrong", WRONG)
def test_what_the_schema_refuses_cannot_be_read_either(wrong: str) -> None:
    damaged = deepcopy(SMALLEST) | WRONG[wrong]
    assert problems(damaged)
    with pytest.raises(ConversationCorruptedError):
        decode(json.dumps(damaged).encode(), "conversation.json", ID)


def problems(conversation: dict[str, Any]) -> list[str]:
    schema = file_schema()
    Draft202012Validator.check_schema(schema)
    validator: Any = Draft202012Validator(schema)
    return [error.message for error in validator.iter_errors(conversation)]
