"""Writing the server into the file of a client, with somebody's consent."""

import json
import os
import sys
from pathlib import Path

import pytest
from tests.fixtures.cli import Here, Terminal


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Here:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    return Here(capsys, monkeypatch, tmp_path)


def test_writing_needs_somebody_who_agrees(here: Here, tmp_path: Path) -> None:
    ended = here("doctor", "--write", "cursor")
    assert ended.code == 2
    assert '+    "conversations": {' in ended.out
    assert "--yes" in ended.err
    assert not (tmp_path / ".cursor").exists()


def test_a_clients_file_gets_the_server_and_keeps_the_rest(here: Here, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "mcp.json"
    real.parent.mkdir()
    real.write_bytes(
        b'\xef\xbb\xbf{\r\n  "mcpServers": {\r\n    "other": {"env": {"KEY": "pplx-0123456789ab"}}\r\n  }\r\n}'
    )
    real.chmod(0o640)
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".cursor" / "mcp.json").symlink_to(real)
    first = here("doctor", "--write", "cursor", "--yes")
    assert first.code == 0, first.err
    assert "pplx-0123456789ab" not in first.out
    written = real.read_bytes()
    assert written.startswith(
        b'\xef\xbb\xbf{\r\n  "mcpServers": {\r\n    "other": {"env": {"KEY": "pplx-0123456789ab"}},\r\n'
    )
    server = json.loads(written.decode("utf-8-sig"))["mcpServers"]["conversations"]
    assert Path(server["command"]).is_absolute()
    assert (tmp_path / ".cursor" / "mcp.json").is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    second = here("doctor", "--write", "cursor", "--yes")
    assert second.out == f"Cursor already has this server: {tmp_path / '.cursor' / 'mcp.json'}\n"
    assert real.read_bytes() == written


def test_a_file_with_comments_is_left_alone_and_what_to_add_is_printed(here: Here, tmp_path: Path) -> None:
    path = tmp_path / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text('{\n  // mine\n  "mcpServers": {}\n}', encoding="utf-8")
    before = path.read_bytes()
    ended = here("doctor", "--write", "cursor", "--yes")
    assert ended.code == 1
    assert "conversations" in json.loads(ended.out)["mcpServers"]
    assert ended.err == (
        f"VALIDATION_ERROR: {path}: it has comments (line 2, column 3). "
        "It was not changed; put the lines above into it by hand.\n"
    )
    assert path.read_bytes() == before


KEY = "q7Zk0123456789unknown"


def test_a_server_that_could_not_answer_is_not_set_up_without_a_word(
    here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without = here("doctor", "--write", "cursor", "--yes")
    assert "Warning: no provider is configured, so the server will start and answer nothing." in without.err
    monkeypatch.setenv("PERPLEXITY_API_KEY", KEY)
    told = here("doctor", "--write", "cursor", "--yes")
    assert "Warning: Cursor does not pass on your shell's PERPLEXITY_API_KEY" in told.err
    assert "--with-key" in told.err
    written = here("doctor", "--write", "cursor", "--yes", "--with-key")
    assert (written.code, written.err) == (0, "")
    assert KEY not in written.out
    entry = json.loads((tmp_path / ".cursor" / "mcp.json").read_text(encoding="utf-8"))["mcpServers"]["conversations"]
    assert entry["env"]["PERPLEXITY_API_KEY"] == KEY
    assert here("doctor", "--write", "cursor", "--yes").err == ""


def test_a_key_is_not_printed_where_the_file_must_be_changed_by_hand(
    here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PERPLEXITY_API_KEY", KEY)
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".cursor" / "mcp.json").write_text("{ // mine\n}", encoding="utf-8")
    ended = here("doctor", "--write", "cursor", "--yes", "--with-key")
    assert ended.code == 1
    assert '"PERPLEXITY_API_KEY": "…nown"' in ended.out
    assert KEY not in ended.out + ended.err


def test_a_key_that_no_shell_has_cannot_be_written(here: Here) -> None:
    ended = here("doctor", "--write", "cursor", "--with-key")
    assert (ended.code, ended.out) == (2, "")
    assert "no key comes from the environment" in ended.err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize(("place", "code"), [(".cursor/mcp.json", 1), (".config/conversation-mcp/config.toml", 2)])
def test_a_pipe_in_the_place_of_a_file_is_no_file_and_nobody_waits_for_it(
    here: Here, tmp_path: Path, place: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / ".config"))
    (tmp_path / place).parent.mkdir(parents=True)
    os.mkfifo(tmp_path / place)
    ended = here("doctor", "--write", "cursor", "--yes")
    assert ended.code == code
    assert "is not a regular file" in ended.err


@pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal is a thing of POSIX")
@pytest.mark.parametrize(("answer", "is_written"), [("y\n", True), ("n\n", False)])
def test_a_person_sees_the_change_and_decides(tmp_path: Path, answer: str, is_written: bool) -> None:
    path = tmp_path / "home" / ".codex" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text('model = "x" # mine\n', encoding="utf-8")
    with Terminal(tmp_path, "doctor", "--write", "codex", columns=200) as terminal:
        screen = terminal.until("[y/N]")
        terminal.type(answer)
        ended = terminal.end()
    assert "+[mcp_servers.conversations]" in screen
    assert ended.code == (0 if is_written else 1)
    text = path.read_text(encoding="utf-8")
    assert text.startswith('model = "x" # mine\n')
    assert ("mcp_servers" in text) is is_written
    assert [name.name for name in path.parent.iterdir()] == ["config.toml"]
