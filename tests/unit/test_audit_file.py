"""What only the audit trail in a folder has: lines that can be changed, torn ones, and links."""

from pathlib import Path

import pytest
from tests.fixtures.stores import Clock

from conversation_mcp.errors import FilesystemError
from conversation_mcp.records.audit import AuditEvent, checked, ids_in
from conversation_mcp.stores.files.audit import AuditFile

ID = "20260131-1769817600000"


def event(number: int = 0, *targets: str) -> AuditEvent:
    return AuditEvent("me", "command line", "alice", f"show {number}", targets)


def broken(trail: AuditFile) -> list[int]:
    return [line.number for line in checked(trail.lines()) if line.problem]


def file_of(folder: Path) -> Path:
    return folder / ".audit" / "audit.jsonl"


@pytest.fixture
def trail(tmp_path: Path) -> AuditFile:
    return AuditFile(tmp_path, Clock())


@pytest.mark.parametrize("line", [0, 1, 2])
def test_a_changed_line_is_found_by_the_one_after_it(tmp_path: Path, trail: AuditFile, line: int) -> None:
    for number in range(4):
        trail.add(event(number))
    lines = file_of(tmp_path).read_bytes().splitlines(keepends=True)
    lines[line] = lines[line].replace(b"alice", b"bobby")
    file_of(tmp_path).write_bytes(b"".join(lines))
    assert broken(trail) == [line + 2]


def test_a_removed_line_and_one_put_between_are_found(tmp_path: Path, trail: AuditFile) -> None:
    for number in range(4):
        trail.add(event(number))
    lines = file_of(tmp_path).read_bytes().splitlines(keepends=True)
    file_of(tmp_path).write_bytes(b"".join((lines[0], *lines[2:])))
    assert broken(trail) == [2]
    file_of(tmp_path).write_bytes(b"".join((lines[0], b'{"owner": "x"}\n', *lines[1:])))
    assert broken(trail) == [2, 3]
    file_of(tmp_path).write_bytes(b"".join(lines[1:]))
    assert broken(trail) == [1]


def test_a_line_that_a_killed_write_left_is_found_and_the_chain_goes_on_after_it(
    tmp_path: Path, trail: AuditFile
) -> None:
    trail.add(event())
    with file_of(tmp_path).open("ab") as file:
        file.write(b'{"time": "20')
    trail.add(event(1))
    trail.add(event(2))
    assert len([*trail.lines()]) == 4
    assert broken(trail) == [2]


def test_a_line_of_any_length_is_followed(trail: AuditFile) -> None:
    trail.add(event(0, *[ID] * 20_000))
    trail.add(event(1))
    trail.add(event(2))
    assert broken(trail) == []


def test_a_trail_that_cannot_be_written_is_an_error(tmp_path: Path, trail: AuditFile) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".audit").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FilesystemError):
        trail.add(event())
    with pytest.raises(FilesystemError):
        list(trail.lines())
    assert not [*(tmp_path / "elsewhere").glob("*.jsonl")]


def test_the_trail_is_private_and_hidden_from_git(tmp_path: Path, trail: AuditFile) -> None:
    trail.add(event())
    assert file_of(tmp_path).stat().st_mode & 0o777 == 0o600
    assert (tmp_path / ".audit" / ".gitignore").read_text() == "*\n"


def test_only_ids_are_taken_from_arguments() -> None:
    assert ids_in(["what is my secret?", ID, [ID, "secret"], 7, None, (f"{ID} secret",)]) == [ID, ID]
