"""Conversations as resources: a template, completion of ids, and word of changes, in both eras."""

import re
from pathlib import Path

import pytest
from inline_snapshot import snapshot
from mcp import MCPError
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    ResourceTemplateReference,
)
from tests.fixtures.folders import ID, left_behind, only_file
from tests.fixtures.providers import FakeProvider
from tests.fixtures.reading import read, started
from tests.fixtures.serving import Era, serving
from tests.fixtures.stores import BAD_IDS, UNKNOWN, tree

from conversation_mcp.providers.base import Answer, Finished

TEMPLATE = "conversation://{conversationId}"
ERAS = pytest.mark.parametrize("era", ["auto", "legacy"])


@ERAS
async def test_there_is_one_template_and_no_list_that_grows(tmp_path: Path, era: Era) -> None:
    async with serving(tmp_path, FakeProvider(), era=era) as client:
        await started(client)
        (template,) = (await client.list_resource_templates()).resource_templates
        assert (template.uri_template, template.mime_type) == (TEMPLATE, "text/markdown")
        assert (await client.list_resources()).resources == []


@ERAS
async def test_a_conversation_reads_as_a_document_with_its_sources_as_links(tmp_path: Path, era: Era) -> None:
    async with serving(tmp_path, FakeProvider(), era=era) as client:
        identifier = await started(client, "What is [this]?")
        await client.call_tool("deep_research_followup", {"conversationId": identifier, "query": "And *that*?"})
        text = await read(client, f"conversation://{identifier}")
    path = only_file(tmp_path)
    times = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC")
    told = times.sub("NOW", text).replace(identifier, ID).replace(str(path.parents[1]), "FOLDER")
    assert told == snapshot("""\
# What is [this]?

`20260131-1769817600000` · 2 answers · $0.50 · updated NOW

---

**Question** · #2 · search · NOW

What is [this]?

**Answer** · #3 · fake fast (test/one) · $0.25 · NOW

answer 1 to What is [this]? [1]

Sources:

- \\[1\\] [A page](<https://example.org/1>)

---

**Question** · #4 · deep_research_followup · NOW

And *that*?

**Answer** · #5 · fake high (test/one) · $0.25 · NOW

answer 2 to And *that*? [1]

Sources:

- \\[1\\] [A page](<https://example.org/2>)

---

File: FOLDER/20260131-1769817600000/conversation.json\
""")


async def test_a_long_conversation_is_cut_at_its_beginning_and_names_the_file(tmp_path: Path) -> None:
    async with serving(tmp_path, FakeProvider(), max_result_chars=1_000) as client:
        identifier = await started(client, "first " + "x" * 2_000)
        await client.call_tool("search_followup", {"conversationId": identifier, "query": "last?"})
        text = await read(client, f"conversation://{identifier}")
    assert "answer 2 to last?" in text
    assert "x" * 100 not in text
    assert "> Notice: only the end of this conversation is shown here, " in text
    assert f" characters; the whole of it is in {only_file(tmp_path)}" in text
    assert len(text) < 1_500


async def test_a_question_without_an_answer_is_shown_with_its_state(tmp_path: Path) -> None:
    path = left_behind(tmp_path, status="failed", error={"code": "PROVIDER_AUTH", "message": "no key."})
    async with serving(tmp_path, FakeProvider()) as client:
        text = await read(client, f"conversation://{ID}")
    assert "**Question without an answer: failed**" in text
    assert "\n\ntwo?\n\nPROVIDER_AUTH: no key." in text
    assert text.endswith(f"File: {path}")


async def test_reading_settles_what_a_dead_server_left_behind(tmp_path: Path) -> None:
    left_behind(tmp_path, responseId="resp_1")
    provider = FakeProvider()
    provider.runs["resp_1"] = Finished(Answer("Two."))
    async with serving(tmp_path, provider) as client:
        assert "\n\nTwo.\n\n" in await read(client, f"conversation://{ID}")
    assert provider.requests == []


@ERAS
@pytest.mark.parametrize("identifier", [UNKNOWN, *BAD_IDS])
async def test_an_unknown_or_bad_id_is_not_found_and_leaves_no_trace(tmp_path: Path, era: Era, identifier: str) -> None:
    address = f"conversation://{identifier}".encode("utf-8", "replace").decode()
    async with serving(tmp_path, FakeProvider(), era=era) as client:
        with pytest.raises(MCPError) as caught:
            await client.read_resource(address)
    assert (caught.value.code, caught.value.data) == (INVALID_PARAMS, {"uri": address})
    assert tree(tmp_path) == []


async def test_a_file_that_cannot_be_read_is_told_in_the_words_of_the_tools(tmp_path: Path) -> None:
    left_behind(tmp_path).write_text("{", encoding="utf-8")
    async with serving(tmp_path, FakeProvider()) as client:
        with pytest.raises(MCPError, match=r"CONVERSATION_CORRUPTED: .* The file was not changed") as caught:
            await client.read_resource(f"conversation://{ID}")
    assert caught.value.code == INTERNAL_ERROR


@ERAS
async def test_ids_are_completed_the_newest_first_and_a_hundred_at_most(tmp_path: Path, era: Era) -> None:
    ids = [f"20260131-{1769817600000 + number:013d}" for number in range(130)]
    for identifier in [*ids, "20991231-0000000000001", "no-conversation"]:
        folder = tmp_path / "conversation-logs" / identifier
        folder.mkdir(parents=True)
        (folder / "conversation.json").write_text("not read", encoding="utf-8")
    reference = ResourceTemplateReference(type="ref/resource", uri=TEMPLATE)
    async with serving(tmp_path, FakeProvider(), era=era) as client:
        every = (await client.complete(reference, {"name": "conversationId", "value": ""})).completion
        some = (
            await client.complete(reference, {"name": "conversationId", "value": "20260131-176981760011"})
        ).completion
        none = (await client.complete(reference, {"name": "other", "value": ""})).completion
    assert every.values == ids[:-101:-1]
    assert (every.total, every.has_more) == (131, True)
    assert some.values == ids[119:109:-1]
    assert (some.total, some.has_more) == (10, False)
    assert none.values == []


async def test_before_the_first_conversation_there_is_nothing_to_complete(tmp_path: Path) -> None:
    reference = ResourceTemplateReference(type="ref/resource", uri=TEMPLATE)
    async with serving(tmp_path, FakeProvider()) as client:
        completion = (await client.complete(reference, {"name": "conversationId", "value": ""})).completion
    assert (completion.values, tree(tmp_path)) == ([], [])
