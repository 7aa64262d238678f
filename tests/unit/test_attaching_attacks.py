"""Files that are laid out to have something read that must not be, to block, or to fill the memory."""

import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Generator
from contextlib import chdir, contextmanager, suppress
from functools import partial
from pathlib import Path

import anyio
import pytest
from tests.fixtures.attached_files import Desk, write
from tests.fixtures.office import docx_of, zip_of

from conversation_mcp.attaching.contents import FilesRead
from conversation_mcp.attaching.limits import RefusedError
from conversation_mcp.attaching.names import shown
from conversation_mcp.attaching.opening import Found, LinkFollower, found, read
from conversation_mcp.attaching.places import Places
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.settings import Settings

WORDS = "the words of another folder"
LIMIT = 1 << 20


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    return write(tmp_path.resolve(), {"work/a/f.txt": "inside", "other/f.txt": WORDS})


@contextmanager
def repeated(step: Callable[[], None]) -> Generator[None]:
    """Do something again and again in another thread."""
    is_over = threading.Event()

    def run() -> None:
        while not is_over.is_set():
            step()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


@pytest.mark.parametrize("swapped", ["work/a", "work/a/f.txt"])
def test_what_is_swapped_for_a_link_between_check_and_open_is_not_read(shelf: Path, swapped: str) -> None:
    places = Places([str(shelf / "work")], "a test")
    checked = found(str(shelf / "work/a/f.txt"), places)
    (shelf / swapped).rename(shelf / "moved")
    (shelf / swapped).symlink_to(shelf / swapped.replace("work/a", "other"))

    with pytest.raises(RefusedError):
        read(checked.path, places, LIMIT, "too large")


def test_a_folder_that_is_swapped_within_the_roots_is_read_where_it_is(shelf: Path) -> None:
    places = Places([str(shelf)], "a test")
    checked = found(str(shelf / "work/a/f.txt"), places)
    (shelf / "work/a").rename(shelf / "moved")
    (shelf / "work/a").symlink_to(shelf / "other")

    assert read(checked.path, places, LIMIT, "too large").path == str(shelf / "other/f.txt")


def test_a_folder_that_is_swapped_while_its_files_are_read_leads_nowhere_else(shelf: Path) -> None:
    write(shelf, {"work/a/g.txt": "inside, too", "other/g.txt": WORDS})
    places = Places([str(shelf / "work")], "a test")
    follower = LinkFollower(places)
    follower.found(str(shelf / "work/a/f.txt"))
    (shelf / "work/a").rename(shelf / "moved")
    (shelf / "work/a").symlink_to(shelf / "other")

    with pytest.raises(RefusedError):
        read(follower.found(str(shelf / "work/a/g.txt")).path, places, LIMIT, "too large")


def test_a_path_leads_to_the_same_place_whether_or_not_the_folders_on_its_way_are_known(shelf: Path) -> None:
    write(shelf, {"work/b/c/f.txt": "deep"})
    links = {"near": "a", "deeper": "b/c", "away": shelf / "other", "back": ".."}
    for name, target in links.items():
        (shelf / "work" / name).symlink_to(target)
    places = Places([str(shelf / "work")], "a test")
    follower = LinkFollower(places)
    tails = ("f.txt", "../a/f.txt", "./f.txt", "c/f.txt", "c/../../near/f.txt", "", "missing/f.txt")
    for folder in ("a", "b", *links, "missing"):
        for tail in tails:
            path = f"{shelf}/work/{folder}/{tail}"
            assert _led_to(partial(follower.found, path)) == _led_to(partial(found, path, places))


def _led_to(find: Callable[[], Found]) -> str:
    try:
        return find().path
    except RefusedError as refused:
        return f"refused: {refused}"


@pytest.mark.slow
async def test_no_race_of_links_reads_what_is_outside(shelf: Path) -> None:
    here, away, link = shelf / "work/a", shelf / "work/b", shelf / "work/link"
    link.symlink_to(shelf / "other")

    def swap() -> None:
        here.rename(away)
        link.rename(here)
        here.rename(link)
        away.rename(here)

    desk = Desk(shelf / "work")
    texts: set[str] = set()
    with repeated(swap):
        for _ in range(150):
            for named in (here / "f.txt", shelf / "work", f"{shelf}/work/**/*.txt"):
                with suppress(InvalidInputError):
                    texts |= {file.text for file in (await desk.read(named)).files}

    assert texts == {"inside"}


async def test_nothing_that_blocks_or_never_ends_is_opened(shelf: Path) -> None:
    work = shelf / "work"
    os.mkfifo(work / "fifo.txt")
    with socket.socket(socket.AF_UNIX) as server, chdir(work):  # the path of a socket must be short
        server.bind("socket.txt")
    (work / "null.txt").symlink_to("/dev/zero")
    desk = Desk(work)

    read_all = await desk.read(work, work / "fifo.txt", work / "socket.txt", work / "null.txt")

    assert desk.names(read_all) == ["a/f.txt"]
    special = "neither a file nor a folder, but a device, pipe or socket"
    reasons = desk.reasons(read_all)
    assert (reasons["fifo.txt"], reasons["socket.txt"]) == (special, special)
    assert [one.reason for one in read_all.left_out].count("a part of the system, not a file of yours") == 1


async def test_a_sparse_giant_is_refused_by_its_size(shelf: Path) -> None:
    with (shelf / "work/giant.txt").open("wb") as file:
        file.truncate(1 << 40)

    with pytest.raises(InvalidInputError, match="larger than 1,048,576 bytes"):
        await Desk(shelf / "work").read(shelf / "work/giant.txt")


