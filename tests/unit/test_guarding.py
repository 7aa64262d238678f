"""What providers write into answers that is not theirs to tell: keys, other runs, numbers that stand for nothing."""

import httpx
import pytest
from tests.fixtures.asked import request
from tests.fixtures.raw_answers import WIRES, Wire, answer_in, answering, asked, provider_at, shown_in, streamed

from conversation_mcp.conversations.history import history_page
from conversation_mcp.errors import InvalidInputError, ProviderError
from conversation_mcp.exporting.catalog import FormatName, export_format
from conversation_mcp.providers.base import Event, Finished, ModelLister, Progress, Provider, Started
from conversation_mcp.providers.wire.citations import citation_notices
from conversation_mcp.providers.wire.guard import ECHOED, Guard
from conversation_mcp.records.models import Conversation, Message, Source, without_snippets
from conversation_mcp.text import presentable
from conversation_mcp.tooling.fitting import fit
from conversation_mcp.turns.result import TurnResult

KEY = "pplx-0123456789abcdefghij"


async def gather(provider: Provider, seen: list[Event]) -> None:
    async for event in provider.ask(request("Why?", mode="chat", model="m")):
        seen.append(event)  # noqa: PERF401 -- what came before an error counts


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("size", [1, 5, 1000])
async def test_a_key_in_the_text_is_redacted_however_it_is_cut(wire: Wire, size: int) -> None:
    text = f"<think>The key is {KEY}.</think>Your key is {KEY}, begins pplx-01 and ends p"
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    async with provider_at(answering(wire, pieces), wire, KEY) as provider:
        events = await asked(provider)
    answer = answer_in(events)
    assert answer.content == shown_in(events) == "Your key is [redacted], begins pplx-01 and ends p"
    assert answer.reasoning == "The key is [redacted]."
    assert ECHOED in answer.notices


@pytest.mark.parametrize("wire", WIRES)
async def test_a_key_in_the_facts_of_an_answer_is_redacted(wire: Wire) -> None:
    page = {"url": f"https://a.example/?k={KEY}", "title": KEY, "date": KEY, "snippet": f"{'x' * 990}{KEY}"}
    more: dict[str, object] = {"id": KEY, "model": f"m-{KEY}", "search_results": [page]}
    async with provider_at(answering(wire, ["Yes."], more=more), wire, KEY) as provider:
        events = await asked(provider)
    assert KEY[:12] not in repr(events)
    assert ECHOED in answer_in(events).notices


async def test_a_key_in_an_error_its_partial_text_and_its_progress_is_redacted() -> None:
    begun = {"type": "response.output_text.delta", "delta": f"It is {KEY}"}
    doing = {"type": "response.reasoning.search_queries", "queries": [KEY]}
    failed = {"type": "response.incomplete", "response": {"incomplete_details": {"reason": KEY}}}
    seen: list[Event] = []
    async with provider_at(lambda _: streamed(doing, begun, {"error": f"no {KEY}"}), "responses", KEY) as provider:
        with pytest.raises(ProviderError) as caught:
            await gather(provider, seen)
    assert Progress("searching: [redacted]") in seen
    assert shown_in(seen) == "It is [redacted]"
    assert KEY not in f"{seen!r} {caught.value.sentence()}"
    async with provider_at(lambda _: streamed(failed), "responses", KEY) as provider:
        with pytest.raises(ProviderError) as stopped:
            await asked(provider)
    assert "[redacted]" in stopped.value.message


async def test_a_key_in_a_list_of_models_is_redacted() -> None:
    listed = {"data": [{"id": f"m-{KEY}"}]}
    async with provider_at(lambda _: httpx.Response(200, json=listed), "responses", KEY) as provider:
        assert isinstance(provider, ModelLister)
        assert [model.id for model in await provider.list_models()] == ["m-[redacted]"]


@pytest.mark.parametrize("word", ["ollama", "lm-studio", "sk-no-key-required", "not-needed-here"])
def test_a_word_that_only_stands_for_a_key_stays_in_answers(word: str) -> None:
    assert Guard(word).clean(f"Run {word} serve.") == f"Run {word} serve."


def run(response_id: str) -> dict[str, object]:
    part = {"type": "output_text", "text": "Yes."}
    return {"id": response_id, "status": "completed", "output": [{"type": "message", "content": [part]}]}


@pytest.mark.parametrize("told", ["resp_1", "resp_2"])
async def test_a_run_that_answers_as_another_is_taken_with_a_notice_only(told: str) -> None:
    def handler(asked_for: httpx.Request) -> httpx.Response:
        return httpx.Response(
            200, json=run(told) if asked_for.method == "GET" else {"id": "resp_1", "status": "queued"}
        )

    async with provider_at(handler, "responses") as provider:
        look = await provider.fetch("resp_1")
        watched = answer_in(await asked(provider, "deep_research"))
    assert isinstance(look, Finished)
    for answer in (look.answer, watched):
        assert (answer.content, answer.response_id) == ("Yes.", "resp_1")
        assert any("resp_1 answered as resp_2" in notice for notice in answer.notices) is (told == "resp_2")


async def test_a_stream_that_ends_as_another_run_says_so() -> None:
    frames = [{"type": "response.created", "response": {"id": "resp_1", "status": "in_progress"}}]
    ended = {"type": "response.completed", "response": run("resp_2")}
    async with provider_at(lambda _: streamed(*frames, ended), "perplexity") as provider:
        events = await asked(provider)
    assert Started("resp_1") in events
    assert any("resp_1 answered as resp_2" in notice for notice in answer_in(events).notices)


