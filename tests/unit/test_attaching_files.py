"""What a question can name, and what is sent of it."""

from pathlib import Path

import pytest
from tests.fixtures.attached_files import Desk, write

from conversation_mcp.errors import InvalidInputError
from conversation_mcp.settings import Settings


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


async def test_a_file_is_sent_with_its_path_bytes_and_text(desk: Desk) -> None:
    write(desk.folder, {"a.py": "x = 1\n"})

    (file,) = (await desk.read(desk.folder / "a.py")).files

    assert (file.path, file.data, file.text) == (str((desk.folder / "a.py").resolve()), b"x = 1\n", "x = 1\n")
    assert (file.lines, file.is_converted) == (None, False)


async def test_nothing_named_reads_nothing_and_needs_no_folder() -> None:
    assert not (await Desk(Path("/")).read()).files


async def test_a_folder_stands_for_its_files_without_those_that_nobody_wants(desk: Desk) -> None:
    write(
        desk.folder,
        {
            ".gitignore": "build/\n",
            ".git/info/exclude": "own.txt\n",
            "a.py": "a",
            "b/c.py": "c",
            "build/d.py": "d",
            "node_modules/e.js": "e",
            "env/pyvenv.cfg": "home",
            "env/lib/f.py": "f",
            "own.txt": "own",
            "package-lock.json": "{}",
            "program.exe": "x",
            "picture.png": "x",
            "zeros.txt": b"\0\0",
        },
    )

    read = await desk.read(desk.folder)

    assert desk.names(read) == ["a.py", "b/c.py"]
    assert desk.reasons(read) == {
        "picture.png": "an image; name it as an image",
        "zeros.txt": "binary",
        ".git": "hidden",
        ".gitignore": "hidden",
        "build": "ignored by git",
        "env": "installed packages",
        "node_modules": "installed packages",
        "own.txt": "ignored by git",
        "package-lock.json": "made by programs",
        "program.exe": "of a kind that is not read",
    }


async def test_a_file_that_is_named_itself_may_be_hidden_or_ignored_by_git(desk: Desk) -> None:
    write(desk.folder, {".gitignore": "*.log\n", ".git/HEAD": "x", "a.log": "log", ".editorconfig": "root = true"})

    read = await desk.read(desk.folder / "a.log", desk.folder / ".editorconfig")

    assert desk.names(read) == ["a.log", ".editorconfig"]


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("src/**/*.py", ["src/a.py", "src/deep/b.py", "src/deep/er/c.py"]),
        ("src/*.py", ["src/a.py"]),
        ("src/*/b.py", ["src/deep/b.py"]),
        ("s*/deep/[ab].??", ["src/deep/b.py"]),
        ("**/c.*", ["src/deep/er/c.py"]),
        (".gith*/*.yml", [".github/ci.yml"]),
    ],
)
async def test_a_pattern_stands_for_the_files_that_match_it(desk: Desk, pattern: str, names: list[str]) -> None:
    files = ["src/a.py", "src/a.js", "src/deep/b.py", "src/deep/er/c.py", ".github/ci.yml"]
    write(desk.folder, dict.fromkeys(files, "x"))

    assert desk.names(await desk.read(f"{desk.folder}/{pattern}")) == names


async def test_a_file_that_is_named_twice_is_sent_once_in_the_first_place(desk: Desk) -> None:
    write(desk.folder, {"a.py": "a", "b.py": "b"})
    (desk.folder / "link").symlink_to("a.py")

    read = await desk.read(desk.folder / "b.py", desk.folder, desk.folder / "link", f"{desk.folder}/*.py")

    assert desk.names(read) == ["b.py", "a.py"]


async def test_links_in_folders_are_left_out_because_what_they_lead_to_has_a_place_of_its_own(desk: Desk) -> None:
    write(desk.folder, {"a.py": "a"})
    (desk.folder / "link.py").symlink_to("a.py")

    read = await desk.read(desk.folder)

    assert (desk.names(read), desk.reasons(read)) == (["a.py"], {"link.py": "linked from elsewhere"})


async def test_relative_paths_are_understood_only_where_somebody_types_them(desk: Desk) -> None:
    write(desk.folder, {"a.py": "a"})

    assert desk.names(await desk.read("a.py", takes_relative=True)) == ["a.py"]
    with pytest.raises(InvalidInputError, match=r"a\.py: not an absolute path"):
        await desk.read("a.py")


async def test_the_home_folder_can_be_written_as_a_tilde(tmp_path: Path) -> None:
    write(tmp_path, {"home/work/a.py": "a"})
    desk = Desk(tmp_path / "home/work", home=tmp_path / "home")

    assert desk.names(await desk.read("~/work/a.py")) == ["a.py"]
    desk.home = None
    with pytest.raises(InvalidInputError, match="home folder is unknown"):
        await desk.read("~/work/a.py")


