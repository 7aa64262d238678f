"""A server over HTTP has the vectors made of what its owners say, in a process of its own that ends with the work."""

from pathlib import Path

import anyio
import pytest
from anyio import to_thread
from mcp import Client
from tests.fixtures.agent import LoopbackAgent
from tests.fixtures.bundled import bundled
from tests.fixtures.http_process import http_process
from tests.fixtures.serving import data_of
from tests.fixtures.vectors import there

from conversation_mcp.clock import utc_now
from conversation_mcp.stores.catalog import open_finder
from conversation_mcp.stores.finder import Finder

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


def made_in(finder: Finder) -> int:
    """Return how many turns have vectors."""
    vectors = there(finder.turns).vectors
    return sum(vectors.count(model.name) for model in vectors.models())


@pytest.mark.parametrize("workers", ["1", "2"])
async def test_a_turn_over_http_gets_its_vector(
    tmp_path: Path, meant_url: str, monkeypatch: pytest.MonkeyPatch, workers: str
) -> None:
    bundled()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    given = {
        "CONVERSATION_MCP_EMBEDDINGS": "auto",
        "CONVERSATION_MCP_STORE": meant_url,
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
    finder = open_finder(meant_url, utc_now)
    with (
        LoopbackAgent() as agent,
        http_process(tmp_path, "--workers", workers, base_url=agent.base_url, **given) as server,
    ):
        async with Client(server.url) as client:
            data_of(await client.call_tool("search", {"query": "How tall is the Eiger?"}))
            with anyio.fail_after(90):
                while not await to_thread.run_sync(made_in, finder):
                    await anyio.lowlevel.checkpoint()
        assert server.end() == 0
