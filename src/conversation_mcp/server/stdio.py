"""The stdio transport: serves one client over stdin and stdout, and shuts down cleanly."""

import json
import logging
import os
import signal

import anyio
from anyio import to_thread
from mcp.shared.message import SessionMessage
from mcp.types import ErrorData, JSONRPCError, JSONRPCMessage

from conversation_mcp.server.delivery import POLL_SECONDS, Deliveries, pauses
from conversation_mcp.server.lines import LineReader, OversizedLine, Refusal, message_of
from conversation_mcp.server.server import ConversationServer
from conversation_mcp.server.wire import Wire, standard_streams
from conversation_mcp.text import storable_data

ANSWERING_SECONDS = 1.0
"""How long a server that shuts down waits for a client that does not read, and for calls without a result."""
ENDING_SECONDS = 10.0
"""The limit of each of the last two steps of a shutdown: handing over the answers, and closing."""
NOTED_SECONDS = 0.2
"""How long a message waits at most until the answer that was read before it is known to be written."""
PARSED_AT_ONCE_BYTES = 64 * 1024
"""Longer lines are parsed in a thread, because parsing them would hold up every other call."""

logger = logging.getLogger(__name__)


async def serve_stdio(server: ConversationServer) -> None:
    """Serve until stdin ends, stdout breaks, or SIGINT or SIGTERM comes.

    In each case all files are written, all locks are released, and every call that finished in time is answered.
    """
    with standard_streams() as wire:
        session = StdioSession(server, wire)
        await session.run()
        if session.is_stuck:
            _exit()


class StdioSession:
    """One client at the other end of the pipes."""

    def __init__(self, server: ConversationServer, wire: Wire) -> None:
        self._server = server
        self._wire = wire
        self._deliveries = server.deliveries = Deliveries()
        self._incoming, self._messages = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        self._answers, self._outgoing = anyio.create_memory_object_stream[SessionMessage](0)
        # A clone, because the SDK closes the stream it is given, and lines that it never sees are refused here.
        self._refusals = self._answers.clone()
        self._told_to_end = anyio.Event()
        self._is_read = False
        self._is_broken = False
        self._all_written = anyio.Event()
        self._written_bytes = 0
        self._writing = anyio.Lock()

    @property
    def is_stuck(self) -> bool:
        """Tell whether a thread still blocks on the client; the interpreter would wait for it at exit."""
        return not (self._is_read and self._all_written.is_set())

    async def run(self) -> None:
        """Serve until the end; raise the error that ended the server, if one did."""
        failure: Exception | None = None
        async with anyio.create_task_group() as tasks:
            if os.name == "posix":
                tasks.start_soon(self._watch_signals)
            for work in (self._read, self._write, self._note_deliveries, self._end):
                tasks.start_soon(work)
            try:
                await self._server.serve(self._messages, self._answers)
            except Exception as error:  # noqa: BLE001 -- raised below, as it came and not in a group
                failure = error
            self._refusals.close()
            with anyio.move_on_after(ANSWERING_SECONDS):
                await self._all_written.wait()
            tasks.cancel_scope.cancel()
        if failure is not None:
            raise failure

    async def _watch_signals(self) -> None:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async for _number in signals:
                self._told_to_end.set()

    async def _read(self) -> None:
        reader = LineReader(self._wire.reading)
        try:
            while (line := await to_thread.run_sync(reader.next_line, abandon_on_cancel=True)) is not None:
                # First, because a call that is repeated asks anew only if its earlier answer was read.
                await self._wait_written()
                await self._settle()
                await self._take(await _parsed(line))
            self._is_read = True
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            logger.debug("the server has ended; further input from the client is not read")
        self._told_to_end.set()

    async def _take(self, found: JSONRPCMessage | Refusal | None) -> None:
        if isinstance(found, Refusal):
            for request_id in found.ids:
                error = ErrorData(code=found.code, message=f"{found.problem}.")
                await self._refusals.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=request_id, error=error)))
        elif found is not None:
            self._deliveries.received(found)
            await self._incoming.send(SessionMessage(found))

    async def _write(self) -> None:
        async with self._outgoing:
            async for item in self._outgoing:
                async with self._writing:
                    await self._put(item.message)
        self._all_written.set()

    async def _put(self, message: JSONRPCMessage) -> None:
        data = _encoded(message)
        try:
            if not self._is_broken:
                await to_thread.run_sync(self._wire.write, data, abandon_on_cancel=True)
        except OSError as error:
            logger.info("the client no longer reads: %s", error.strerror)
            self._is_broken = True
            self._told_to_end.set()
        self._written_bytes += len(data)
        self._deliveries.sent(message, None if self._is_broken else self._written_bytes)
        await self._settle()

    async def _wait_written(self) -> None:
        """Let the writing of an answer end that the client has read before its writer could say so."""
        if not self._wire.unread_bytes():  # a client that does not read must not hold up what it sends
            with anyio.move_on_after(NOTED_SECONDS):
                async with self._writing:
                    pass

    async def _settle(self) -> None:
        await self._deliveries.settle(self._written_bytes - self._wire.unread_bytes())

    async def _note_deliveries(self) -> None:
        while True:
            await self._deliveries.wait_written()
            await self._wait_until_read()

    async def _wait_until_read(self) -> None:
        for seconds in pauses():
            await self._settle()
            if self._deliveries.is_settled:
                return
            await anyio.sleep(seconds)

    async def _end(self) -> None:
        """Let running turns finish and be answered within the grace period, then close."""
        await self._told_to_end.wait()
        await self._server.finish()
        with anyio.move_on_after(ENDING_SECONDS):
            await self._hand_over()
        self._incoming.close()
        await anyio.sleep(ENDING_SECONDS)
        _exit()  # reached only if a task or thread does not end; a client would wait for the process

    async def _hand_over(self) -> None:
        """Wait until the client has read all answers.

        Any progress restarts the limit, and so does a result that is about to be written to a client that reads.
        """
        moved_at, before = anyio.current_time(), None
        while not self._deliveries.is_over and anyio.current_time() < moved_at + ANSWERING_SECONDS:
            await anyio.sleep(POLL_SECONDS)
            await self._settle()
            state = (self._written_bytes, self._wire.unread_bytes())
            if state != before or (self._deliveries.owes and not state[1]):
                moved_at, before = anyio.current_time(), state


async def _parsed(line: bytes | OversizedLine) -> JSONRPCMessage | Refusal | None:
    if isinstance(line, bytes) and len(line) <= PARSED_AT_ONCE_BYTES:
        return message_of(line)
    return await to_thread.run_sync(message_of, line)


def _encoded(message: JSONRPCMessage) -> bytes:
    """Return the line of a message; a lone surrogate, which UTF-8 cannot encode, must not end the connection."""
    try:
        text = message.model_dump_json(by_alias=True, exclude_unset=True)
    except ValueError:
        text = json.dumps(storable_data(message.model_dump(by_alias=True, exclude_unset=True)))
    return text.encode() + b"\n"


def _exit() -> None:
    """End the process at once, even if a thread blocks on the client."""
    logging.shutdown()
    os._exit(0)
