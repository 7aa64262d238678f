"""The same conversation asked by Anthropic's own client and by us: what is sent differs only where it is meant to."""

import json
import subprocess
from base64 import b64encode
from typing import Any

import anyio
from tests.fixtures.chat_rules import KEY
from tests.fixtures.engines import engine
from tests.fixtures.messages_client import talking
from tests.fixtures.messages_server import MessagesServer
from tests.fixtures.processes import ROOT
from tests.fixtures.sight import png

from conversation_mcp.providers.base import Answer
from conversation_mcp.records.chat import ChatMessage, ImagePart

BEFORE = (ChatMessage("system", "Be short."), ChatMessage("user", "One?"), ChatMessage("assistant", "1"))
THEIRS: dict[str, Any] = {
    "model": "small-1",
    "max_tokens": 64_000,
    "system": "Be short.",
    "messages": [{"role": "user", "content": "One?"}, {"role": "assistant", "content": "1"}],
}
OURS_ALONE = {"cache_control": {"type": "ephemeral"}}
"""What we ask for and their client does not by itself."""
COMPARED = {"anthropic-version", "content-type"}


def _asked_by_sdk(origin: str, question: dict[str, Any]) -> dict[str, Any]:
    asked = json.dumps({"base_url": origin, "key": KEY, "question": question})
    with engine(str(ROOT / "tests" / "fixtures" / "anthropic_sdk.py"), stdout=subprocess.PIPE) as process:
        said, _ = process.communicate(asked, timeout=60)
    return json.loads(said)


async def _both(
    content: Any, question: str, more: dict[str, Any], **how: Any
) -> tuple[Answer, dict[str, Any], MessagesServer]:
    messages = [*THEIRS["messages"], {"role": "user", "content": content}]
    async with talking() as peer:
        ours = await peer.answer(question, *BEFORE, **how)
        theirs = await anyio.to_thread.run_sync(
            _asked_by_sdk, peer.api.origin, {**THEIRS, **more, "messages": messages}
        )
        return ours, theirs, peer.api


def _bodies(server: MessagesServer) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    half = len(server.requests) // 2
    return server.requests[:half], server.requests[half:]


async def test_a_question_with_an_image_is_the_same_but_for_caching() -> None:
    image = ImagePart("image/png", png())
    source = {"type": "base64", "media_type": "image/png", "data": b64encode(image.data).decode()}
    content = [{"type": "image", "source": source}, {"type": "text", "text": "Two?"}]
    ours, theirs, server = await _both(content, "Two?", {}, images=(image,))
    [own], [other] = _bodies(server)
    assert own == {**other, **OURS_ALONE}
    # The key goes as `x-api-key`, as the documentation of the API has it; their client makes a bearer token of it.
    first, second = ({name.lower(): value for name, value in headers.items()} for headers in server.headers)
    assert {name: first[name] for name in COMPARED} == {name: second[name] for name in COMPARED}
    assert (first["x-api-key"], second["authorization"]) == (KEY, f"Bearer {KEY}")
    assert ours.content == theirs["text"]


async def test_a_search_that_pauses_is_taken_up_again_in_the_same_words() -> None:
    tools = [{"type": "web_search_20250305", "name": "web_search", "max_uses": 5}]
    question = "Two? [[fault:pause]]"
    async with talking() as peer:
        await peer.answer(question, *BEFORE, mode="search")
        system = peer.sent[0]["system"]
    ours, theirs, server = await _both(question, question, {"tools": tools, "system": system}, mode="search")
    own, others = _bodies(server)
    assert len(own) == len(others) == 2
    assert own[0] == {**others[0], **OURS_ALONE}
    assert own[1].keys() == others[1].keys() | OURS_ALONE.keys()
    assert _without_ids(own[1]["messages"]) == _without_ids(others[1]["messages"])
    assert [source.url for source in ours.sources][:2] == list(dict.fromkeys(theirs["cited"]))


def _without_ids(messages: list[dict[str, Any]]) -> list[Any]:
    """Return the messages without the ids of calls, which count the questions of the server."""
    told = json.dumps(messages)
    for number in range(1, 9):
        told = told.replace(f"msg_{number}", "msg_n")
    return json.loads(told)
