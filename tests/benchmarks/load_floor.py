"""The least that a question costs a server: a bare request to the provider, and bare durable writes."""

import os
import time
from pathlib import Path

import anyio
import httpx
from tests.fixtures.agent import KEY, agent_process

ROUNDS = 300
WARM_UPS = 30
WRITES = 3
"""The question, the id of its run, and the answer."""
WRITTEN_BYTES = 4_000
BODY = {"preset": "pro-search", "input": "And then?", "stream": True}


def floor_ms(scratch: Path) -> float:
    """Return the processor time of one bare request on a kept connection, read as it comes, and of its writes."""
    scratch.mkdir()
    with agent_process() as base_url:
        return anyio.run(_measured, base_url, scratch)


async def _measured(base_url: str, scratch: Path) -> float:
    began = 0.0
    async with httpx.AsyncClient() as client:
        for number in range(WARM_UPS + ROUNDS):
            if number == WARM_UPS:
                began = time.process_time()
            await _ask(client, base_url)
            for _ in range(WRITES):
                _write(scratch)
    return 1_000 * (time.process_time() - began) / ROUNDS


async def _ask(client: httpx.AsyncClient, base_url: str) -> None:
    headers = {"Authorization": f"Bearer {KEY}"}
    async with client.stream("POST", f"{base_url}/v1/responses", json=BODY, headers=headers) as response:
        response.raise_for_status()
        async for _ in response.aiter_raw():
            pass


def _write(folder: Path) -> None:
    """Replace a file so that it survives a crash of the machine."""
    draft = os.open(folder / "draft", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.write(draft, b"x" * WRITTEN_BYTES)
    os.fsync(draft)
    os.close(draft)
    (folder / "draft").rename(folder / "conversation.json")
    opened = os.open(folder, os.O_RDONLY)
    os.fsync(opened)
    os.close(opened)
