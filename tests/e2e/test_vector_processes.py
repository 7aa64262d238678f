"""A server over HTTP has the vectors made of what its owners say, in a process of its own that ends with the work."""

import sqlite3
from contextlib import closing
from pathlib import Path

import anyio
import pytest
from anyio import to_thread
from mcp import Client
from tests.fixtures.agent import LoopbackAgent
from tests.fixtures.bundled import bundled
from tests.fixtures.http_process import http_process
from tests.fixtures.serving import data_of

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]
WITH_VECTORS = "SELECT count(*) FROM groups WHERE state IS NOT NULL"


def made_in(cache: Path) -> int:
    """Return for how many groups there are vectors in all files below a folder."""
    count = 0
    for path in cache.rglob("index.db"):
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            count += database.execute(WITH_VECTORS).fetchone()[0] if "codes" in tables else 0
    return count


@pytest.mark.parametrize("workers", ["1", "2"])
async def test_a_turn_over_http_gets_its_vector(tmp_path: Path, workers: str) -> None:
    bundled()
    cache = tmp_path / "cache"
    given = {"CONVERSATION_MCP_EMBEDDINGS": "auto", "XDG_CACHE_HOME": str(cache)}
    with (
        LoopbackAgent() as agent,
        http_process(tmp_path, "--workers", workers, base_url=agent.base_url, **given) as server,
    ):
        async with Client(server.url) as client:
            data_of(await client.call_tool("search", {"query": "How tall is the Eiger?"}))
            with anyio.fail_after(90):
                while not await to_thread.run_sync(made_in, cache):
                    await anyio.lowlevel.checkpoint()
        assert server.end() == 0
