"""Where files may be read: the roots of the client, of the settings, or the working folder."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.fixtures.attached_files import Desk, write

from conversation_mcp.errors import InvalidInputError
from conversation_mcp.settings import Settings, load_settings

OUTSIDE = "outside of the folders that may be read"


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    names = ["work/a.py", "other/b.py", "third/c.py", "workshop/d.py"]
    return write(tmp_path.resolve(), dict.fromkeys(names, "x"))


def desk_in(shelf: Path, roots: Sequence[Path] = ()) -> Desk:
    return Desk(shelf / "work", Settings(roots=tuple(roots)))


async def test_without_roots_only_the_working_folder_is_read(shelf: Path) -> None:
    read = await desk_in(shelf).read(shelf / "work/a.py", shelf / "other/b.py", shelf / "workshop/d.py")

    assert [one.path for one in read.files] == [str(shelf / "work/a.py")]
    assert {one.reason for one in read.left_out} == {OUTSIDE}


async def test_the_roots_of_the_settings_stand_in_place_of_the_working_folder(shelf: Path) -> None:
    read = await desk_in(shelf, [shelf / "other", shelf / "none"]).read(shelf / "work/a.py", shelf / "other/b.py")

    assert [one.path for one in read.files] == [str(shelf / "other/b.py")]


async def test_the_roots_of_the_client_stand_in_place_of_those_of_the_settings(shelf: Path) -> None:
    named = [shelf / name for name in ("work/a.py", "other/b.py", "third/c.py")]

    read = await desk_in(shelf, [shelf / "other"]).read(*named, roots=[shelf / "third"])

    assert [one.path for one in read.files] == [str(shelf / "third/c.py")]


async def test_a_client_without_any_root_leaves_it_to_the_settings(shelf: Path) -> None:
    assert (await desk_in(shelf, [shelf / "other"]).read(shelf / "other/b.py", roots=[])).files


async def test_a_root_may_be_a_link(shelf: Path) -> None:
    (shelf / "link").symlink_to("other")

    read = await desk_in(shelf).read(shelf / "link/b.py", roots=[shelf / "link"])

    assert [one.path for one in read.files] == [str(shelf / "other/b.py")]


@pytest.mark.parametrize("link", ["work/file", "work/folder/b.py", "work/up/other/b.py", "work/../other/b.py"])
async def test_a_path_that_leads_out_of_the_roots_is_refused_whatever_it_looks_like(shelf: Path, link: str) -> None:
    (shelf / "work/file").symlink_to(shelf / "other/b.py")
    (shelf / "work/folder").symlink_to(shelf / "other")
    (shelf / "work/up").symlink_to("..")

    with pytest.raises(InvalidInputError, match=OUTSIDE):
        await desk_in(shelf).read(shelf / link)


async def test_nothing_is_told_about_what_exists_elsewhere(shelf: Path) -> None:
    for name in ("other/b.py", "other/none.py", "none/none.py"):
        with pytest.raises(InvalidInputError, match=OUTSIDE):
            await desk_in(shelf).read(shelf / name)


@pytest.mark.parametrize("working_folder", ["/", "home", "."])
async def test_the_disk_and_the_home_folder_are_never_read_by_default(shelf: Path, working_folder: str) -> None:
    desk = Desk(shelf / working_folder, home=shelf / "home")
    write(shelf, {"home/a.py": "a"})

    with pytest.raises(InvalidInputError, match="no files can be read: the program runs in") as raised:
        await desk.read(shelf / "home/a.py")
    assert "Set CONVERSATION_MCP_ROOTS" in raised.value.sentence()


async def test_the_home_folder_is_read_if_it_is_a_root(shelf: Path) -> None:
    desk = Desk(shelf / "home", home=shelf / "home")
    write(shelf, {"home/a.py": "a"})

    assert (await desk.read(shelf / "home/a.py", roots=[shelf / "home"])).files


async def test_roots_that_do_not_exist_are_an_error(shelf: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"none \(CONVERSATION_MCP_ROOTS\) does not exist"):
        await desk_in(shelf, [shelf / "none"]).read(shelf / "work/a.py")


@pytest.mark.parametrize("path", ["/proc/self/environ", "/proc/version", "/sys/kernel", "/dev/null", "/dev/fd/0"])
async def test_files_of_the_system_are_never_read(path: str) -> None:
    with pytest.raises(InvalidInputError):
        await Desk(Path("/")).read(path, roots=[Path("/")])


async def test_a_link_to_the_environment_of_the_process_is_refused(shelf: Path) -> None:
    (shelf / "work/link").symlink_to("/proc/self/environ")

    with pytest.raises(InvalidInputError, match="a part of the system"):
        await desk_in(shelf).read(shelf / "work/link", roots=[Path("/")])


def test_the_settings_take_relative_folders_and_a_pipe(tmp_path: Path) -> None:
    given = {"CONVERSATION_MCP_ROOTS": "src:/abs", "CONVERSATION_MCP_ALLOW_SECRETS": "keys/*.pem:-"}

    settings = load_settings({}, given, tmp_path / "none.toml", tmp_path).settings

    assert settings.roots == (tmp_path / "src", Path("/abs"))
    assert settings.allow_secrets == (tmp_path / "keys/*.pem", Path("-"))
