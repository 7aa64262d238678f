"""Where files of a conversation are written: below the folder, at their own paths, and nothing over anything."""

import os
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fixtures.attached import NEW, OLD, PATH, named, question
from tests.fixtures.pages import conversation_of
from tests.fixtures.stores import tree

from conversation_mcp.conversations.attached import attached_in
from conversation_mcp.errors import FilesystemError
from conversation_mcp.exporting.restoring import MAX_PART_BYTES, places_for, write_restored


def places(*files: dict[str, object], more: tuple[dict[str, object], ...] = ()) -> list[str]:
    asked = [question("Q", *files), {"role": "assistant", "content": "A"}, question("R", *more)]
    return [str(place) for place in places_for(attached_in(conversation_of(asked))).values()]


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("/home/me/src/add.py", "home/me/src/add.py"),
        ("C:\\Users\\me\\add.py", "C_/Users/me/add.py"),
        ("\\\\host\\share\\add.py", "host/share/add.py"),
        ("/home/a\\b", "home/a_b"),
        ("-", "-"),
        ("/", "file"),
        ("../../etc/passwd", "etc/passwd"),
        ("/a/../../b/./c", "a/b/c"),
        ("/a/.. /b", "a/_/b"),
        ("/a\n\x1b[2J/b\0", "a__[2J/b_"),
        ("/src/.env", "src/.env"),
        ("/src/con.txt", "src/_con.txt"),
        ("/Aux/com1", "_Aux/_com1"),
        ("/src/console.txt", "src/console.txt"),
    ],
)
def test_a_path_leads_below_the_folder(path: str, place: str) -> None:
    assert places(named(path, OLD)) == [place]


def test_versions_of_a_path_are_kept_apart_by_their_messages() -> None:
    assert places(named(PATH, OLD), more=(named(PATH, NEW, "diff"),)) == [
        "home/me/src/add.message-1.py",
        "home/me/src/add.message-3.py",
    ]


def test_the_same_content_is_written_once() -> None:
    assert places(named(PATH, OLD), more=(named(PATH, OLD, "known"),)) == ["home/me/src/add.py"]


def test_a_part_of_a_file_does_not_pass_for_the_whole() -> None:
    assert places(named(PATH, OLD), named(PATH, NEW, lines="10-80"), named("/a", OLD, lines="../../x")) == [
        "home/me/src/add.py",
        "home/me/src/add.lines-10-80.py",
        "a.lines-.._.._x",
    ]


def test_names_that_a_disk_may_take_for_one_are_kept_apart() -> None:
    assert places(named("/A.py", OLD), named("/a.py", NEW), named("/a?.py", OLD), named("/a*.py", NEW)) == [
        "A.py",
        "a.2.py",
        "a_.py",
        "a_.2.py",
    ]


def test_what_was_not_kept_has_no_place() -> None:
    assert places({"path": "/home/me/.env", "sent": "skipped", "reason": "may hold secrets"}) == []


@settings(max_examples=200, deadline=None)
@given(paths=st.lists(st.text(st.sampled_from("/\\.: aA\0\né") | st.characters(codec="utf-8")), max_size=5))
def test_no_path_leads_out_of_the_folder_or_to_the_place_of_another(paths: list[str]) -> None:
    found = places(*(named(path, path.encode()) for path in paths))
    assert len({place.casefold() for place in found}) == len(found) == len(set(paths))
    for place in found:
        steps = PurePosixPath(place)
        assert not steps.is_absolute()
        assert ".." not in steps.parts
        assert "\\" not in place
        assert all(len(step.encode()) < MAX_PART_BYTES + 60 for step in steps.parts)


def test_a_file_is_its_owners_and_is_not_replaced_unless_that_is_said(tmp_path: Path) -> None:
    place = PurePosixPath("home/me/add.py")
    target = tmp_path / "out" / place
    assert write_restored(tmp_path / "out", place, OLD, replaces=False)
    assert write_restored(tmp_path / "out", place, OLD, replaces=False)
    assert not write_restored(tmp_path / "out", place, NEW, replaces=False)
    assert target.read_bytes() == OLD
    assert write_restored(tmp_path / "out", place, NEW, replaces=True)
    assert target.read_bytes() == NEW
    if os.name == "posix":
        assert [path.stat().st_mode & 0o777 for path in (target, target.parent)] == [0o600, 0o700]


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
@pytest.mark.parametrize("step", ["home", "home/me", "home/me/add.py"])
@pytest.mark.parametrize("replaces", [False, True])
def test_a_link_below_the_folder_is_not_followed(tmp_path: Path, step: str, replaces: bool) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "add.py").write_bytes(b"not yours")
    link = tmp_path / "out" / step
    link.parent.mkdir(parents=True)
    link.symlink_to(outside / "add.py" if step.endswith(".py") else outside)
    with pytest.raises(FilesystemError, match="is a symbolic link"):
        write_restored(tmp_path / "out", PurePosixPath("home/me/add.py"), OLD, replaces=replaces)
    assert tree(outside) == ["add.py"]
    assert (outside / "add.py").read_bytes() == b"not yours"
