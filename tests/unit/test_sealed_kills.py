"""Two processes that write into an encrypted folder leave no readable word, however they end."""

import resource
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from tests.fixtures.encrypted_store import KEY
from tests.fixtures.sealing import WORDS, holding, opened

from conversation_mcp.sealing.keys import Encryption

ROOT = Path(__file__).parents[2]
ROUNDS = 8


@pytest.mark.slow
def test_two_writers_that_are_killed_leave_no_word_and_lose_no_conversation(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.fixtures.sealed_child", str(tmp_path)]
    written = set[str]()
    for number in range(ROUNDS):
        children = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) for _ in range(2)]
        for child in children:
            assert child.stdout
            for _ in range(3 + number * 5):
                written.add(child.stdout.readline().strip())
        for child in children:
            child.kill()
            child.communicate()
        assert holding(tmp_path, *WORDS) == []
    store = opened(tmp_path)
    assert written <= {*store.finder.ids()}
    for conversation_id in store.finder.ids():
        assert anyio.run(store.load, conversation_id).messages[0].content == " ".join(WORDS)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit of core files")
def test_a_process_with_a_key_leaves_no_core_file() -> None:
    assert Encryption(KEY, None).masters
    assert resource.getrlimit(resource.RLIMIT_CORE)[0] == 0
