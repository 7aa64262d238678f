"""Running servers delete what is older than its owner keeps it, though nobody of that owner ever comes."""

import json
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from tests.fixtures.cli import piped
from tests.fixtures.handwritten import written
from tests.fixtures.http_process import http_process
from tests.fixtures.processes import RawServer

OLD, YOUNG = "20260131-1769817600000", "20260131-1769817600001"
OpenServer = Callable[[Path], AbstractContextManager[None]]
NOW = "2999-01-01T00:00:00.000Z"


@contextmanager
def stdio_server(folder: Path) -> Generator[None]:
    with RawServer(folder) as server:
        server.initialize()
        yield
        server.end_of_input()


@contextmanager
def http_server(folder: Path) -> Generator[None]:
    with http_process(folder) as server:
        yield
        assert server.end() == 0


@pytest.mark.slow
@pytest.mark.parametrize("server", [stdio_server, http_server])
def test_a_server_deletes_what_is_older_by_itself(tmp_path: Path, server: OpenServer) -> None:
    logs = tmp_path / "conversation-logs"
    assert piped(tmp_path, "remember", "--owner", "alice", "first").code == 0
    (home,) = (logs / ".owners").iterdir()
    for conversation_id in (OLD, YOUNG):
        path = written(tmp_path, ("user", "one?"), ("assistant", "One."), conversation_id=conversation_id)
        path.parent.rename(home / conversation_id)
    young = home / YOUNG / "conversation.json"
    young.write_text(json.dumps({**json.loads(young.read_text()), "updatedAt": NOW}))
    assert piped(tmp_path, "user", "keep", "alice", "1h").code == 0
    deadline = time.monotonic() + 100
    with server(tmp_path):
        while (home / OLD).exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        while [*(home / ".trash").glob(f"{OLD}*")] and time.monotonic() < deadline:
            time.sleep(0.05)
    assert not (home / OLD).exists()
    assert not [*(home / ".trash").glob(f"{OLD}*")]
    assert young.exists()
    lines = [line.split("\t") for line in piped(tmp_path, "user", "audit", "alice").out.splitlines()]
    assert [(fields[2], fields[4], fields[5]) for fields in lines][-1] == ("server", "retention 1h", OLD)
