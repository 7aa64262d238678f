"""Reading response objects, trustworthy or not."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversation_mcp.errors import ProviderError, RunCancelledError
from conversation_mcp.providers.responses.outcome import settle
from conversation_mcp.providers.responses.output import answer_text
from conversation_mcp.providers.wire.inquiry import Inquiry
from conversation_mcp.providers.wire.json_values import JsonObject, parse_object
from conversation_mcp.providers.wire.sources import SourceCollector
from conversation_mcp.providers.wire.usage import usage
from conversation_mcp.records.models import Source
from conversation_mcp.records.usage import Usage


def sources(items: list[JsonObject], response: JsonObject) -> tuple[Source, ...]:
    collector = SourceCollector()
    collector.take(*items, response)
    return collector.sources()


def results(*pages: dict[str, Any]) -> JsonObject:
    return {"type": "search_results", "results": list(pages)}


def page(number: object, name: str = "a") -> dict[str, Any]:
    return {"id": number, "url": f"https://example.org/{name}"}


def source(number: int, name: str = "a") -> Source:
    return Source(id=number, url=f"https://example.org/{name}")


def test_ids_are_kept_and_the_first_page_of_an_id_stays() -> None:
    items = [results(page(3), page("7", "b")), results(page(3, "other"), page(31.0, "c"))]
    assert sources(items, {}) == (source(3), source(7, "b"), source(31, "c"))


def test_pages_without_an_id_get_numbers_after_the_highest_and_come_once() -> None:
    fetched = {"type": "fetch_url_results", "contents": [page(None), page(True, "b"), page("x", "b")]}
    assert sources([fetched, results(page(9))], {}) == (source(9), source(10, "b"))


def test_sources_in_annotations_and_citations_count_too() -> None:
    notes = [
        {"type": "url_citation", "url": "https://example.org/a", "title": "A"},
        {"type": "url_citation", "url_citation": {"url": "https://example.org/b"}},
        {"type": "file_citation"},
    ]
    message = {"type": "message", "content": [{"type": "output_text", "text": "a", "annotations": notes}]}
    response = {"citations": ["https://example.org/c", {"url": "https://example.org/a"}, 7]}
    assert sources([message], response) == (
        Source(id=1, title="A", url="https://example.org/a"),
        source(2, "b"),
        source(3, "c"),
    )


def test_results_that_are_no_pages_are_left_out() -> None:
    people = {"type": "people_search_results", "results": [{"name": "Ada"}, page(1)]}
    assert sources([people, {"type": "finance_results", "results": None}], {}) == (source(1),)


def test_the_text_of_all_messages_counts_and_nothing_else() -> None:
    items: list[JsonObject] = [
        {
            "type": "message",
            "content": [{"type": "output_text", "text": "one "}, {"type": "output_text", "text": "two"}],
        },
        {"type": "reasoning", "content": [{"type": "output_text", "text": "hidden"}]},
        {"type": "message", "content": None},
        {"type": "message", "content": "three"},
    ]
    assert answer_text(items) == "one two\n\nthree"


def test_usage_holds_what_was_told_and_no_number_that_is_none() -> None:
    told = parse_object('{"usage": {"input_tokens": 4252.0, "output_tokens": NaN, "cost": {"total_cost": 3.1e-3}}}')
    assert told
    assert usage(told) == Usage(input_tokens=4252, cost_usd=0.0031)
    assert usage({"usage": None}) is None
    assert usage({"usage": {"input_tokens": True, "cost": {"total_cost": "free"}}}) is None


def test_a_cut_that_is_reported_as_completed_is_a_cut() -> None:
    response = {
        "status": "completed",
        "incomplete_details": {"reason": "max_steps"},
        "output": [{"type": "message", "content": "so far"}],
    }
    answer = settle(response, Inquiry("Perplexity", preset="fast"))
    assert (answer.finish_reason, answer.notices) == (
        "length",
        ("the answer was cut by the provider (max_steps). Ask it to continue.",),
    )


NAMES = """
    id output type results contents content text annotations url title date usage cost total_cost citations error
    message refusal model incomplete_details reason
"""
KEYS = st.sampled_from(NAMES.split())
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner),
    max_leaves=20,
)


@pytest.mark.slow
@given(st.dictionaries(KEYS, JSON), st.sampled_from(["completed", "incomplete"]))
def test_no_response_is_too_odd_to_have_its_answer_read(response: dict[str, Any], status: str) -> None:
    assert settle(
        {**response, "status": status}, Inquiry("Perplexity", related=True), streamed_text="something"
    ).content


@pytest.mark.slow
@given(st.dictionaries(KEYS, JSON), st.sampled_from(["failed", "cancelled", "requires_action"]))
def test_no_failure_is_too_odd_to_be_told(response: dict[str, Any], status: str) -> None:
    with pytest.raises(ProviderError) as caught:
        settle({**response, "status": status}, Inquiry("Perplexity"))
    assert isinstance(caught.value, RunCancelledError) is (status == "cancelled")
    assert "\n" not in caught.value.sentence()


@pytest.mark.parametrize("data", ["", "[]", "null", "1", '{"a":', "[" * 100_000, '{"a":' + "9" * 5000 + "}", b"\xff"])
def test_what_is_no_json_object_is_none(data: str | bytes) -> None:
    assert parse_object(data) is None
