"""What other memory servers kept comes in as memories, each text once, and a damaged line costs nobody else."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.fixtures.exports.imported import bring_in, stored_in
from tests.fixtures.exports.memories import ENTITIES, NOTE, REMEMBERED, write_basic_memory, write_memory_server

from conversation_mcp.records.memories import Memory

Writer = Callable[[Path], Path]


async def memories_in(folder: Path) -> dict[str, tuple[Memory, ...]]:
    return {each.title or "": each.memories or () for each in await stored_in(folder)}


def contents(memories: dict[str, tuple[Memory, ...]]) -> dict[str, tuple[str, ...]]:
    return {title: tuple(each.content for each in some) for title, some in memories.items()}


@pytest.mark.parametrize("write", [write_memory_server, write_basic_memory])
async def test_everything_that_was_remembered_comes_in(write: Writer, tmp_path: Path) -> None:
    await bring_in(write(tmp_path), tmp_path)
    found = contents(await memories_in(tmp_path))
    assert found == {title: REMEMBERED[title] for title in found} != {}


async def test_tags_and_facts_say_where_a_memory_came_from(tmp_path: Path) -> None:
    await bring_in(write_memory_server(tmp_path), tmp_path)
    [first, _, lone, relation] = (await memories_in(tmp_path))["Memories of memory.jsonl"]
    assert (first.tags, first.metadata) == (("person", "Ann"), {"entity": "Ann", "entityType": "person"})
    assert lone.tags == ("company", "Acme")
    assert relation.metadata == {"from": "Ann", "to": "Acme", "relationType": "works_at"}
    await bring_in(write_basic_memory(tmp_path), tmp_path)
    [observation, *_] = (await memories_in(tmp_path))["Coffee"]
    assert observation.tags == ("method", "filter", "brewing", "morning")


async def test_a_whole_graph_as_a_client_was_told_it_comes_in(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_text(json.dumps({"entities": ENTITIES[:2], "relations": ENTITIES[2:]}), encoding="utf-8")
    await bring_in(path, tmp_path)
    title = "Memories of memory.jsonl"
    assert contents(await memories_in(tmp_path)) == {title: REMEMBERED[title]}


async def test_a_damaged_line_is_named_and_costs_nobody_else(tmp_path: Path) -> None:
    path = write_memory_server(tmp_path)
    lines = path.read_text(encoding="utf-8").split("\n")
    broken = [lines[0], '{"type": "entity", "name": "Bob', "[1]", '{"type": "entity", "name": 7}', *lines[1:]]
    path.write_text("\n".join(broken), encoding="utf-8")
    report = await bring_in(path, tmp_path)
    assert len(report.problems) == 3
    title = "Memories of memory.jsonl"
    assert contents(await memories_in(tmp_path)) == {title: REMEMBERED[title]}


async def test_a_note_that_is_no_text_is_named_and_costs_nobody_else(tmp_path: Path) -> None:
    notes = write_basic_memory(tmp_path)
    (notes / "Broken.md").write_bytes(b"---\npermalink: broken\n---\n- [fact] \xff\xfe\n")
    report = await bring_in(notes, tmp_path)
    assert [problem.place for problem in report.problems] == ["Broken.md"]
    assert list(await memories_in(tmp_path)) == ["Coffee"]


async def test_what_is_remembered_already_is_not_stored_again(tmp_path: Path) -> None:
    notes = write_basic_memory(tmp_path)
    (notes / "Copy.md").write_text(NOTE.replace("drinks/coffee", "copy"), encoding="utf-8")
    report = await bring_in(notes, tmp_path)
    assert (report.counts["imported"], report.counts["unchanged"]) == (1, 1)
    [only] = (await memories_in(tmp_path)).values()
    assert len(only) == 4
    other = tmp_path / "other.jsonl"
    other.write_text("\n".join(map(json.dumps, ENTITIES)), encoding="utf-8")
    await bring_in(write_memory_server(tmp_path), tmp_path)
    assert (await bring_in(other, tmp_path)).counts["unchanged"] == 1


async def test_what_was_added_at_the_source_since_is_added_here(tmp_path: Path) -> None:
    path = write_memory_server(tmp_path)
    await bring_in(path, tmp_path)
    more = {"type": "entity", "name": "Ann", "entityType": "person", "observations": ["likes tea", "has a dog"]}
    path.write_text(path.read_text(encoding="utf-8") + "\n" + json.dumps(more), encoding="utf-8")
    report = await bring_in(path, tmp_path)
    assert (report.counts["extended"], report.counts["imported"]) == (1, 0)
    [found] = (await memories_in(tmp_path)).values()
    assert [each.content for each in found][4:] == ["Ann: has a dog"]


async def test_secrets_in_memories_are_redacted_as_those_in_messages(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    entity = {"type": "entity", "name": "Ann", "entityType": "person", "observations": ["mail is ann@example.org"]}
    path.write_text(json.dumps(entity), encoding="utf-8")
    await bring_in(path, tmp_path, redact=["emails"])
    [[found]] = (await memories_in(tmp_path)).values()
    assert "ann@example.org" not in found.content


@pytest.mark.slow
async def test_many_memories_of_one_file_are_put_into_several_conversations(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    facts = {
        "type": "entity",
        "name": "N",
        "entityType": "number",
        "observations": [str(each) for each in range(5_001)],
    }
    path.write_text(json.dumps(facts), encoding="utf-8")
    await bring_in(path, tmp_path)
    assert sorted(len(some) for some in (await memories_in(tmp_path)).values()) == [1, 5_000]
