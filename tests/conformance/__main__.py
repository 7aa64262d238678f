"""Serve the product for the official suite, until the end of stdin: python -m tests.conformance FOLDER."""

import argparse
import socket
import sys
from pathlib import Path

import anyio
import uvicorn
from tests.conformance.server import web_app

from conversation_mcp.logs import configure_logging
from conversation_mcp.settings import Settings


async def main(folder: Path) -> None:
    settings = Settings.model_validate({"logs_dir": folder / "conversation-logs", "prompts_dir": folder / "prompts"})
    config = uvicorn.Config(web_app(settings), log_level="critical", timeout_graceful_shutdown=1)
    web = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(web.serve, [listener])
            sys.stdout.write(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp\n")
            sys.stdout.flush()
            await anyio.to_thread.run_sync(sys.stdin.read)
            web.should_exit = True


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    given = parser.parse_args()
    configure_logging("ERROR")
    anyio.run(main, given.folder)
