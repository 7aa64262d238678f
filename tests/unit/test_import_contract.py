"""What every import format promises. A format is tested by being listed in the catalog, with a sample beside it."""

import zipfile
from pathlib import Path

import pytest
from tests.fixtures.exports.imported import bring_in, name_of, said_in, stored_in
from tests.fixtures.exports.samples import SAMPLES, Sample
from tests.fixtures.sent import messages_to_send
from tests.fixtures.stores import tree

from conversation_mcp.importing.catalog import IMPORT_FORMATS
from conversation_mcp.providers.wire.roles import sent_messages

IN_ARCHIVES = [name for name in IMPORT_FORMATS if name != "llm"]


@pytest.fixture(params=IMPORT_FORMATS)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def sample(name: str) -> Sample:
    return SAMPLES[name]


@pytest.fixture
def source(sample: Sample, tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    return sample.write(folder)


async def test_it_is_recognised_by_its_content_and_comes_in_whole(
    name: str, sample: Sample, source: Path, tmp_path: Path
) -> None:
    report = await bring_in(source, tmp_path)
    stored = await stored_in(tmp_path)
    assert {name_of(conversation): said_in(conversation) for conversation in stored} == sample.expected
    assert report.counts["imported"] == len(stored)
    assert {kind: report.left_out[kind] for kind in report.left_out if report.left_out[kind]} == {
        kind: count for kind, count in sample.left_out.items() if count
    }
    if name != "conversation-mcp":
        assert {conversation.imported.source for conversation in stored if conversation.imported} == {name}


async def test_importing_again_changes_nothing(source: Path, tmp_path: Path) -> None:
    first = await bring_in(source, tmp_path)
    before = await stored_in(tmp_path)
    again = await bring_in(source, tmp_path)
    assert await stored_in(tmp_path) == before
    assert again.counts["imported"] == again.counts["extended"] == again.counts["changed"] == 0
    assert again.counts["unchanged"] == first.counts["imported"] + first.counts["unchanged"]


async def test_a_dry_run_counts_the_same_and_writes_nothing(source: Path, tmp_path: Path) -> None:
    dry = await bring_in(source, tmp_path, dry_run=True)
    assert not (tmp_path / "conversation-logs").exists()
    wet = await bring_in(source, tmp_path)
    assert (dry.counts, dry.left_out, dry.undated) == (wet.counts, wet.left_out, wet.undated)
    assert (await bring_in(source, tmp_path, dry_run=True)).counts["unchanged"] == wet.counts["imported"]


async def test_the_other_branches_come_in_when_they_are_asked_for(sample: Sample, source: Path, tmp_path: Path) -> None:
    await bring_in(source, tmp_path)
    report = await bring_in(source, tmp_path, all_branches=True)
    assert report.counts["imported"] == len(sample.other_branches)
    branches = [conversation for conversation in await stored_in(tmp_path) if conversation.parent]
    assert sorted(map(said_in, branches)) == sorted(sample.other_branches.values())
    ids = {conversation.conversation_id for conversation in await stored_in(tmp_path) if not conversation.parent}
    assert {str((conversation.parent or {})["conversationId"]) for conversation in branches} <= ids


async def test_the_id_tells_when_a_conversation_was_begun(source: Path, tmp_path: Path) -> None:
    await bring_in(source, tmp_path)
    for conversation in await stored_in(tmp_path):
        begun = conversation.created_at
        day = begun[:10].replace("-", "")
        assert conversation.conversation_id.startswith(day)
        assert conversation.created_at <= conversation.updated_at


async def test_what_came_in_can_be_followed_up(source: Path, tmp_path: Path) -> None:
    await bring_in(source, tmp_path)
    for conversation in await stored_in(tmp_path):
        sent = sent_messages(messages_to_send(conversation, "next?"))
        spoken = [message["role"] for message in sent if message["role"] != "system"]
        assert spoken == ["user", "assistant"] * (len(spoken) // 2) + ["user"]


async def test_the_source_is_read_and_never_written(source: Path, tmp_path: Path) -> None:
    def contents() -> dict[str, bytes]:
        folder = tmp_path / "source"
        return {path: (folder / path).read_bytes() for path in tree(folder) if (folder / path).is_file()}

    before = contents()
    await bring_in(source, tmp_path)
    assert contents() == before


@pytest.mark.parametrize("name", IN_ARCHIVES)
async def test_an_archive_is_read_without_being_unpacked(sample: Sample, source: Path, tmp_path: Path) -> None:
    archive = tmp_path / "export.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in tree(tmp_path / "source"):
            packed.write(tmp_path / "source" / path, f"nested/{path}")
    await bring_in(archive, tmp_path)
    stored = await stored_in(tmp_path)
    assert {name_of(conversation): said_in(conversation) for conversation in stored} == sample.expected
    assert {path.name for path in tmp_path.iterdir()} == {"source", "export.zip", "conversation-logs"}


async def test_naming_the_format_is_the_same_as_recognising_it(
    name: str, sample: Sample, source: Path, tmp_path: Path
) -> None:
    await bring_in(source, tmp_path, wanted=name)
    said = {said_in(conversation) for conversation in await stored_in(tmp_path)}
    assert set(sample.expected.values()) <= said


def test_every_format_has_a_sample() -> None:
    assert SAMPLES.keys() == IMPORT_FORMATS.keys()
