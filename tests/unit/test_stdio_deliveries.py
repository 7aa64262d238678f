"""Answers over stdio that are read before their writer knows it."""

import json
import os
import threading
from typing import cast

import anyio
import pytest
from anyio import to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCRequest, JSONRPCResponse

from conversation_mcp.server import stdio
from conversation_mcp.server.delivery import Deliveries
from conversation_mcp.server.server import ConversationServer
from conversation_mcp.server.stdio import StdioSession
from conversation_mcp.server.wire import Wire

OVERTAKEN_SECONDS = 0.1
"""How long a writer stays away, unless the next call is taken before."""


class Answering:
    """Answers each call, and keeps how many answers were noted as delivered when it came."""

    deliveries: Deliveries

    def __init__(self) -> None:
        self.noted = 0
        self.noted_at: list[int] = []
        self.has_next_call = threading.Event()

    async def serve(
        self, messages: MemoryObjectReceiveStream[SessionMessage], answers: MemoryObjectSendStream[SessionMessage]
    ) -> None:
        async with messages, answers:
            async for item in messages:
                call = cast("JSONRPCRequest", item.message)
                self.noted_at.append(self.noted)
                if len(self.noted_at) > 1:
                    self.has_next_call.set()
                await self.deliveries.owe(call.id, self._note)
                await answers.send(SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=call.id, result={})))

    async def finish(self) -> None:
        pass

    async def _note(self) -> None:
        self.noted += 1


async def test_a_call_that_comes_before_the_writer_of_the_last_answer_goes_on_finds_it_delivered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stdio, "NOTED_SECONDS", 60)
    server = Answering()

    class OvertakenWire(Wire):
        def write(self, data: bytes) -> None:
            super().write(data)
            server.has_next_call.wait(OVERTAKEN_SECONDS)

    (server_reads, client_writes), (client_reads, server_writes) = os.pipe(), os.pipe()
    with anyio.fail_after(60), os.fdopen(client_reads, "rb") as answers, os.fdopen(client_writes, "wb") as calls:
        session = StdioSession(cast("ConversationServer", server), OvertakenWire(server_reads, server_writes))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.run)
            for number in (1, 2):
                call = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": "search"}}
                calls.write(json.dumps(call).encode() + b"\n")
                calls.flush()
                await to_thread.run_sync(answers.readline)
            calls.close()
    for descriptor in (server_reads, server_writes):
        os.close(descriptor)
    assert server.noted_at == [0, 1]
