"""What questions name comes in with our own conversations: from an export, a folder or an archive of it."""

import errno
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from anyio import to_thread
from tests.fixtures.attached import (
    CONTENTS,
    MESSAGES,
    OLD,
    PATH,
    PICTURE,
    named,
    question,
    stored_with_files,
    with_files,
)
from tests.fixtures.exports.imported import bring_in, store_of
from tests.fixtures.odd_exports import as_json, put_and_bring_in, reasons
from tests.fixtures.stores import tree

from conversation_mcp.disk import files as disk
from conversation_mcp.errors import FilesystemError
from conversation_mcp.exporting.catalog import export_format
from conversation_mcp.records.hashes import hash_of
from conversation_mcp.records.models import ConversationId

ID = ConversationId("20260131-1769817600000")
LOST = "lacks 1 content of its files, or has them damaged; the rest is imported"


def exported() -> dict[str, Any]:
    return json.loads(export_format("json").render(with_files(), CONTENTS))


async def kept_in(folder: Path) -> dict[str, bytes]:
    return dict(await store_of(folder).attachments.get(ID, [*CONTENTS]))


async def test_an_export_brings_back_every_byte(tmp_path: Path) -> None:
    report = await put_and_bring_in(tmp_path, as_json([exported()]))
    assert report.counts == {"imported": 1}
    assert await kept_in(tmp_path) == CONTENTS
    stored = await store_of(tmp_path).load(ID)
    assert stored == with_files()
    assert "fileContents" not in stored.data()
    again = export_format("json").render(stored, await kept_in(tmp_path))
    assert json.loads(again) == exported()


@pytest.mark.parametrize("packed", [False, True])
async def test_a_folder_of_conversations_brings_the_files_beside_them(tmp_path: Path, packed: bool) -> None:
    await stored_with_files(store_of(tmp_path / "old"))
    source = tmp_path / "old" / "conversation-logs"
    if packed:
        source = Path(await to_thread.run_sync(shutil.make_archive, str(tmp_path / "packed"), "zip", source))
    report = await bring_in(source, tmp_path)
    assert (report.counts, report.problems) == ({"imported": 1}, [])
    assert await kept_in(tmp_path) == CONTENTS


def lie(data: dict[str, Any]) -> None:
    data["fileContents"][hash_of(OLD)] = {"text": "not what was sent"}


def garble(data: dict[str, Any]) -> None:
    data["fileContents"][hash_of(PICTURE)] = {"base64": "***"}


def mistype(data: dict[str, Any]) -> None:
    data["fileContents"][hash_of(OLD)] = ["text"]


def leave_out(data: dict[str, Any]) -> None:
    del data["fileContents"][hash_of(OLD)]


@pytest.mark.parametrize("damage", [lie, garble, mistype, leave_out])
async def test_a_content_that_is_not_what_it_is_said_to_be_is_reported_and_not_kept(
    tmp_path: Path, damage: Any
) -> None:
    data = exported()
    damage(data)
    report = await put_and_bring_in(tmp_path, as_json([data]))
    assert report.counts == {"imported": 1, "problem": 1}
    assert LOST in reasons(report)[0]
    kept = await kept_in(tmp_path)
    assert len(kept) == len(CONTENTS) - 1
    assert kept.items() <= CONTENTS.items()


async def test_a_content_that_no_question_names_is_not_kept(tmp_path: Path) -> None:
    data = exported()
    data["fileContents"][hash_of(b"smuggled")] = {"text": "smuggled"}
    await put_and_bring_in(tmp_path, as_json([data]))
    assert (await store_of(tmp_path).attachments.sizes(ID)).keys() == CONTENTS.keys()


@pytest.mark.parametrize("field", [{"mine": 1}, [1], "text", None, {"../../x": {"text": "x"}}])
async def test_a_field_of_that_name_with_another_meaning_stays_a_field(tmp_path: Path, field: object) -> None:
    data = {**with_files().data(), "messages": MESSAGES[1:2], "messageCount": 1, "fileContents": field}
    report = await put_and_bring_in(tmp_path, as_json([data]))
    assert report.counts == {"imported": 1}
    assert (await store_of(tmp_path).load(ID)).data()["fileContents"] == field


@pytest.mark.parametrize("name", ["../../../target", "/etc/passwd", "ab", "A" * 64, ""])
async def test_a_hash_that_is_none_leads_nowhere(tmp_path: Path, name: str) -> None:
    (tmp_path / "target").write_bytes(b"not yours")
    source = tmp_path / "old" / ID / "conversation.json"
    source.parent.mkdir(parents=True)
    messages = [{"role": "user", "content": "Q", "files": [{**named(PATH, OLD), "sha256": name}]}]
    source.write_bytes(as_json({**with_files().data(), "messages": messages}))
    report = await bring_in(tmp_path / "old", tmp_path)
    assert report.counts == {"imported": 1, "problem": 1}
    assert tree(tmp_path / "conversation-logs" / ID) == ["conversation.json"]


async def test_a_damaged_file_beside_a_conversation_is_reported(tmp_path: Path) -> None:
    await stored_with_files(store_of(tmp_path / "old"))
    path = tmp_path / "old" / "conversation-logs" / ID / "files" / hash_of(OLD)
    await to_thread.run_sync(path.write_bytes, b"changed")
    report = await bring_in(tmp_path / "old" / "conversation-logs", tmp_path)
    assert report.counts == {"imported": 1, "problem": 1}
    assert LOST in reasons(report)[0]


async def test_a_conversation_that_has_grown_brings_what_its_new_questions_name(tmp_path: Path) -> None:
    await put_and_bring_in(tmp_path, as_json([exported()]))
    data, text = exported(), b"new"
    data["messages"] += [question("This?", named("/new", text)), {"role": "assistant", "content": "So."}]
    data["fileContents"][hash_of(text)] = {"text": "new"}
    report = await put_and_bring_in(tmp_path, as_json([data]))
    assert report.counts == {"extended": 1}
    assert await store_of(tmp_path).attachments.get(ID, [hash_of(text)]) == {hash_of(text): text}
    assert await kept_in(tmp_path) == CONTENTS


async def test_importing_again_brings_back_what_was_lost_here(tmp_path: Path) -> None:
    await put_and_bring_in(tmp_path, as_json([exported()]))
    path = tmp_path / "conversation-logs" / ID / "files" / hash_of(OLD)
    await to_thread.run_sync(path.unlink)
    assert (await put_and_bring_in(tmp_path, as_json([with_files().data()]))).counts == {"unchanged": 1}
    assert (await put_and_bring_in(tmp_path, as_json([exported()]))).counts == {"unchanged": 1}
    assert await kept_in(tmp_path) == CONTENTS


async def test_a_conversation_whose_contents_cannot_be_written_is_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(folder: Path, contents: object, **_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))

    with monkeypatch.context() as faulty:
        faulty.setattr(disk, "replace_files", fail)
        with pytest.raises(FilesystemError, match="no space left"):
            await put_and_bring_in(tmp_path, as_json([exported()]))
    assert tree(tmp_path / "conversation-logs") == [".gitignore"]
    await put_and_bring_in(tmp_path, as_json([exported()]))
    assert await kept_in(tmp_path) == CONTENTS


async def test_a_dry_run_keeps_nothing(tmp_path: Path) -> None:
    report = await put_and_bring_in(tmp_path, as_json([exported()]), dry_run=True)
    assert report.counts == {"imported": 1}
    assert tree(tmp_path) == ["conversations.json"]
