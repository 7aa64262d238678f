"""Drafts of writes that were killed: gone with the next write or start, and never mistaken for a live one."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from anyio import to_thread
from tests.fixtures.folders import ID, left_behind
from tests.fixtures.providers import FakeProvider
from tests.fixtures.serving import settings_for

from conversation_mcp.bootstrap import open_app
from conversation_mcp.clock import utc_now
from conversation_mcp.disk.files import remove_dead_drafts, replace_by_pieces
from conversation_mcp.records.models import ConversationId
from conversation_mcp.stores.base import Call
from conversation_mcp.stores.files.store import FileStore

pytestmark = pytest.mark.skipif(os.name != "posix", reason="other systems cannot tell whether a writer lives")

KILLED = """
import os, sys
from pathlib import Path
from conversation_mcp.disk.files import replace_by_pieces
def pieces():
    yield b"half"
    os.kill(os.getpid(), 9)
replace_by_pieces(Path(sys.argv[1]), pieces())
"""


def kill_a_write_of(path: Path) -> list[Path]:
    """Return the drafts that a process leaves that is killed while it writes the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    drafts = drafts_in(path.parent)
    assert len(drafts) == 1
    return drafts


def drafts_in(folder: Path) -> list[Path]:
    return list(folder.glob(".*.tmp"))


@pytest.mark.slow
async def test_the_next_write_of_a_conversation_removes_the_drafts_beside_it(tmp_path: Path) -> None:
    path = left_behind(tmp_path)
    kill_a_write_of(path)
    await FileStore(path.parents[1], now=utc_now).update(ConversationId(ID), lambda stored, _: stored)
    assert drafts_in(path.parent) == []


@pytest.mark.slow
async def test_a_start_removes_all_drafts_and_conversations_that_were_never_written(tmp_path: Path) -> None:
    path = left_behind(tmp_path)
    kill_a_write_of(path)
    unwritten = path.parents[1] / "20260131-1769817600001" / "conversation.json"
    kill_a_write_of(unwritten)
    kill_a_write_of(path.parents[1] / ".calls" / "0123")
    reserved = path.parents[1] / "20260131-1769817600002"
    reserved.mkdir()
    async with open_app(settings_for(tmp_path), providers=[FakeProvider()]) as app:
        await app.store.sweep()
    assert [drafts_in(folder) for folder in (path.parent, path.parents[1] / ".calls")] == [[], []]
    assert not unwritten.parent.exists()
    assert reserved.exists()
    assert path.exists()


async def test_a_start_leaves_the_folder_of_a_conversation_whose_first_draft_is_not_locked_yet(tmp_path: Path) -> None:
    store = FileStore(tmp_path, now=utc_now)
    conversation_id = await store.reserve()
    folder = Path(store.location(conversation_id)).parent
    await to_thread.run_sync((folder / ".conversation.0123456789abcdef.tmp").touch)
    await store.sweep()
    assert folder.is_dir()
    assert drafts_in(folder) == []


async def test_what_a_stranger_put_among_the_calls_does_not_end_a_server(tmp_path: Path) -> None:
    root = settings_for(tmp_path).logs_dir
    calls = root / ".calls"
    (calls / "a folder").mkdir(parents=True)
    os.mkfifo(calls / "a pipe")
    (calls / "a link").symlink_to(tmp_path)
    (calls / "a loop").symlink_to("a loop")
    (calls / ".a lock.lock").symlink_to(tmp_path)
    (root / ID).symlink_to(calls)
    for path in calls.iterdir():
        os.utime(path, (0, 0), follow_symlinks=False)
    async with open_app(settings_for(tmp_path), providers=[FakeProvider()]) as app:
        await app.store.sweep()
    assert (calls / "a folder").is_dir()
    assert tmp_path.is_dir()


async def test_an_old_call_goes_unless_somebody_has_it(tmp_path: Path) -> None:
    store = FileStore(tmp_path, now=utc_now)
    calls = store.calls
    call = Call(ConversationId(ID), "2026-01-31T00:00:00.000Z")
    held, _ = await calls.take("held")
    for key in ("held", "free", "young"):
        await calls.claim(key, call)
    for name in ("held", ".held.lock", "free"):
        os.utime(tmp_path / ".calls" / name, (0, 0))
    await store.sweep()
    assert held is not None
    assert {path.name for path in (tmp_path / ".calls").iterdir()} == {"held", ".held.lock", "young"}
    await held.release()
    await store.sweep()
    assert [path.name for path in (tmp_path / ".calls").iterdir()] == ["young"]


def test_the_draft_of_a_live_writer_stays(tmp_path: Path) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"half "
        assert not remove_dead_drafts(tmp_path)
        assert len(drafts_in(tmp_path)) == 1
        yield b"and half"

    replace_by_pieces(tmp_path / "file", pieces())
    assert (tmp_path / "file").read_bytes() == b"half and half"
    assert drafts_in(tmp_path) == []
