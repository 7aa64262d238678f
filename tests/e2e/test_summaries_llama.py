"""Summaries of what falls out of a small window, written by llama.cpp's own server."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.engines import LLAMA_MODEL, llama
from tests.fixtures.families import asking_at
from tests.fixtures.folders import only_conversation
from tests.fixtures.serving import data_of, serving, text_of

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
WINDOW_TOKENS, TURNS = 4096, 16
MODEL = f"peer:{LLAMA_MODEL}"
WORD = '("the" | "answer" | "tree" | "node")'
ENDING: dict[str, Any] = {"body": {"grammar": f'root ::= " "? {WORD} (" " {WORD}){{1,3}}'}}
"""A model of random weights never ends by itself; its server has it end here, as one does that has said all."""


def texts(body: dict[str, Any]) -> str:
    return "\n".join(message["content"] for message in body["messages"])


def questions(body: dict[str, Any]) -> list[int]:
    """Return the numbers of the questions that stand in a request."""
    return [number for number in range(TURNS) if f"question {number}: " in texts(body)]


async def test_a_conversation_that_outgrows_the_window_goes_on_with_summaries_by_the_same_model(tmp_path: Path) -> None:
    told: list[str] = []
    with llama(window_tokens=WINDOW_TOKENS) as base_url:
        async with (
            asking_at(base_url, "chat_completions", model=LLAMA_MODEL, kind="local", quirks=ENDING) as llama_cpp,
            serving(tmp_path, llama_cpp.provider, tools=("research", "models"), summaries=MODEL) as client,
        ):
            where: dict[str, Any] = {}
            for turn in range(TURNS):
                call = {"prompt": f"question {turn}: " + "7,8," * 80, "model": MODEL, **where}
                data = data_of(await client.call_tool("chat", call))
                where = {"conversationId": data["conversationId"]}
                told += data.get("notices", ())
            history = text_of(await client.call_tool("get_conversation_history", {**where, "offset": 0}))
            context = data_of(await client.call_tool("show_context", where))
    written = [body for body in llama_cpp.sent if "Summarise all of it" in texts(body)]
    asked = [body for body in llama_cpp.sent if body not in written]
    kept = only_conversation(tmp_path)["summaries"]
    assert (len(written), len(asked)) == (len(kept), TURNS)
    assert len(kept) > 1
    for summary in kept:
        assert (summary["provider"], summary["firstMessage"]) == ("peer", 2)
        assert summary["usage"]["inputTokens"] > 100
    for former, later in pairwise(kept):
        assert former["lastMessage"] < later["lastMessage"]
    newest = kept[-1]
    count = newest["lastMessage"] - 1
    frame = f"of the first {count} messages, which do not fit>\n{newest['content']}\n</"
    assert frame in texts(asked[-1])
    assert questions(asked[-1]) == list(range(count // 2, TURNS))
    assert "left out here" not in json.dumps(asked)
    assert any(f"a summary stands for {count} messages" in notice for notice in told)
    assert f"Summary of messages 2 to {newest['lastMessage']}" in history
    assert context["summaries"][0]["lastMessage"] == newest["lastMessage"]
