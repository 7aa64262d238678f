"""Files and images as they are typed after `ask`: which paths they mean, and what may be read because of them."""

import os
from pathlib import Path

import pytest
from tests.fixtures.cli import Here, piped, put_conversation
from tests.fixtures.folders import ID
from tests.fixtures.serving import settings_for

from conversation_mcp.cli.questions.question import TypedQuestion, named
from conversation_mcp.cli.questions.sent_along import NOTHING, SentAlong, sent_along
from conversation_mcp.errors import InvalidInputError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a home folder and a file elsewhere beside it."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("home/notes.md", "work/src/app.py", "work/src/b.py", "work/a:1-2", "elsewhere/secret.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("text\n", encoding="utf-8")
    return (tmp_path / "work").resolve()


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Here:
    return Here(capsys, monkeypatch, tmp_path)


def typed(folder: Path, *files: str) -> SentAlong:
    return sent_along(files, (), folder)


def test_nothing_typed_sends_nothing_and_reads_nothing(folder: Path) -> None:
    assert typed(folder) is NOTHING


def test_paths_are_those_of_the_working_folder(folder: Path) -> None:
    sent = sent_along(["src/app.py", "src", "src/*.py"], ["src/b.py"], folder)
    assert sent.files == (f"{folder}/src/app.py", f"{folder}/src", f"{folder}/src/*.py")
    assert sent.images == (f"{folder}/src/b.py",)


def test_lines_stay_at_their_path_and_a_file_of_that_name_is_a_file(folder: Path) -> None:
    sent = typed(folder, "src/app.py:10-80", "src/b.py:7", "a:1-2")
    assert sent.files == (f"{folder}/src/app.py:10-80", f"{folder}/src/b.py:7", f"{folder}/a:1-2")
    assert sent.roots == (folder / "src/app.py", folder / "src/b.py", folder / "a:1-2", folder)


def test_a_path_that_is_typed_twice_goes_once(folder: Path) -> None:
    assert typed(folder, "src", "src").files == (f"{folder}/src",)


def test_the_home_folder_may_be_a_tilde(folder: Path) -> None:
    sent = typed(folder, "~/notes.md")
    assert sent.files == (f"{folder.parent}/home/notes.md",)
    assert sent.roots == (folder.parent / "home/notes.md", folder)


def test_an_address_stays_as_it_is_so_that_it_is_refused_as_one(folder: Path) -> None:
    addresses = ("https://example.org/a.py", "data:text/plain,a", "file:///etc/passwd")
    sent = typed(folder, *addresses)
    assert (sent.files, sent.roots) == (addresses, (folder,))


def test_a_change_is_that_of_the_repository_around_the_working_folder(folder: Path) -> None:
    (folder / ".git").mkdir()
    sent = typed(folder / "src", "git", "git:staged:src/app.py", "git:../src:main..x")
    assert sent.files == (
        f"git:{folder}/src",
        f"git:{folder}/src:staged:src/app.py",
        f"git:{folder}/src/../src:main..x",
    )
    assert sent.roots == (folder, folder / "src")


def test_a_file_that_has_the_name_of_a_change_is_a_file(folder: Path) -> None:
    (folder / "git").mkdir()
    assert typed(folder, "git", "git:HEAD").files == (f"{folder}/git", f"git:{folder}:HEAD")


def test_a_change_that_cannot_be_meant_is_left_to_the_reader(folder: Path) -> None:
    assert typed(folder, "git:a b").files == ("git:a b",)


def test_who_types_a_path_means_it_wherever_it_leads(folder: Path) -> None:
    (folder / "link").symlink_to("../elsewhere/secret.txt")
    secret = folder.parent / "elsewhere/secret.txt"
    assert typed(folder, "../elsewhere/secret.txt").roots == (secret, folder)
    assert typed(folder, "link").roots == (secret, folder)


def test_what_a_folder_or_a_pattern_leads_to_by_a_link_is_no_root(folder: Path) -> None:
    (folder / "src/link").symlink_to("../../elsewhere/secret.txt")
    assert typed(folder, "src", "src/*", "src/**/l*").roots == (folder / "src", folder)


def test_the_working_folder_is_no_root_if_it_holds_the_whole_home_folder_or_disk(folder: Path) -> None:
    home = folder.parent / "home"
    assert typed(home, "notes.md").roots == (home / "notes.md",)
    assert typed(folder.parent, "home/notes.md").roots == (home / "notes.md",)
    assert typed(Path("/"), f"{home}/notes.md").roots == (home / "notes.md",)


