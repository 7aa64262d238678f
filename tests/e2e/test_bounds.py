"""What a provider sends without end stays bearable: for the client, and in the file."""

from collections.abc import AsyncGenerator
from pathlib import Path

from tests.fixtures.folders import only_conversation
from tests.fixtures.providers import FakeProvider
from tests.fixtures.serving import data_of, error_of, serving

from conversation_mcp.errors import ProviderUnavailableError
from conversation_mcp.providers.base import Answer, Event, Finished, Request, Started, TextDelta
from conversation_mcp.records.models import Source
from conversation_mcp.turns.run import MAX_PARTIAL_CHARS

PIECE = "x" * 100_000


async def with_many_sources(_request: Request) -> AsyncGenerator[Event]:
    sources = (Source(id=number, title="A page", url=f"https://example.org/{number}") for number in range(1, 5_001))
    yield Finished(Answer(content="see [1]", sources=tuple(sources)))


async def endless(_request: Request) -> AsyncGenerator[Event]:
    yield Started("resp_1")
    for _ in range(30):
        yield TextDelta(PIECE)
    raise ProviderUnavailableError("it broke off.", maybe_billed=True)


async def test_sources_beyond_the_limit_are_left_out_of_the_result_and_kept_in_the_file(tmp_path: Path) -> None:
    async with serving(tmp_path, FakeProvider(with_many_sources)) as client:
        result = data_of(await client.call_tool("search", {"query": "one?"}))
    path = result["conversationPath"]
    shown = result["searchResults"]
    assert 500 < len(shown) < 1_500
    assert [source["id"] for source in shown] == list(range(1, len(shown) + 1))
    assert result["notices"] == [f"{len(shown):,} of 5,000 sources are shown here; all are in {path}"]
    assert len(only_conversation(tmp_path)["messages"][-1]["sources"]) == 5_000


async def test_of_a_text_that_does_not_end_only_a_beginning_is_kept(tmp_path: Path) -> None:
    async with serving(tmp_path, FakeProvider(endless)) as client:
        error_of(await client.call_tool("search", {"query": "one?"}))
    assert len(only_conversation(tmp_path)["pendingTurn"]["partialText"]) == MAX_PARTIAL_CHARS
