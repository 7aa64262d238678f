"""A server with an encryption key leaves no word of a conversation readable, also when it is killed or the disk is full.

Folder, cache, settings and temporary files are read byte by byte. `make crash` kills it more often; CRASH_SEALED and
CRASH_SEED choose another run.
"""

import os
import random
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from dirty_equals import IsPartialDict
from tests.fixtures.agent import LoopbackAgent
from tests.fixtures.cli import Ended, piped
from tests.fixtures.sealed_server import USER, EncryptedFolder, SealedServer
from tests.fixtures.stores import fill, small_disk

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("CRASH_SEALED", "5"))
SEED = int(os.environ.get("CRASH_SEED", "20261127"))
WORDS = (
    *("clementine", "orchardgate", "tangerine", "satsumatree", "kumquatberry", "persimmonseed", "ledgerpaper"),
    *("mandarinpeel", "grapefruits", "bergamottree", "nectarines", "mulberries"),
)
PLAIN = {"CONVERSATION_MCP_ENCRYPTION_KEY": ""}


@pytest.fixture
def agent() -> Iterator[LoopbackAgent]:
    with LoopbackAgent() as agent:
        yield agent


def test_no_word_is_readable_while_it_runs_or_afterwards(tmp_path: Path, agent: LoopbackAgent) -> None:
    place = EncryptedFolder(tmp_path, agent.base_url)
    with place.server() as server:
        stored = [*server.live(1)]
        held = server.begin("search", query="Is a kumquatberry held? [[hold]]")
        assert agent.wait_until(lambda agent: "Is a kumquatberry held? [[hold]]" in agent.paid, 60)
        assert place.holding(*WORDS) == {}
        agent.release()
        server.answer_to(held)
        server.end_of_input()
    words = place.words()
    assert words >= set(WORDS)
    assert place.holding(*words) == {}
    assert missing(place, stored) == []


@pytest.mark.timeout(100 + 15 * KILLS)
def test_a_server_killed_at_any_moment_leaves_no_word_and_loses_nothing(tmp_path: Path, agent: LoopbackAgent) -> None:
    place, chance = EncryptedFolder(tmp_path, agent.base_url), random.Random(SEED)
    with place.server() as server:
        began = time.monotonic()
        stored = [*server.live(0)]
        life_seconds = time.monotonic() - began
        server.end_of_input()
    for number in range(1, KILLS + 1):
        with place.server() as server:
            killer = threading.Timer(chance.uniform(0, 1.2 * life_seconds), server.process.kill)
            killer.start()
            with suppress(AssertionError, BrokenPipeError):
                stored.extend(server.live(number))
            killer.join()
        assert place.holding(*WORDS) == {}
    assert missing(place, stored) == []
    assert place.holding(*place.words()) == {}
    with place.server() as server:
        assert server.data("list_conversations", query="kumquatberry")["conversations"]


def test_on_a_full_disk_nothing_is_written_in_clear_and_nothing_that_was_stored_is_lost(
    tmp_path: Path, agent: LoopbackAgent
) -> None:
    with small_disk(tmp_path / "disk", "1m") as disk:
        place = EncryptedFolder(disk, agent.base_url)
        with place.server() as server:
            stored = [*server.live(0)]
            said = {"userId": USER, "conversationId": server.created()}
            stored.append(server.stores(said, "tangerine " * 4_000 + "before"))
            for pages in (0, 1, 2, 3, 5, 8):
                before = place.texts(USER)
                fill(disk, pages * 4_096)
                errors = [each["structuredContent"] for each in tried(server, said, pages) if each.get("isError")]
                assert errors
                assert {each["code"] for each in errors} == {"FILESYSTEM_ERROR"}
                assert place.holding(*WORDS) == {}
                assert [text for texts in before.values() for text in texts if missing(place, [text])] == []
                (disk / "ballast").unlink()
            stored.append(server.stores(said, "There is room for a tangerine again."))
            server.end_of_input()
        assert missing(place, stored) == []
        assert place.holding(*place.words()) == {}


def tried(server: SealedServer, said: dict[str, str], number: int) -> list[dict[str, Any]]:
    """Return what came of calls that each write."""
    return [
        server.result("store_message", **said, role="user", content=f"A tangerine more {number}."),
        server.result("create_conversation", userId=USER, title=f"Clementine, full {number}"),
        server.result("store_memory", content=f"grapefruits {number} are full"),
        server.result("search", query=f"mandarinpeel, full {number}?"),
        server.result("update_conversation", **said, tags=["bergamottree"]),
    ]


def test_a_readable_folder_is_encrypted_with_its_cache_while_a_server_without_the_key_runs(
    tmp_path: Path, agent: LoopbackAgent
) -> None:
    place = EncryptedFolder(tmp_path, agent.base_url)
    with place.server(**PLAIN) as server:
        stored = [*server.live(1)]
        server.data("list_conversations", query="kumquatberry")
        assert {Path(path).parts[0] for path in place.holding("kumquatberry")["kumquatberry"]} == {
            "conversation-logs",
            "home",
        }
        assert command(place, "encrypt", "--apply").code == 0
        assert place.holding(*WORDS) == {}
        refused = [
            server.result("list_conversations", query="kumquatberry"),
            server.result("store_memory", content="grapefruits again"),
            server.result("create_conversation", userId=USER, title="Clementine again"),
        ]
        assert refused[1:] == [IsPartialDict(isError=True)] * 2
        server.end_of_input()
    assert place.holding(*WORDS) == {}
    assert missing(place, stored) == []


def test_an_encryption_that_the_disk_has_no_room_for_loses_nothing_and_is_finished_later(
    tmp_path: Path, agent: LoopbackAgent
) -> None:
    with small_disk(tmp_path / "disk", "2m") as disk:
        place = EncryptedFolder(disk, agent.base_url)
        with place.server(**PLAIN) as server:
            stored = [*server.live(1)]
            said = {"userId": USER, "conversationId": server.created()}
            stored.append(server.stores(said, "tangerine " * 4_000 + "at the end"))
            server.end_of_input()
        codes = list[int]()
        for pages in (0, 1, 3):  # each run goes as far as there is room, and makes some
            fill(disk, pages * 4_096)
            codes.append(command(place, "encrypt", "--apply").code)
            assert missing(place, stored) == []
            (disk / "ballast").unlink()
        assert any(codes)
        assert command(place, "encrypt", "--apply").code == 0
        assert missing(place, stored) == []
        assert place.holding(*place.words()) == {}


def command(place: EncryptedFolder, *arguments: str) -> Ended:
    return piped(place.folder, *arguments, **place.environment())


def missing(place: EncryptedFolder, stored: list[str]) -> list[str]:
    """Return the texts that were said to be stored and are not."""
    kept = [text for owner in ("local", USER) for texts in place.texts(owner).values() for text in texts]
    return [text for text in stored if not any(text in each for each in kept)]