async def test_a_pipe_is_a_file_named_stdin(desk: Desk) -> None:
    (file,) = (await desk.read("-", pipe=b"piped\n")).files

    assert (file.path, file.text) == ("stdin", "piped\n")
    with pytest.raises(InvalidInputError, match="-: nothing is piped in"):
        await desk.read("-")


@pytest.mark.parametrize(
    "address", ["https://a.example/b", "file:///etc/passwd", "FILE:/etc/passwd", "data:text/plain,x", "s3://a/b"]
)
async def test_addresses_are_no_files(desk: Desk, address: str) -> None:
    with pytest.raises(InvalidInputError, match="an address, not a file; name a file on this machine"):
        await desk.read(address)


@pytest.mark.parametrize("odd", ["", " ", "/a\0b", "/a\ud83d", "C:\\Users\\a.txt", "\\\\server\\share"])
async def test_what_is_no_path_here_is_left_out_as_it_was_given(desk: Desk, odd: str) -> None:
    with pytest.raises(InvalidInputError) as raised:
        await desk.read(odd)
    assert "not a" in raised.value.message
    raised.value.message.encode()


async def test_names_in_the_form_of_windows_are_taken_as_they_are(desk: Desk) -> None:
    write(desk.folder, {"C:\\notes.txt": "x"})

    assert desk.names(await desk.read("C:\\notes.txt", takes_relative=True)) == ["C:\\notes.txt"]


async def test_what_is_missing_is_said_beside_what_is_sent(desk: Desk) -> None:
    write(desk.folder, {"a.py": "a", "empty/.keep": ""})

    read = await desk.read(desk.folder / "a.py", desk.folder / "b.py", desk.folder / "empty", f"{desk.folder}/*.rs")

    assert desk.names(read) == ["a.py"]
    assert desk.reasons(read) == {
        "b.py": "does not exist",
        f"{desk.folder}/*.rs".removeprefix(f"{desk.folder.resolve()}/"): "nothing matches this pattern",
        "empty/.keep": "hidden",
    }


async def test_if_nothing_can_be_sent_the_error_lists_a_dozen_paths_with_reasons_and_the_next_step(
    desk: Desk,
) -> None:  # defect 16
    write(desk.folder, {"key.pem": "x"})
    missing = [desk.folder / f"{number}.py" for number in range(15)]

    with pytest.raises(InvalidInputError) as raised:
        await desk.read("/etc/hostname", desk.folder / "key.pem", *missing)

    message = raised.value.sentence()
    assert "- /etc/hostname: outside of the folders that may be read\n" in message
    assert f"- {desk.folder}/key.pem: a secret by its name: a private key\n" in message
    assert message.count("does not exist") == 10
    assert "and 5 more" in message
    assert "CONVERSATION_MCP_ROOTS" in message
    assert "CONVERSATION_MCP_ALLOW_SECRETS" in message
    assert raised.value.field == "files"


@pytest.mark.parametrize(
    ("limit", "sent", "reason"),
    [
        ({"max_files": 2}, ["0.txt", "1.txt"], "beyond 2 files (CONVERSATION_MCP_MAX_FILES)"),
        ({"max_file_bytes": 14}, ["0.txt", "1.txt"], "larger than 14 bytes (CONVERSATION_MCP_MAX_FILE_BYTES)"),
        (
            {"max_files_total_bytes": 30},
            ["0.txt", "1.txt"],
            "beyond 30 bytes of all files (CONVERSATION_MCP_MAX_FILES_TOTAL_BYTES)",
        ),
    ],
)
async def test_each_limit_is_named_with_its_setting(
    tmp_path: Path, limit: dict[str, int], sent: list[str], reason: str
) -> None:
    desk = Desk(write(tmp_path, {f"{number}.txt": "x" * (13 + number) for number in range(4)}), Settings(**limit))  # pyright: ignore[reportArgumentType]

    read = await desk.read(tmp_path)

    assert (desk.names(read), set(desk.reasons(read).values())) == (sent, {reason})


async def test_of_the_files_found_and_left_out_twenty_are_listed_and_the_rest_is_counted(desk: Desk) -> None:
    write(desk.folder, {"a.py": "a"} | {f"{number:02}.bin.txt": b"\0" for number in range(30)} | {".hidden": "x"})

    read = await desk.read(desk.folder, desk.folder / "00.bin.txt", desk.folder / "none")

    assert [one.reason for one in read.left_out] == ["binary", "does not exist", *["binary"] * 19]
    assert read.more_left_out == {"binary": 10, "hidden": 1}


async def test_reading_ends_when_the_time_is_over(tmp_path: Path) -> None:
    desk = Desk(write(tmp_path, {"a.py": "a"}), Settings(max_files_seconds=1e-9))

    with pytest.raises(InvalidInputError, match="CONVERSATION_MCP_MAX_FILES_SECONDS"):
        await desk.read(tmp_path / "a.py")
    with pytest.raises(InvalidInputError, match="CONVERSATION_MCP_MAX_FILES_SECONDS"):
        await desk.read(tmp_path)
