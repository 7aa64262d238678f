"""The vectors of conversations after kills, beside another builder, and on a full disk: no search fails for them."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from tests.fixtures.library import MUCH_LATER, Shelf, id_of
from tests.fixtures.numbered import Numbered
from tests.fixtures.stores import Clock, fill, small_disk
from tests.fixtures.vectors import OneEmbedder, WordModel, there

from conversation_mcp.embeddings.meaning import Meaning
from conversation_mcp.records.models import ConversationId
from conversation_mcp.searching.database import IndexUnusableError
from conversation_mcp.stores.catalog import open_store

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("CRASH_BUILDS", "4"))
CONVERSATIONS = 30
BUILD = """
import sys
import conversation_mcp.stores.leases as lengths  # before the stores, which take the length over
lengths.LEASE_SECONDS, lengths.RENEW_SECONDS = 1.0, 0.2
from tests.e2e.test_vector_crashes import Builders
builders, is_patient = Builders(sys.argv[1]), "patient" in sys.argv[2:]
while True:
    for step in builders.meaning.steps(builders.turns.source):
        if not (is_patient and step.is_elsewhere):
            print(step.done, step.is_elsewhere, flush=True)
        if "held" in sys.argv[2:]:
            sys.stdin.readline()
    if not (is_patient and step.is_elsewhere):
        break
"""


class Builders:
    """Conversations in a store, and processes that make their vectors."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.shelf = Numbered(open_store(url, Clock(MUCH_LATER), is_durable=False))
        self.turns = there(self.shelf.finder.turns)
        self.meaning = Meaning(self.turns.vectors, OneEmbedder(WordModel()))

    def start(self, *how: str) -> "subprocess.Popen[str]":
        """Start one.

        If it is held, it goes on after each step when its stdin has a line, and at its end. If it is patient, it waits
        until the lease of a killed one has lapsed.
        """
        return subprocess.Popen(
            [sys.executable, "-c", BUILD, self.url, *how],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )

    def make(self) -> None:
        while any(step.is_elsewhere for step in self.meaning.steps(self.turns.source)):
            """Until the lease of a killed one has lapsed."""

    def assert_whole(self, count: int) -> None:
        """Every conversation has its vector, and nobody else has one."""
        headway = self.meaning.headway(self.turns.source)
        assert (headway.done, headway.total) == (count, count)
        made = self.turns.vectors.made("words")
        assert made.keys() == {name for name, _ in self.turns.source.groups()}
        assert self.turns.vectors.count("words") == count
        assert self.meaning.is_whole


@pytest.fixture
def builders(meant_url: str) -> Builders:
    made = Builders(meant_url)
    for number in range(CONVERSATIONS):
        made.shelf.put(number, f"word{number} and{number}", f"answer{number}")
    return made


@pytest.mark.timeout(100 + 60 * KILLS)
def test_after_kills_and_deletions_at_any_step_every_text_has_its_vector_and_no_other(builders: Builders) -> None:
    left = CONVERSATIONS
    for round_number in range(KILLS):
        builders.shelf.put(left - 1, f"changed{round_number}", "anew")
        with builders.start("patient") as process:
            assert process.stdout
            for _ in range(round_number * 7 % CONVERSATIONS + 1):
                process.stdout.readline()
            process.kill()
        builders.meaning.near("word3 and3", 5)  # must not raise
        if left > CONVERSATIONS // 2:
            left -= 1
            trashed = builders.shelf.delete(left)
            builders.shelf.finder.erase([ConversationId(id_of(left))])
            anyio.run(builders.shelf.store.trash.remove, trashed)
            assert id_of(left) not in builders.turns.vectors.made("words")
    builders.make()
    builders.assert_whole(left)
    around = builders.meaning.near("word3 and3", 1)
    assert around
    assert around.found[0].group == id_of(3)


def test_two_builders_at_once_make_each_vector_once(builders: Builders) -> None:
    with builders.start("held") as one:
        assert one.stdout
        assert one.stdout.readline() == "0 False\n"
        with builders.start() as other:
            assert other.communicate(timeout=100)[0] == "0 True\n"
        assert builders.turns.vectors.count("words") == 0
        assert one.communicate(timeout=100)[0].endswith(f"{CONVERSATIONS} False\n")
    assert [one.returncode, other.returncode] == [0, 0]
    builders.assert_whole(CONVERSATIONS)


def test_a_full_disk_stops_the_build_and_no_search_and_it_goes_on_when_there_is_space(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "2m") as disk:
        shelf = Shelf(tmp_path)
        shelf.indexes = disk / "index"
        shelf.index = shelf.open()
        for number in range(CONVERSATIONS):
            shelf.put(number, f"word{number} and{number}", *(f"text{part} of{number}" for part in range(199)))
        turns = there(shelf.finder.turns)
        meaning = Meaning(turns.vectors, OneEmbedder(WordModel()))
        shelf.page("word3")
        fill(disk, 200_000)
        with pytest.raises(IndexUnusableError):
            _exhaust(meaning.steps(turns.source))
        meaning.near("word3 and3", 5)  # must not raise
        assert shelf.page("word3").found
        (disk / "ballast").unlink()
        _exhaust(meaning.steps(turns.source))
        headway = meaning.headway(turns.source)
        assert headway.done == headway.total == CONVERSATIONS


def _exhaust(steps: Iterator[object]) -> None:
    for _ in steps:
        pass
