"""Whatever JSON a server sends instead of a chat completion, it is an answer or an error, never a crash."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fixtures.families import configured

from conversation_mcp.errors import ProviderError
from conversation_mcp.providers.base import Finished, TextDelta
from conversation_mcp.providers.chat_completions.reader import CompletionReader
from conversation_mcp.providers.wire.errors import ErrorMap
from conversation_mcp.providers.wire.events import END
from conversation_mcp.providers.wire.limits import LIMITS

ERRORS = ErrorMap(configured("custom", "https://peer.example/v1"), LIMITS.timeouts)
NAMES = [
    "choices",
    "delta",
    "message",
    "content",
    "text",
    "type",
    "thinking",
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "refusal",
    "tool_calls",
    "finish_reason",
    "usage",
    "prompt_tokens",
    "completion_tokens",
    "cost",
    "error",
    "code",
    "citations",
    "annotations",
    "url_citation",
    "url",
    "id",
    "model",
]
WORDS = [
    "",
    "stop",
    "length",
    "content_filter",
    "<think>",
    "</think>",
    "a\ud83d",
    "\x00",
    "text",
    "thinking",
    "https://a.example",
]
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS) | st.text(max_size=5)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=12,
)
PIECES = st.fixed_dictionaries({}, optional=dict.fromkeys(NAMES, VALUES))
CHOICES = st.fixed_dictionaries(
    {}, optional={"delta": PIECES, "message": PIECES, "finish_reason": VALUES, "error": VALUES}
)
FRAMES = (
    st.fixed_dictionaries({}, optional={"choices": st.lists(CHOICES, max_size=2), "usage": VALUES, "id": VALUES})
    | PIECES
)


@settings(max_examples=40)
@given(st.lists(FRAMES | st.just(END), max_size=6))
def test_any_frames_end_in_an_answer_with_text_or_in_an_error(frames: list[dict[str, Any]]) -> None:
    reader = CompletionReader("Peer", "small-1", ERRORS)
    shown = ""
    try:
        for frame in frames:
            shown += "".join(event.text for event in reader.take(frame) if isinstance(event, TextDelta))
        *rest, finished = reader.finish()
    except ProviderError:
        return
    shown += "".join(event.text for event in rest if isinstance(event, TextDelta))
    assert isinstance(finished, Finished)
    answer = finished.answer
    assert answer.content.strip()
    assert answer.content.strip() in shown.strip()
    for text in (answer.content, answer.reasoning or "", answer.model or "", *answer.notices, shown):
        text.encode()