async def test_a_file_that_grows_while_it_is_read_is_never_read_beyond_the_limit(shelf: Path) -> None:
    growing, limit = shelf / "work/growing.txt", 40_000
    growing.write_bytes(b"x")

    def grow() -> None:
        with growing.open("ab") as file:
            file.write(b"x" * 1_000)
        if growing.stat().st_size > 2 * limit:
            os.truncate(growing, 1)

    desk = Desk(shelf / "work", Settings(max_file_bytes=limit))
    sizes: set[int] = set()
    with repeated(grow):
        for _ in range(200):
            with suppress(InvalidInputError):
                sizes |= {len(file.data) for file in (await desk.read(growing)).files}

    assert max(sizes) <= limit


async def test_the_names_that_are_shown_cannot_break_a_line_or_command_a_terminal(shelf: Path) -> None:
    name = "a\nFILE b\x1b[2J\u202etxt.py"
    odd = os.fsdecode(b"b\xff.py")
    desk = Desk(write(shelf / "work", {name: "x", f"{name}.bin.txt": b"\0", odd: "x"}))

    everything = await desk.read(shelf / "work")

    for path in (*(file.path for file in everything.files), *(one.path for one in everything.left_out)):
        assert path.isprintable()
        path.encode()
    assert f"{shelf}/work/a\\nFILE b\\x1b[2J\\u202etxt.py" in {file.path for file in everything.files}
    with pytest.raises(InvalidInputError) as raised:
        await desk.read(f"{shelf}/work/none\n\x1b[2J")
    assert "\x1b" not in raised.value.message
    assert "none\\n" in raised.value.message


def test_plain_names_are_shown_as_they_are() -> None:
    assert shown("/a/Größe – 日本.txt") == "/a/Größe – 日本.txt"


async def test_a_bomb_in_a_word_file_is_refused_before_it_is_unpacked(shelf: Path) -> None:
    bomb = zip_of({"word/document.xml": b"<a>" + b" " * 33_000_000 + b"</a>"})
    whole = write(shelf / "work", {"bomb.docx": bomb, "sound.docx": docx_of(("", "Sound."))})
    desk = Desk(whole)

    both = await desk.read(whole / "bomb.docx", whole / "sound.docx")

    assert len(bomb) < 200_000
    assert (desk.names(both), [*desk.reasons(both)]) == (["sound.docx"], ["bomb.docx"])


async def test_the_text_of_a_document_is_bounded_like_that_of_a_file(shelf: Path) -> None:
    write(shelf / "work", {"long.docx": docx_of(("", "word " * 10_000))})

    with pytest.raises(InvalidInputError, match="larger than 10,000 bytes"):
        await Desk(shelf / "work", Settings(max_file_bytes=10_000)).read(shelf / "work/long.docx")


async def test_links_in_a_circle_lead_nowhere(shelf: Path) -> None:
    (shelf / "work/one").symlink_to("two")
    (shelf / "work/two").symlink_to("one")
    (shelf / "work/a/up").symlink_to("..")

    assert [file.text for file in (await Desk(shelf / "work").read(shelf / "work", shelf / "work/one")).files] == [
        "inside"
    ]


@pytest.mark.slow
async def test_a_folder_of_100_000_files_does_not_stop_the_loop(tmp_path: Path) -> None:  # defect 15
    for folder in range(100):
        (tmp_path / f"{folder}").mkdir()
        for number in range(1_000):
            os.close(os.open(f"{tmp_path}/{folder}/{number}.py", os.O_CREAT | os.O_WRONLY))
    ticks = 0
    everything = FilesRead()

    async def tick() -> None:
        nonlocal ticks
        while True:
            await anyio.sleep(0.001)  # as a ping would arrive
            ticks += 1

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(tick)
        everything = await Desk(tmp_path, Settings(max_files_seconds=100)).read(tmp_path)
        tasks.cancel_scope.cancel()

    assert len(everything.files) == 500
    assert sum(everything.more_left_out.values()) + len(everything.left_out) == 99_500
    assert ticks > 50


async def test_a_reading_that_nobody_waits_for_ends_at_the_next_file(tmp_path: Path) -> None:
    write(tmp_path, {f"{number}/{name}.py": "x" for number in range(20) for name in range(100)})
    desk = Desk(tmp_path, Settings(max_files=10_000))

    with anyio.move_on_after(0) as scope:
        await desk.read(*[tmp_path] * 1_000)

    assert scope.cancelled_caught
    with anyio.fail_after(60):
        while desk.files.is_reading:  # noqa: ASYNC110 -- a thread sets no event
            await anyio.sleep(0.01)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="needs root, to give up its rights")
def test_what_this_user_may_not_read_is_said_to_be_so() -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:  # the folder of a test can be entered by its owner alone
        work = write(Path(folder), {"a.txt": "a", "closed.txt": "x", "shut/b.txt": "b"})
        work.chmod(0o755)
        (work / "closed.txt").chmod(0)
        (work / "shut").chmod(0)
        command = [sys.executable, "-m", "tests.fixtures.attached_child", folder]
        found = subprocess.run([*command, "."], capture_output=True, text=True, check=True).stdout
        named = subprocess.run([*command, "closed.txt", "shut/b.txt"], capture_output=True, text=True, check=True)

    assert found.strip() == "['a.txt'] [('closed.txt', 'permission denied'), ('shut', 'unreadable')]"
    assert named.stdout.count("permission denied") == 2
