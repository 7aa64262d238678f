"""A folder is encrypted, decrypted and given another key, also if that is interrupted anywhere."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from tests.fixtures.encrypted_store import KEY
from tests.fixtures.sealing import OTHER_KEY, WORDS, filled, holding, opened
from tests.fixtures.stores import UNKNOWN, appended, started

from conversation_mcp.errors import KeyMissingError, WrongKeyError
from conversation_mcp.records.hashes import hash_of
from conversation_mcp.records.models import ConversationId
from conversation_mcp.sealing.keys import Encryption
from conversation_mcp.stores.base import Call
from conversation_mcp.stores.conversion import Convertible, Goal
from conversation_mcp.stores.files.conversion import FolderConverter
from conversation_mcp.stores.headway import Headway

CONTENT = b"the quarterly figures"
POINTS = 50


def converter(root: Path, keys: str = KEY) -> FolderConverter:
    return FolderConverter(root, "local", Encryption(keys, None), is_durable=False)


def converted(root: Path, goal: Goal, keys: str = KEY) -> list[str]:
    return list(converter(root, keys).convert(goal, Headway()))


async def _made(root: Path, key: str | None = None) -> list[ConversationId]:
    """Make some conversations, one of them in the trash, an export and a call; return the ids of those that stay."""
    store = opened(root, key)
    ids = [await filled(store) for _ in range(3)]
    trashed = await filled(store)
    if key is None:
        await store.keep_export(trashed, ".md", "pomegranate")
        await store.keep_export(ids[0], ".md", "pomegranate")
    await store.trash.put(trashed)
    await store.calls.claim("pomegranate", Call(ids[0], "2026-01-31T00:00:00.000Z"))
    return ids


async def _assert_all_is_there(root: Path, ids: list[ConversationId], key: str | None) -> None:
    store = opened(root, key)
    for conversation_id in ids:
        loaded = await store.load(conversation_id)
        assert loaded.messages[0].content == "Is a pomegranate a berry?"
        kept = await store.attachments.get(conversation_id, [hash_of(CONTENT)])
        assert kept == {hash_of(CONTENT): CONTENT}
    (trashed,) = await store.trash.entries()
    assert (await store.trash.load(trashed)).message_count == 3
    assert await store.trash.contents(trashed, [hash_of(CONTENT)]) == {hash_of(CONTENT): CONTENT}


def made(root: Path, key: str | None = None) -> list[ConversationId]:
    return anyio.run(_made, root, key)


def assert_all_is_there(root: Path, ids: list[ConversationId], key: str | None) -> None:
    anyio.run(_assert_all_is_there, root, ids, key)


def test_a_folder_is_encrypted_and_decrypted_to_the_same_files(tmp_path: Path) -> None:
    root = tmp_path / "logs"
    ids = made(root)
    before = {path.relative_to(root): path.read_bytes() for path in root.rglob("*") if path.is_file()}
    times = {path: (root / path).stat().st_mtime_ns for path in before if path.name == "conversation.json"}
    assert converter(root).look("encrypt") == Convertible(conversations=4, contents=4, calls=1, exports=2)
    assert converted(root, "encrypt") == []
    assert holding(root, *WORDS) == []
    assert converter(root).look("encrypt") == Convertible()
    assert_all_is_there(root, ids, KEY)
    assert anyio.run(opened(root).calls.find, "pomegranate") is not None
    assert {path: (root / path).stat().st_mtime_ns for path in times} == times
    assert converter(root).look("decrypt") == Convertible(conversations=4, contents=4, calls=1)
    assert converted(root, "decrypt") == []
    after = {path.relative_to(root): path.read_bytes() for path in root.rglob("*") if path.is_file()}
    left_out = {path for path in before if path.stem == "export"}
    changed = {path for path, data in after.items() if path.parts[0] != ".locks" and before.get(path) != data}
    assert changed == set()
    assert before.keys() - after.keys() == left_out
    assert_all_is_there(root, ids, None)
    assert anyio.run(opened(root, None).calls.find, "pomegranate") is not None


@pytest.mark.slow
@pytest.mark.parametrize("goal", ["encrypt", "decrypt", "rotate"])
def test_a_conversion_killed_at_any_of_fifty_steps_loses_nothing_and_is_finished(tmp_path: Path, goal: Goal) -> None:
    root, copies = tmp_path / "logs", tmp_path / "copies"
    ids = made(root, None if goal == "encrypt" else KEY)
    keys = f"{OTHER_KEY},{KEY}" if goal == "rotate" else KEY
    copies.mkdir()
    child = [sys.executable, "-m", "tests.fixtures.conversion_child", str(root), goal, keys, str(copies), str(POINTS)]
    done = subprocess.run(child, check=True, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert int(done.stdout) > POINTS / 2
    final = {"encrypt": KEY, "decrypt": None, "rotate": OTHER_KEY}[goal]
    for number in range(POINTS):
        folder = copies / str(number)
        assert_all_is_there(folder, ids, keys)
        assert converted(folder, goal, keys) == []
        assert not any(converter(folder, keys).look(goal))
        assert_all_is_there(folder, ids, final)
        assert (holding(folder, *WORDS) == []) == (goal != "decrypt")
        assert goal != "decrypt" or not list(folder.rglob("key.json"))


def test_a_new_key_leaves_every_content_as_it_is(tmp_path: Path) -> None:
    ids = made(tmp_path, KEY)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    both = f"{OTHER_KEY},{KEY}"
    assert converter(tmp_path, both).look("rotate") == Convertible(keys=5)
    assert converted(tmp_path, "rotate", both) == []
    changed = {path.name for path, data in before.items() if path.exists() and path.read_bytes() != data}
    assert changed == {"key.json", ".encryption.json"}
    assert_all_is_there(tmp_path, ids, OTHER_KEY)
    assert anyio.run(opened(tmp_path, OTHER_KEY).calls.find, "pomegranate") is not None
    with pytest.raises(WrongKeyError):
        anyio.run(opened(tmp_path, KEY).load, ids[0])


def test_a_folder_of_another_key_is_neither_converted_nor_touched(tmp_path: Path) -> None:
    made(tmp_path, KEY)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file() and ".locks" not in path.parts}
    for goal in ("encrypt", "decrypt", "rotate"):
        with pytest.raises(WrongKeyError):
            converted(tmp_path, goal, OTHER_KEY)
    after = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file() and ".locks" not in path.parts}
    assert after == before


def test_what_is_damaged_stays_and_is_told_and_everything_else_is_converted(tmp_path: Path) -> None:
    ids = made(tmp_path, KEY)
    broken = Path(opened(tmp_path).location(ids[0]))
    data = json.loads(broken.read_bytes())
    data["encrypted"]["text"] = data["encrypted"]["text"][::-1]
    broken.write_text(json.dumps(data))
    content = broken.with_name("files") / hash_of(CONTENT)
    content.write_bytes(content.read_bytes()[:-1])
    (problem,) = [each for each in converted(tmp_path, "decrypt") if "conversation.json" in each]
    assert str(broken) in problem
    assert anyio.run(opened(tmp_path).load, ids[1]).message_count == 3
    assert holding(tmp_path / ids[1], *WORDS) != []
    assert (tmp_path / ".encryption.json").exists()
    assert broken.with_name("key.json").exists()


def test_a_file_that_is_no_conversation_is_encrypted_as_it_is(tmp_path: Path) -> None:
    ids = made(tmp_path)
    path = Path(opened(tmp_path, None).location(ids[0]))
    path.write_bytes(b'{"pomegranate": ')
    assert converted(tmp_path, "encrypt") == []
    assert holding(tmp_path, *WORDS) == []
    assert converted(tmp_path, "decrypt") == []
    assert path.read_bytes() == b'{"pomegranate": '


def test_a_program_without_the_key_writes_nothing_once_encryption_has_begun(tmp_path: Path) -> None:
    ids = made(tmp_path)
    old = opened(tmp_path, None)
    steps = converter(tmp_path).convert("encrypt", Headway())
    assert list(steps) == []
    with pytest.raises(KeyMissingError):
        anyio.run(old.update, ids[0], appended("quarterly"))
    with pytest.raises(KeyMissingError):
        anyio.run(started, old, "quarterly")
    assert holding(tmp_path, "quarterly") == []
    assert not anyio.run(old.exists, UNKNOWN)


def test_an_empty_place_needs_no_conversion(tmp_path: Path) -> None:
    root = tmp_path / "none"
    for goal in ("encrypt", "decrypt", "rotate"):
        assert not any(converter(root).look(goal))
        assert converted(root, goal) == []
    assert not root.exists()
    shutil.rmtree(tmp_path)