SOURCES = (Source(id=1, url="https://a.example"), Source(id=2, url="https://b.example"))


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Berlin[7] and Bern [1].", "[7], which refers"),
        ("Both [1][9], and [12].", "[9], [12], which refer"),
        ("In code `rows[7]` and\n\n```\nx[9]\n```\nand [2].", ""),
        ("In [2024], as x[7], my_list[8], sys.argv[9] or [7](https://c.example) and $a[7]$.", ""),
        ("See [7].\n\n[7] The third page, https://c.example", ""),
        ("Set a[0] = 5, rows[7] = 6 and [1].", ""),
        ("As shown [3, 9].", "[3], [9], which refer"),
        ("It grew [2][8].", "[8], which refers"),
        ("It grew.[1-4]", "[3], [4], which refer"),
        ("It grew [ 1; 7 ], **much**[9], more \u3010[8]\u3011 ([5]).", "[7], [9], [8], [5], which refer"),
        ("It grew \u30107\u3011 in GDP[8].", "[7], [8], which refer"),
        ("x = [7], an array [7, 8], the interval [3, 9], values: [5, 6], f([7]), dp[i][8], [[7]], returns [9].", ""),
        ("<code>[7]</code>, <pre>\n[8]\n</pre>, [text][7], [^7], [1900-1990], [7.2], [0, 9] and [1-2].", ""),
        ("- [ ] open\n- [x] done\n\n[7]: https://c.example\n\n![7](a.png), as [7] says", ""),
    ],
)
def test_numbers_that_stand_for_no_source_are_told(text: str, named: str) -> None:
    notices = citation_notices(text, SOURCES)
    assert bool(notices) is bool(named)
    assert all(named in notice and "2 sources" in notice for notice in notices)
    assert citation_notices(text, ()) == ()


@pytest.mark.parametrize("wire", [wire for wire in WIRES if wire not in {"messages", "interactions"}])
async def test_an_answer_keeps_what_its_sources_say(wire: Wire) -> None:
    page = {"id": 1, "url": "https://a.example", "title": "A", "snippet": "word " * 500}
    more: dict[str, object] = {"search_results": [page]}
    async with provider_at(answering(wire, ["Yes [1], not [7]."], more=more), wire) as provider:
        answer = answer_in(await asked(provider))
    (source,) = answer.sources
    assert (source.snippet or "").startswith("word word")
    assert len(source.snippet or "") <= 1000
    assert any("[7]" in notice for notice in answer.notices)


@pytest.mark.parametrize(
    "key",
    [
        KEY,
        "sk-proj-abcDEF0123456789",
        "AIzaSyA0123456789abcdefghijk",
        "0123456789abcdef0123456789abcdef",
        "8c1f0a52-9d3e-4b7a-a1c2-0123456789ab",
        "nvapi-q1w2e3r4t5y6u7i8o9",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx.c2ln",
    ],
)
def test_a_key_in_the_wrong_place_is_not_printed_back(key: str) -> None:
    assert key not in presentable(f"'{key}'")


def test_names_and_paths_are_printed_as_they_are() -> None:
    for value in (
        "claude-sonnet-4-5-20250929",
        "/home/me/sk-notes",
        "/var/8c1f0a52-9d3e-4b7a-a1c2-0123456789ab/logs",
        "qwen3-235b-a22b-instruct-2507",
        "openai/gpt-oss-120b",
        "20260127-1795812345678",
    ):
        assert presentable(value) == value
    assert InvalidInputError(f"got {KEY}").message == "got [redacted]"


SAID = Source(id=1, title="A", url="https://a.example", snippet="A <b>tree</b> keeps\nits keys in order.")


@pytest.mark.parametrize(
    ("form", "quoted"),
    [
        ("markdown", "\n  > A "),
        ("html", '<blockquote dir="auto">A &lt;b&gt;tree&lt;/b&gt; keeps its keys in order.</blockquote>'),
        ("json", '"snippet": "A <b>tree</b> keeps\\nits keys in order."'),
    ],
)
def test_an_export_has_what_the_sources_say(form: FormatName, quoted: str) -> None:
    assert quoted in export_format(form).render(answered_from(SAID))


def test_the_history_names_the_sources_without_what_they_say() -> None:
    page = history_page(answered_from(SAID), "/x", limit=9, max_chars=1000)
    assert page.messages[-1].sources == (Source(id=1, title="A", url="https://a.example"),)


def test_a_result_leaves_out_what_sources_say_before_it_leaves_out_sources() -> None:
    many = tuple(Source(id=number, url="https://a.example", snippet="word " * 100) for number in range(1, 9))
    result = TurnResult(
        conversation_id="1", status="completed", raw_result_text="Yes.", search_results=many, message_count=2
    )
    assert fit(result, 10_000).search_results == many
    cut = fit(result, 2_000)
    assert cut.search_results == without_snippets(many)
    assert len(cut.notices or ()) == 1


def answered_from(source: Source) -> Conversation:
    said = (Message(role="user", content="Why?"), Message(role="assistant", content="So [1].", sources=(source,)))
    at = "2026-03-01T10:00:00.000Z"
    return Conversation(
        conversation_id="20260301-1772359200000", created_at=at, updated_at=at, message_count=2, messages=said
    )
