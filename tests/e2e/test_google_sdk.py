"""The same conversation asked by Google's own client and by us: the same is sent, and the same is understood."""

import json
import subprocess
from base64 import b64encode
from typing import Any

import anyio
from tests.fixtures.chat_rules import KEY
from tests.fixtures.engines import engine
from tests.fixtures.interactions_client import AGENT, gemini
from tests.fixtures.interactions_rules import KEY_HEADER, REVISION
from tests.fixtures.processes import ROOT
from tests.fixtures.sight import png

from conversation_mcp.records.chat import ChatMessage, ImagePart

BEFORE = (ChatMessage("system", "Be short."), ChatMessage("user", "One?"), ChatMessage("assistant", "1"))
REVISED = {"Api-Revision": REVISION}
"""The one header that their client does not send by itself."""


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def _steps(*last: dict[str, str], first: str = "One?") -> list[dict[str, Any]]:
    return [
        {"type": "user_input", "content": [_text(first)]},
        {"type": "model_output", "content": [_text("1")]},
        {"type": "user_input", "content": list(last)},
    ]


def _asked_by_sdk(origin: str, *questions: dict[str, Any]) -> list[dict[str, Any]]:
    asked = json.dumps({"base_url": origin, "key": KEY, "headers": REVISED, "questions": questions})
    with engine(str(ROOT / "tests" / "fixtures" / "google_sdk.py"), stdout=subprocess.PIPE) as process:
        said, _ = process.communicate(asked, timeout=60)
    return json.loads(said)


async def test_a_search_with_an_image_is_sent_and_understood_alike() -> None:
    image, question = ImagePart("image/png", png()), "Two? [[fault:thoughts]]"
    shown = {"type": "image", "mime_type": "image/png", "data": b64encode(image.data).decode()}
    theirs: dict[str, Any] = {
        "model": "small-1",
        "input": _steps(shown, _text(question)),
        "system_instruction": "Be short.",
        "tools": [{"type": "google_search"}],
        "generation_config": {"thinking_summaries": "auto", "thinking_level": "low"},
        "stream": True,
        "store": False,
    }
    async with gemini() as (peer, server):
        ours = await peer.answer(question, *BEFORE, mode="search", images=(image,), reasoning_effort="low")
        [told] = await anyio.to_thread.run_sync(_asked_by_sdk, server.origin, theirs)
        own, other = server.requests
        assert own == other
        assert [headers[KEY_HEADER] for headers in server.headers] == [KEY, KEY]
    assert ours.content == f"{told['text']}[1][2]"
    assert (ours.reasoning, [source.url for source in ours.sources]) == (told["thoughts"], told["cited"])
    assert ours.usage
    assert ours.usage.input_tokens == told["input"] + 300  # what the search read comes to it


async def test_a_research_is_sent_and_found_alike() -> None:
    theirs = {
        "agent": AGENT,
        "input": _steps(_text("Two?"), first="Be short.\n\nOne?"),
        "background": True,
        "store": True,
        "agent_config": {
            "type": "deep-research",
            "thinking_summaries": "auto",
            "visualization": "off",
            "collaborative_planning": False,
        },
    }
    async with gemini() as (peer, server):
        ours = await peer.answer("Two?", *BEFORE, mode="deep_research", model=None)
        [told] = await anyio.to_thread.run_sync(_asked_by_sdk, server.origin, theirs)
        own, other = server.requests
        assert own == other
    assert (ours.content, told["status"]) == (f"{told['text']}[1][2]", "completed")
