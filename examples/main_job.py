"""The main job, end to end: search, follow up, follow up with deep research, read the history, open the file.

Starts the server as a process of its own, as every MCP client does, and talks to it over stdio.
"""

import os
import sys
from collections.abc import Iterable
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
    "What are the contents of conversation.json?",
    "Where is the folder, and why does git ignore it?",
    "What happens to a question when the provider fails or the server is killed?",
)
DOCUMENTS = ("README.md", "docs")
HISTORY = "get_conversation_history"
"""It repeats the answers, which have been shown."""
AFTERWARDS = """
=== What to do next

The conversation is the file above. Read it, ask on in it, see what else there is:
  {program} show {id}
  {program} ask -c {id}{documents} "…"
  {program} --help

Set up your client; this shows how, and writes the file for you with --write:
  {program} doctor
"""


async def main() -> None:
    """Run the chain and print what comes back."""
    online = bool(os.environ.get("PERPLEXITY_API_KEY", "").strip())
    options = ["--logs-dir", str(ROOT / "conversation-logs")]
    if not online:
        options += [part for name in DOCUMENTS for part in ("--documents", str(ROOT / name))]
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
        history = await call(client, HISTORY, **conversation)
        while history.get("pendingTurn", {}).get("status") == "running":
            history = await call(client, HISTORY, **conversation, waitSeconds=50)
    print(f"=== {HISTORY}\n\n{history['conversationPath']}\n")
    for message in history["messages"]:
        facts = [f"#{message['number']} {message['role']}", f"{len(message['content']):,} characters"]
        print(" · ".join([*facts, *filter(None, (message.get("provider"), message.get("model")))]))
    print(afterwards(history["conversationId"], () if online else DOCUMENTS))


def afterwards(conversation_id: str, documents: Iterable[str]) -> str:
    """Return what can be done next, with the program and the documents as they are called from here."""
    options = "".join(f" --documents {os.path.relpath(ROOT / name)}" for name in documents)
    program = os.path.relpath(Path(sys.executable).with_name("conversation-mcp"))
    return AFTERWARDS.format(program=program, id=conversation_id, documents=options)


async def call(client: Client, tool: str, **arguments: str | int) -> dict[str, Any]:
    """Call the tool, print question and answer, and return the result as data; a failure ends the program."""
    is_shown = tool != HISTORY
    if is_shown:
        print(f"=== {tool} {arguments['query']}\n")
    result = await client.call_tool(tool, arguments)
    for block in result.content:
        if isinstance(block, TextContent) and (is_shown or result.is_error):
            print(block.text, end="\n\n")
    if result.is_error:
        sys.exit(1)
    assert result.structured_content is not None
    return result.structured_content


if __name__ == "__main__":
    anyio.run(main)