def test_a_pattern_in_a_folder_whose_name_looks_like_one_is_still_below_that_folder(tmp_path: Path) -> None:
    folder = tmp_path / "notes [1]"
    folder.mkdir()
    [pattern] = typed(folder, "*.md").files
    assert pattern == f"{tmp_path}/notes [[]1]/*.md"


def test_a_missing_file_is_left_to_the_reader_unless_there_is_no_other(folder: Path) -> None:
    sent = typed(folder, "src", "../elsewhere/gone.py")
    assert sent.files == (f"{folder}/src", f"{folder}/../elsewhere/gone.py")
    assert sent.roots == (folder / "src", folder.parent / "elsewhere", folder)
    with pytest.raises(InvalidInputError, match=r"there is no gone\.py or none\.md:3\."):
        typed(folder, "gone.py", "none.md:3")


def test_a_loop_of_links_is_left_to_the_reader(folder: Path) -> None:
    (folder / "loop").symlink_to("loop")
    assert typed(folder, "loop").files == (f"{folder}/loop",)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["-f", "-", "-"], "the pipe can be the question (-) or a file (-f -), not both."),
        (["-f", "-", "-", "Why?"], "the pipe can be the question (-) or a file (-f -), not both."),
        (["-f", "-"], "the pipe is read as a file, so the question must be typed."),
        (["-f", "-", "-i", "Why?"], "-i reads questions from stdin, which cannot be a file, too."),
        (["-f", "-", "--image", "-", "Why?"], "the pipe can be a file (-f -) or an image (--image -), not both."),
        (["-f", " ", "Why?"], "the path of a file is empty."),
        (["-f", "gone.py", "Why?"], "there is no gone.py."),
        (["--continue-from", ID, "-c", ID, "Why?"], "-c asks in a conversation, --continue-from opens one"),
        (["--continue-from", "last", "Why?"], "there are no conversations in"),
    ],
)
def test_what_cannot_be_meant_is_said_before_anything_is_asked(
    here: Here, tmp_path: Path, arguments: list[str], problem: str
) -> None:
    ended = here("ask", *arguments)
    assert ended.code in (1, 2)
    assert problem in ended.err
    assert not (tmp_path / "conversation-logs").exists()


@pytest.mark.parametrize("typed_id", [ID, ID[:12], "last", "/b-tree"])
def test_the_conversation_that_a_new_one_continues_is_named_as_elsewhere(tmp_path: Path, typed_id: str) -> None:
    put_conversation(tmp_path, ID)
    question = named(settings_for(tmp_path), TypedQuestion("Why?", None, "search", {}, continue_from=typed_id))
    assert (question.continue_from, question.conversation) == (ID, None)


@pytest.mark.slow
def test_a_pipe_that_is_to_be_a_file_must_be_there_and_say_something(tmp_path: Path) -> None:
    ended = piped(tmp_path, "ask", "-f", "-", "Why?", question=b" \n")
    assert (ended.code, ended.err) == (2, "VALIDATION_ERROR: nothing came through the pipe.\n")


def test_stdin_that_is_no_pipe_is_no_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Path(os.devnull).open(encoding="utf-8") as null:
        monkeypatch.setattr("sys.stdin", null)
        with pytest.raises(InvalidInputError, match="there is no pipe to read: git diff"):
            typed(folder, "-")


@pytest.mark.parametrize("body", [b"\xff\xfe\x00binary", "größer\r\n".encode()])
def test_a_pipe_is_kept_byte_for_byte(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: bytes
) -> None:
    (tmp_path / "given").write_bytes(body)
    with (tmp_path / "given").open(encoding="utf-8") as given:
        monkeypatch.setattr("sys.stdin", given)
        sent = typed(folder, "-")
    assert (sent.files, sent.pipe, sent.roots) == (("-",), body, (folder,))


def test_the_shell_completes_files_after_the_option(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_CONVERSATION_MCP_COMPLETE", "complete_zsh")
    for option in ("-f", "--file", "--image"):
        monkeypatch.setenv("_TYPER_COMPLETE_ARGS", f"conversation-mcp ask {option} ")
        assert here().out == "_files\n"
