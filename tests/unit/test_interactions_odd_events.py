"""Events of any shape: a stream of interactions is read or refused, and never breaks the program."""

from contextlib import suppress
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st
from tests.fixtures.families import configured

from conversation_mcp.errors import ProviderError
from conversation_mcp.providers.base import Event, Finished
from conversation_mcp.providers.interactions.models import listed_models
from conversation_mcp.providers.interactions.outcome import has_ended, settle
from conversation_mcp.providers.interactions.runs import doing_now, visible
from conversation_mcp.providers.interactions.stream import StepReader
from conversation_mcp.providers.wire.errors import ErrorMap
from conversation_mcp.providers.wire.inquiry import Inquiry
from conversation_mcp.providers.wire.limits import LIMITS

KINDS = """
    interaction.created interaction.status_update interaction.completed step.start step.delta step.stop error
    interaction.in_progress interaction.dreaming
"""
NAMES = """
    id interaction step delta index status type content text annotations url title start_index end_index usage errors
    error code message steps summary signature arguments queries result search_suggestions models name thinking
    inputTokenLimit supportedGenerationMethods total_input_tokens total_thought_tokens model agent urls
"""
NAME = st.sampled_from(NAMES.split())
WORD = st.sampled_from(["model_output", "thought", "google_search_call", "text", "completed", "failed", "incomplete"])
LEAF = st.none() | st.booleans() | st.floats() | st.integers() | st.text() | WORD
JSON = st.recursive(
    LEAF, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAME, inner, max_size=4), max_leaves=12
)
BODY = st.dictionaries(NAME, JSON, max_size=6)
ERRORS = ErrorMap(configured("gemini", "http://127.0.0.1:1/v1beta", "AIza-0123456789"), LIMITS.timeouts)


def typed(body: dict[str, Any], kind: str) -> dict[str, Any]:
    return {**body, "event_type": kind}


EVENT = st.builds(typed, BODY, st.sampled_from(KINDS.split())) | BODY


@given(st.lists(EVENT, max_size=6))
@example([{"status": "completed", "steps": [{"type": "model_output", "content": [{"text": "a\ud800b"}]}]}])
@example([{"event_type": "step.delta", "index": 10**30, "delta": {"type": "text", "text": "\udc00"}}])
@example([{"event_type": "step.start", "index": 0, "step": {"type": []}}, {"event_type": "interaction.completed"}])
@example([{"event_type": "error"}])
@example([{"event_type": "error", "error": {}}])
def test_events_of_any_shape_are_read_or_refused(events: list[dict[str, Any]]) -> None:
    reader = StepReader(Inquiry("Odd", wants_sources=True), ERRORS)
    said: list[Event] = []
    with suppress(ProviderError):
        for event in events:
            said += reader.take(event)
            if reader.ended:
                break
        if not reader.ended:
            said += reader.finish()
        assert any(isinstance(event, Finished) for event in said)


@given(BODY)
@example({"status": "completed", "steps": [{"type": "model_output", "content": [{"text": "ö", "annotations": [{}]}]}]})
def test_runs_of_any_shape_are_read_or_refused(run: dict[str, Any]) -> None:
    assert isinstance(doing_now(run), str)
    assert isinstance(visible(run), str)
    if has_ended(run):
        with suppress(ProviderError):
            assert settle(run, Inquiry("Odd")).content.strip()


@given(BODY)
def test_lists_of_any_shape_are_read(body: dict[str, Any]) -> None:
    assert all(model.id for model in listed_models(body))
