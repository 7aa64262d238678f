"""The server on stdin and stdout, with a clean end."""

import logging
import os
import signal

import anyio

from conversation_mcp.server.server import ConversationServer

ENDING_SECONDS = 10.0


async def serve_stdio(server: ConversationServer) -> None:
    """Serve until stdin ends, or until SIGINT or SIGTERM; both end the process with everything written and unlocked."""
    stopped = False

    async def watch_signals(scope: anyio.CancelScope) -> None:
        nonlocal stopped
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async for _number in signals:
                stopped = True
                if server.app is not None:
                    await server.app.running.finish(server.app.settings.ending_grace_seconds)
                scope.cancel()
                with anyio.move_on_after(ENDING_SECONDS, shield=True):
                    await server.closed.wait()
                end()  # also when a client that does not read keeps a write to stdout waiting

    def end() -> None:
        logging.shutdown()
        os._exit(0)

    try:
        async with anyio.create_task_group() as tasks:
            if os.name == "posix":
                tasks.start_soon(watch_signals, tasks.cancel_scope)
            await server.run_stdio_async()
            tasks.cancel_scope.cancel()
    finally:
        if stopped:
            # The SDK's reader thread blocks on stdin and would keep the process alive.
            end()
