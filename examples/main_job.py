"""The main job, end to end: search, follow up, follow up with deep research, read the history, open the file.

Starts the server as a process of its own, as every MCP client does, and talks to it over stdio.
"""

import os
import sys
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from mcp.types import TextContent

ROOT = Path(__file__).resolve().parent.parent
WEB_QUESTIONS = (
    "What is a B-tree, and what is it good for?",
    "How does it differ from an LSM tree?",
    "Which databases use which of the two, and why?",
)
LOCAL_QUESTIONS = (
    "What is kept in conversation.json?",
    "Where is the folder, and what does git do with it?",
    "What happens to a question when the provider fails or the server is killed?",
)


async def main() -> None:
    """Run the chain and print what comes back."""
    online = bool(os.environ.get("PERPLEXITY_API_KEY", "").strip())
    options = ["--logs-dir", str(ROOT / "conversation-logs")]
    if not online:
        options += ["--documents", str(ROOT / "README.md"), "--documents", str(ROOT / "docs")]
        print("PERPLEXITY_API_KEY is not set, so the local provider answers from this project's own README and docs.\n")
    first, second, third = WEB_QUESTIONS if online else LOCAL_QUESTIONS
    whom = {} if online else {"model": "local"}  # the keys of others would search too, and bill for it
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "conversation_mcp", "serve", *options], env=dict(os.environ)
    )
    async with Client(command) as client:
        started = await call(client, "search", query=first, **whom)
        conversation = {"conversationId": started["conversationId"]}
        await call(client, "search_followup", **conversation, query=second, **whom)
        await call(client, "deep_research_followup", **conversation, query=third, **whom)
        history = await call(client, "get_conversation_history", **conversation)
        while history.get("pendingTurn", {}).get("status") == "running":
            history = await call(client, "get_conversation_history", **conversation, waitSeconds=50)
    path = history["conversationPath"]
    print(f"=== {path}\n")
    print(await anyio.Path(path).read_text(encoding="utf-8"))


async def call(client: Client, tool: str, **arguments: str | int) -> dict[str, Any]:
    """Call the tool, print question and result, and return the result as data; a failure ends the program."""
    print(f"=== {tool} {arguments.get('query', '')}\n")
    result = await client.call_tool(tool, arguments)
    for block in result.content:
        if isinstance(block, TextContent):
            print(block.text, end="\n\n")
    if result.is_error:
        sys.exit(1)
    assert result.structured_content is not None
    return result.structured_content


if __name__ == "__main__":
    anyio.run(main)
