"""Changes without measure, and a git that does not end."""

import os
from pathlib import Path

import anyio
import pytest
from anyio import to_thread
from tests.fixtures.repositories import Repository, read, reasons, texts

from conversation_mcp.settings import Settings

pytestmark = pytest.mark.slow

MANY = 10_000


async def test_of_ten_thousand_files_the_first_are_sent_and_all_are_counted(tmp_path: Path) -> None:
    app = Repository.made(tmp_path / "app")
    app.commit()
    for number in range(MANY):
        app.write(f"d{number // 100:02}/{number:04}.py", f"{number}\n")
    app.git("add", "--all")
    found = await read("git:staged", roots=[app.folder], settings=Settings(max_files=120))
    summary = found.files[0].text
    assert f"{MANY:,} files, +{MANY:,} -0" in summary
    assert f"and {MANY - 1_000:,} more" in summary
    assert [file.path for file in found.files[1:]] == [
        app.label("git:staged", f"d{number // 100:02}/{number:04}.py") for number in range(119)
    ]
    assert all(file.text.endswith(f"+{number}\n") for number, file in enumerate(found.files[1:]))
    assert len(found.left_out) + sum(found.more_left_out.values()) == MANY - 119


async def test_a_diff_of_fifty_megabytes_is_left_out_with_its_reason(tmp_path: Path) -> None:
    app = Repository.made(tmp_path / "app")
    app.write("huge.txt", b"a line of a text that is much too long\n" * 1_300_000)
    app.write("small.txt", "small\n")
    app.git("add", "--all")
    found = await read("git:staged", roots=[app.folder])
    assert list(texts(found)) == [app.label("git:staged"), app.label("git:staged", "small.txt")]
    assert "A huge.txt  +1300000 -0" in found.files[0].text
    assert "larger than 1,048,576 bytes" in reasons(found)[app.label("git:staged", "huge.txt")]


def endless(folder: Path) -> tuple[dict[str, str], Path]:
    """Return the variables under which git is a program that never ends, and a pipe that its child keeps open."""
    folder.mkdir()
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    program = folder / "git"
    program.write_text(f"#!/bin/sh\nsleep 600 > {pipe} &\necho started > {pipe}\nwait\n")
    program.chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}, pipe


async def test_git_and_its_children_end_when_nobody_waits_any_more(tmp_path: Path) -> None:
    app = Repository.made(tmp_path / "app")
    environment, pipe = endless(tmp_path / "bin")

    async def ask() -> None:
        await read("git", roots=[app.folder], environment=environment)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        with await to_thread.run_sync(pipe.open) as file:
            assert await to_thread.run_sync(file.readline) == "started\n"
            tasks.cancel_scope.cancel()
            with anyio.CancelScope(shield=True):
                assert await to_thread.run_sync(file.read) == ""


async def test_git_ends_when_its_time_is_over(tmp_path: Path) -> None:
    app = Repository.made(tmp_path / "app")
    environment, _pipe = endless(tmp_path / "bin")
    settings = Settings(max_files_seconds=0.3)
    with pytest.raises(Exception, match="reading took more than"):
        await read("git", roots=[app.folder], environment=environment, settings=settings)
