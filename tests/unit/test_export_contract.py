"""What every export format promises. A format is tested by being listed in the catalog."""

import json
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fixtures.conversations import conversations

from conversation_mcp.exporting.base import ExportFormat
from conversation_mcp.exporting.catalog import EXPORT_FORMATS, FormatName, export_format
from conversation_mcp.exporting.file_names import MAX_BYTES, file_name
from conversation_mcp.exporting.redaction import redacted
from conversation_mcp.exporting.writer import pieces
from conversation_mcp.records.models import Conversation

quickly = settings(max_examples=20, deadline=None)


@pytest.fixture(params=EXPORT_FORMATS, scope="module")
def chosen(request: pytest.FixtureRequest) -> ExportFormat:
    return export_format(request.param)


@pytest.mark.slow
@quickly
@given(conversation=conversations())
def test_every_conversation_has_a_text_that_can_be_written(chosen: ExportFormat, conversation: Conversation) -> None:
    text = chosen.render(conversation)
    assert text.encode()
    assert text.endswith("\n")
    assert chosen.render(conversation) == text


@pytest.mark.slow
@quickly
@given(conversation=conversations())
def test_no_conversation_is_changed(chosen: ExportFormat, conversation: Conversation) -> None:
    before = conversation.model_dump_json()
    chosen.render(conversation)
    assert conversation.model_dump_json() == before


@pytest.mark.slow
@quickly
@given(conversation=conversations())
def test_a_redacted_conversation_can_be_written_too(chosen: ExportFormat, conversation: Conversation) -> None:
    assert "responseId" not in chosen.render(*redacted(conversation))


@pytest.mark.slow
@quickly
@given(several=st.lists(conversations(), max_size=3))
def test_several_in_one_file_are_all_in_it(chosen: ExportFormat, several: Sequence[Conversation]) -> None:
    text = "".join(pieces([(each, {}) for each in several], chosen, framed=True))
    alone = [chosen.render(conversation) for conversation in several]
    assert all(part in text for part in alone)
    if chosen.name == "json":
        assert [json.dumps(data) for data in json.loads(text)] == [json.dumps(json.loads(part)) for part in alone]
    if chosen.name == "jsonl":
        assert len(text.splitlines()) >= len([json.loads(line) for line in text.split("\n") if line]) == len(several)


@pytest.mark.slow
@quickly
@given(conversation=conversations())
def test_the_name_of_a_file_is_safe_on_every_system(chosen: ExportFormat, conversation: Conversation) -> None:
    name = file_name(conversation, chosen.suffix)
    assert name.startswith(conversation.conversation_id)
    assert name.endswith(chosen.suffix)
    assert len(name.encode()) <= MAX_BYTES
    assert all(char.isalnum() or char == "-" for char in name.removesuffix(chosen.suffix))
    assert not name.removesuffix(chosen.suffix).endswith(("-", "."))


def test_the_names_of_the_formats_are_those_of_the_catalog() -> None:
    names: list[FormatName] = list(EXPORT_FORMATS)
    assert [export_format(name).name for name in names] == names
