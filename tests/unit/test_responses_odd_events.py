"""Events of any shape: a stream of Responses is read or refused, and never breaks the program."""

from contextlib import suppress
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from conversation_mcp.errors import ProviderError
from conversation_mcp.providers.base import Event, Finished
from conversation_mcp.providers.responses.stream import StreamReader
from conversation_mcp.providers.wire.inquiry import Inquiry
from conversation_mcp.providers.wire.models import listed_models
from conversation_mcp.providers.wire.problems import problem_in

KINDS = """
    response.created response.in_progress response.output_item.added response.output_item.done response.completed
    response.output_text.delta response.output_text.done response.incomplete response.failed response.cancelled error
    response.web_search_call.searching response.reasoning.search_queries response.reasoning.search_results
    response.reasoning_text.delta response.refusal.delta
"""
NAMES = """
    id object item item_id output_index content_index delta text response output type content annotations url title
    usage cost status error message code incomplete_details reason action query sources queries results citations
    detail loc msg data meta n_ctx summary
"""
NAME = st.sampled_from(NAMES.split())
WORD = st.sampled_from(["response", "message", "output_text", "reasoning", "web_search_call", "completed", "refusal"])
LEAF = st.none() | st.booleans() | st.floats() | st.integers() | st.text() | WORD
JSON = st.recursive(
    LEAF, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAME, inner, max_size=4), max_leaves=12
)
BODY = st.dictionaries(NAME, JSON, max_size=6)


def typed(body: dict[str, Any], kind: str) -> dict[str, Any]:
    return {**body, "type": kind}


def whole(body: dict[str, Any]) -> dict[str, Any]:
    return {**body, "object": "response"}


EVENT = st.builds(typed, BODY, st.sampled_from(KINDS.split())) | st.builds(whole, BODY) | BODY


@given(st.lists(EVENT, max_size=6))
@example([{"object": "response", "status": []}])
@example([{"type": "response.completed", "response": {"status": {}, "output": [[]]}}])
@example([{"object": "response", "output": [{"type": []}]}])
def test_events_of_any_shape_are_read_or_refused(events: list[dict[str, Any]]) -> None:
    reader = StreamReader(Inquiry("Odd", output_limit_tokens=3, wants_sources=True))
    said: list[Event] = []
    with suppress(ProviderError):
        for event in events:
            said += reader.take(event)
            if reader.ended:
                break
        assert reader.ended is any(isinstance(event, Finished) for event in said)


@given(BODY)
def test_errors_and_lists_of_any_shape_are_read(body: dict[str, Any]) -> None:
    problem = problem_in(body)
    assert problem is not None or not body.get("error")
    assert problem is None or {"error", "object", "type", "message", "msg", "detail"} & body.keys()
    assert problem is None or "\n" not in problem.cause
    assert all(model.id.strip() for model in listed_models(body))
