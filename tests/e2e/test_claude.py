"""One conversation that begins at Perplexity and goes on with Claude."""

import json
from pathlib import Path
from typing import Any

from tests.fixtures.agent import KEY as AGENT_KEY
from tests.fixtures.agent import LoopbackAgent
from tests.fixtures.chat_rules import KEY
from tests.fixtures.contract import messages_of
from tests.fixtures.messages_server import MessagesServer
from tests.fixtures.serving import data_of, error_of, serving

CLAUDE = "anthropic:small-1"
SEALED = ("signature", "sig-", "encrypted", "sealed-", "redacted_thinking", "srvtoolu")
"""What the provider wants back while an answer is paused, and nobody later."""


async def test_claude_takes_a_conversation_up_and_the_file_holds_answers_and_sources_alone(tmp_path: Path) -> None:
    with LoopbackAgent() as agent, MessagesServer() as claude:
        access: dict[str, Any] = {"perplexity_api_key": AGENT_KEY, "perplexity_base_url": agent.base_url}
        claudes: dict[str, Any] = {"anthropic_api_key": KEY, "anthropic_base_url": claude.origin}
        async with serving(tmp_path, tools=("research", "models"), **access, **claudes) as client:

            async def call(tool: str, **arguments: str) -> dict[str, Any]:
                return data_of(await client.call_tool(tool, arguments))

            found = await call("search", query="Which river?")
            same = {"conversationId": found["conversationId"]}
            more = await call("search_followup", **same, query="How long? [[fault:pause]]", model=CLAUDE)
            last = await call("chat", **same, prompt="Sum it up.", model=CLAUDE)

    text = Path(found["conversationPath"]).read_text(encoding="utf-8")
    stored = json.loads(text)["messages"]
    kept = [(message["role"], message["content"]) for message in stored]
    paused, continued, simple = claude.requests
    assert messages_of(simple) == kept[:-1]
    assert continued["messages"][:-1] == paused["messages"] == simple["messages"][:3]
    assert more["rawResultText"].startswith("part 1, answer 2 to: How long?\n\nIt is sorted [1]")
    assert [source["id"] for source in stored[4]["sources"]] == [1, 2, 3]
    assert "sources" in stored[2]
    assert more["usage"]["inputTokens"] == 60
    assert (last["provider"], last["usage"]["cachedInputTokens"]) == ("anthropic", 7)
    assert [sign for sign in SEALED if sign in text] == []


async def test_what_claude_refused_is_not_sent_again(tmp_path: Path) -> None:
    with MessagesServer() as claude:
        access: dict[str, Any] = {"anthropic_api_key": KEY, "anthropic_base_url": claude.origin}
        async with serving(tmp_path, tools=("models",), **access) as client:
            first = data_of(await client.call_tool("chat", {"prompt": "One?", "model": CLAUDE}))
            same = {"conversationId": first["conversationId"]}
            refused = error_of(await client.call_tool("chat", {**same, "prompt": "An exploit? [[fault:refusal_late]]"}))
            await client.call_tool("chat", {**same, "prompt": "Two?"})
    assert refused["code"] == "ANSWER_INCOMPLETE"
    assert "exploit?" not in json.dumps(claude.requests[-1])
