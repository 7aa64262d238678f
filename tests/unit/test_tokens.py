"""Tokens: their form, their file, and what a running server knows of them."""

import os
import stat
import threading
from collections.abc import Iterator
from datetime import timedelta
from itertools import count
from pathlib import Path

import anyio
import pytest
from anyio import to_thread
from tests.fixtures.signing import NOW

from conversation_mcp.access.live_tokens import LOOK_EVERY_SECONDS, LiveTokens
from conversation_mcp.access.token_file import FileStamp, TokenFile
from conversation_mcp.access.tokens import IssuedToken, hash_of, is_token, new_token
from conversation_mcp.errors import FilesystemError
from conversation_mcp.text import REDACTED, without_keys


@pytest.fixture
def file(tmp_path: Path) -> TokenFile:
    return TokenFile(tmp_path / "settings" / "tokens.json")


def live(file: TokenFile) -> LiveTokens:
    """Return tokens for which more than a second passes between any two looks."""
    ticks: Iterator[int] = count(0, int(LOOK_EVERY_SECONDS) + 1)
    return LiveTokens(file, lambda: float(next(ticks)))


def test_a_token_has_a_readable_prefix_and_a_checksum_that_notices_a_typing_error() -> None:
    token = new_token()
    assert token.startswith("cmcp_")
    assert is_token(token)
    assert token != new_token()
    for place in range(len("cmcp_"), len(token)):
        wrong = "a" if token[place] != "a" else "b"
        assert not is_token(token[:place] + wrong + token[place + 1 :])


@pytest.mark.parametrize(
    "text", ["", "cmcp_", "cmcp_" + "a" * 59, "x" * 64, "cmcp_" + "é" * 59, "cmcp_" + "a" * 10_000]
)
def test_what_is_no_token_is_told_without_looking_it_up(text: str) -> None:
    assert not is_token(text)


def test_a_token_in_a_message_is_removed() -> None:
    assert without_keys(f"got {new_token()}!") == f"got {REDACTED}!"


def test_only_the_hash_is_kept_in_a_file_of_its_owner_alone(file: TokenFile, tmp_path: Path) -> None:
    token, issued = file.add("alice", NOW, may_act_for=("user-*",))
    path = tmp_path / "settings" / "tokens.json"
    assert token not in path.read_text()
    assert hash_of(token) in path.read_text()
    assert file.read() == (issued,)
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_an_owner_has_several_tokens_which_are_revoked_one_by_one_or_all_at_once(file: TokenFile) -> None:
    _, first = file.add("alice", NOW)
    _, second = file.add("alice", NOW)
    _, other = file.add("bob", NOW)
    assert file.revoke(first.token_id) == (first,)
    assert file.read() == (second, other)
    assert file.revoke("alice") == (second,)
    assert file.revoke("alice") == ()
    assert file.read() == (other,)


def test_the_file_stays_when_the_last_token_is_revoked(file: TokenFile) -> None:
    assert not file.exists
    file.add("alice", NOW)
    file.revoke("alice")
    assert file.exists
    assert file.read() == ()


@pytest.mark.parametrize(
    ("pattern", "owner", "acts"),
    [
        ("user-*", "user-1", True),
        ("user-*", "user-", True),
        ("user-*", "USER-1", False),
        ("user-*", "xuser-1", False),
        ("*@example.com", "a@example.com", True),
        ("*@example.com", "a@example.com.evil", False),
        ("user.1", "user-1", False),
        ("user-[12]", "user-1", False),
        ("*", "anybody\nelse", True),
        ("*", "local", False),
        ("loc*", "local", False),
        ("local", "local", True),
    ],
)
def test_a_pattern_covers_whole_names_and_who_runs_the_server_only_by_name(
    pattern: str, owner: str, acts: bool
) -> None:
    assert IssuedToken(hash="0" * 64, owner="bot", created_at=NOW, may_act_for=(pattern,)).acts_for(owner) is acts


def test_a_token_is_valid_until_it_expires() -> None:
    issued = IssuedToken(hash="0" * 64, owner="bot", created_at=NOW, expires_at=NOW + timedelta(days=1))
    assert issued.is_valid(NOW + timedelta(hours=23))
    assert not issued.is_valid(NOW + timedelta(days=1))


async def test_a_running_server_learns_of_new_and_revoked_tokens(file: TokenFile) -> None:
    tokens = live(file)
    await tokens.refresh()
    assert not tokens.is_there
    token, issued = await to_thread.run_sync(file.add, "alice", NOW)
    await tokens.refresh()
    assert tokens.is_there
    assert tokens.find(token) == issued
    await to_thread.run_sync(file.revoke, "alice")
    await tokens.refresh()
    assert tokens.find(token) is None


class SlowFile(TokenFile):
    """A file that is looked at only once the test lets it be."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.let_look = threading.Event()

    def stamp(self) -> FileStamp | None:
        self.let_look.wait()
        return super().stamp()


async def found_by_many(tokens: LiveTokens, file: SlowFile, token: str) -> tuple[list[bool], list[bool]]:
    """Have twenty requests look for the token at once; return what they found before the file was looked at, and all."""
    found, before = list[bool](), list[bool]()

    async def request() -> None:
        await tokens.refresh()
        found.append(tokens.find(token) is not None)

    async with anyio.create_task_group() as tasks:
        for _ in range(20):
            tasks.start_soon(request)
        await anyio.wait_all_tasks_blocked()
        before += found
        file.let_look.set()
    return before, found


async def test_the_first_requests_all_wait_until_the_file_was_read(tmp_path: Path) -> None:
    file = SlowFile(tmp_path / "tokens.json")
    token, _ = await to_thread.run_sync(file.add, "alice", NOW)
    assert await found_by_many(LiveTokens(file, lambda: 0.0), file, token) == ([], [True] * 20)


async def test_later_requests_do_not_wait_for_the_one_that_looks_at_the_file(tmp_path: Path) -> None:
    file = SlowFile(tmp_path / "tokens.json")
    token, _ = await to_thread.run_sync(file.add, "alice", NOW)
    tokens = live(file)
    file.let_look.set()
    await tokens.refresh()
    file.let_look.clear()
    assert await found_by_many(tokens, file, token) == ([True] * 19, [True] * 20)


async def test_a_file_that_vanishes_leaves_the_server_locked(file: TokenFile, tmp_path: Path) -> None:
    tokens = live(file)
    token, _ = await to_thread.run_sync(file.add, "alice", NOW)
    await tokens.refresh()
    await to_thread.run_sync((tmp_path / "settings" / "tokens.json").unlink)
    await tokens.refresh()
    assert tokens.is_there
    assert tokens.find(token) is None


async def test_a_damaged_file_lets_nobody_in_until_it_is_whole_again(
    file: TokenFile, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tokens, path = live(file), tmp_path / "settings" / "tokens.json"
    token, issued = await to_thread.run_sync(file.add, "alice", NOW)
    whole = path.read_bytes()
    for damaged in (b"", b"{", b"[]", b'{"tokens": [{"hash": "0", "owner": "a"}]}', b"[" * 100_000, b"\xff"):
        path.write_bytes(damaged)
        await tokens.refresh()
        await tokens.refresh()
        assert not tokens.is_readable
        assert tokens.find(token) is None
        with pytest.raises(FilesystemError):
            await to_thread.run_sync(file.add, "bob", NOW)  # nothing is repaired by writing over it
        assert path.read_bytes() == damaged
    assert len([record for record in caplog.records if "no token is accepted" in record.message]) == 1
    path.write_bytes(whole)
    await tokens.refresh()
    assert tokens.find(token) == issued
