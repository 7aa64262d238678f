"""How the change of a repository is named."""

from pathlib import Path

import pytest

from conversation_mcp.attaching.git.asked import AskedChange, asked_in, is_change
from conversation_mcp.attaching.git.listing import changed_in
from conversation_mcp.attaching.git.patches import patch_text, sides_of
from conversation_mcp.attaching.limits import RefusedError
from conversation_mcp.attaching.names import Naming

NAMING = Naming(Path("/work"), Path("/home/me"), takes_relative=False)


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ("git", AskedChange("")),
        ("git:", AskedChange("")),
        ("git:staged", AskedChange("staged")),
        ("git:HEAD~1", AskedChange("HEAD~1")),
        ("git:main..feature/x", AskedChange("main..feature/x")),
        ("git:origin/main...", AskedChange("origin/main...")),
        ("git:HEAD@{1}", AskedChange("HEAD@{1}")),
        ("git:abc123^!", AskedChange("abc123^!")),
        ("git:unstaged:src/app.py", AskedChange("unstaged", below="src/app.py")),
        ("git::src/", AskedChange("", below="src")),
        ("git:/srv/app", AskedChange("", "/srv/app")),
        ("git:/srv/app:staged", AskedChange("staged", "/srv/app")),
        ("git:~/app:HEAD~2:docs", AskedChange("HEAD~2", "/home/me/app", "docs")),
    ],
)
def test_a_change_has_a_repository_a_kind_and_a_path(given: str, asked: AskedChange) -> None:
    assert is_change(given)
    assert asked_in(given, NAMING) == asked


@pytest.mark.parametrize("given", ["git://example.org/x.git", "git.py", "/srv/git:staged", "GIT:staged", "gitk", ""])
def test_other_names_are_those_of_files(given: str) -> None:
    assert not is_change(given)


@pytest.mark.parametrize(
    "given",
    [
        "git:--output=/tmp/x",
        "git:a b",
        "git:main..-x",
        "git:a\nb",
        "git:a\0b",
        "git:*",
        "git:staged:../x",
        "git:" + "a" * 300,
    ],
)
def test_what_git_could_take_for_an_option_or_pattern_is_refused(given: str) -> None:
    with pytest.raises(RefusedError, match="not a change"):
        asked_in(given, NAMING)


def test_a_relative_repository_is_refused_where_paths_are_absolute() -> None:
    with pytest.raises(RefusedError, match="not an absolute path"):
        asked_in("git:./app:staged", NAMING)


def test_a_folder_with_a_colon_in_its_name_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "a:staged"
    folder.mkdir()
    assert asked_in(f"git:{folder}", NAMING) == AskedChange("", str(folder))
    assert asked_in(f"git:{folder}:HEAD", NAMING) == AskedChange("HEAD", str(folder))


def test_names_with_tabs_line_feeds_and_colons_are_listed_as_they_are() -> None:
    listed = (
        b":100644 100644 1 2 M\0a\tb\nc\0:100644 100644 1 1 R100\0:old\0--new\0:000000 100644 0 1 A\0x.png\0"
        b"3\t1\ta\tb\nc\0000\t0\t\0:old\0--new\0-\t-\tx.png\0"
    ).replace(b"000\t0\t\0:old", b"0\t0\t\0:old")
    changed = changed_in(listed)
    assert [(one.status, one.paths, one.added, one.removed, one.is_binary) for one in changed] == [
        ("M", ("a\tb\nc",), 3, 1, False),
        ("R", (":old", "--new"), 0, 0, False),
        ("A", ("x.png",), None, None, True),
    ]


def test_each_side_of_a_diff_is_read_without_its_signs() -> None:
    patch = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@ def f():\n same\n--- not a header\n+++ neither\n"
    assert sides_of(patch) == ("def f():\nsame\n-- not a header", "def f():\nsame\n++ neither")


def test_ends_of_lines_stay_only_where_they_differ() -> None:
    head = b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n"
    assert patch_text(head + b"-a\r\n+b\r\n").endswith("-a\n+b\n")
    assert patch_text(head + b"-a\r\n+a\n").endswith("-a\r\n+a\n")
