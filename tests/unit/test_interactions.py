"""What Gemini is sent, and how its answers are read: numbers of sources, thoughts, usage, models, tokens."""

import pytest
from tests.fixtures.asked import answer_of, request
from tests.fixtures.contract import messages_of
from tests.fixtures.interactions_client import AGENT, gemini
from tests.fixtures.interactions_wire import PAGES

from conversation_mcp.errors import InvalidInputError
from conversation_mcp.providers.base import ListedModel, Progress, TextDelta, TokenCounter
from conversation_mcp.providers.definitions import Given, load_definitions, resolved
from conversation_mcp.providers.interactions.citations import cited
from conversation_mcp.providers.interactions.steps import answer_text
from conversation_mcp.records.chat import ChatMessage, ImagePart
from conversation_mcp.records.usage import Usage


async def test_a_chat_is_not_kept_at_google_and_sends_its_whole_history() -> None:
    before = (ChatMessage("system", "Be short."), ChatMessage("user", "One?"), ChatMessage("assistant", "1"))
    async with gemini() as (peer, server):
        await peer.answer("Two?", *before)
        assert server.requests == [
            {
                "model": "small-1",
                "input": [
                    {"type": "user_input", "content": [{"type": "text", "text": "One?"}]},
                    {"type": "model_output", "content": [{"type": "text", "text": "1"}]},
                    {"type": "user_input", "content": [{"type": "text", "text": "Two?"}]},
                ],
                "system_instruction": "Be short.",
                "stream": True,
                "store": False,
                "generation_config": {"thinking_summaries": "auto"},
            }
        ]


async def test_two_questions_in_a_row_become_one_step() -> None:
    async with gemini() as (peer, server):
        await peer.answer("Or two?", ChatMessage("user", "One?"))
        assert messages_of(server.requests[-1]) == [("user", "One?\n\nOr two?")]


async def test_a_search_numbers_its_pages_in_the_text() -> None:
    async with gemini() as (peer, server):
        answer = await peer.answer("Why?", mode="search")
    assert answer.content == "answer 1 to: Why?[1][2]"
    assert [(source.id, source.url, source.title) for source in answer.sources] == [
        (1, PAGES[0]["url"], PAGES[0]["title"]),
        (2, PAGES[1]["url"], PAGES[1]["title"]),
    ]
    assert server.requests[-1]["tools"] == [{"type": "google_search"}]
    assert answer.notices == ("the answer rests on searches at Google: https://www.google.com/search?q=Why%3F",)


async def test_the_place_of_a_citation_is_counted_in_bytes_and_not_in_characters() -> None:
    async with gemini() as (peer, _):
        answer = await peer.answer("Why? [[fault:bytes]]", mode="search")
    assert answer.content == "größer 漢字.[1] Ende[2]"


async def test_a_citation_at_a_place_that_does_not_exist_is_listed_only() -> None:
    async with gemini() as (peer, _):
        answer = await peer.answer("Why? [[fault:wrong_places]]", mode="search")
    assert (answer.content, len(answer.sources)) == ("answer 1 to: Why?", 1)


@pytest.mark.parametrize("place", [(0, 2), (2, 3), (3, 3), (4, 99), (-1, 3), (5, 3)])
def test_a_place_within_a_character_or_outside_of_the_text_gets_no_number(place: tuple[int, int]) -> None:
    note = {"url": "https://example.org", "start_index": place[0], "end_index": place[1]}
    text, sources = cited([{"text": "aöb c", "annotations": [note]}])
    assert (text, [source.id for source in sources]) == ("aöb c", [1])


def test_a_page_that_is_cited_twice_keeps_its_number_across_texts() -> None:
    one, two = {"url": "https://one.example"}, {"url": "https://two.example", "snippet": "kept"}
    text, sources = cited(
        [
            {"text": "A. B.", "annotations": [{**two, "end_index": 5}, {**one, "end_index": 2}]},
            {"text": " C.", "annotations": [{**one, "end_index": 3}, {**one, "end_index": 3}]},
        ],
        [{"url": "https://three.example"}, one],
    )
    assert text == "A.[1] B.[2] C.[1]"
    assert [(source.id, source.url, source.snippet) for source in sources] == [
        (1, "https://one.example", None),
        (2, "https://two.example", "kept"),
        (3, "https://three.example", None),
    ]


async def test_addresses_stay_as_google_gave_them_and_the_title_says_the_site() -> None:
    async with gemini() as (peer, _):
        first, _second = (await peer.answer("Why?", mode="search")).sources
    assert first.url == "https://vertexaisearch.cloud.google.com/grounding-api-redirect/1"
    assert (first.title, first.snippet) == ("site1.example.org", None)


async def test_words_before_the_search_are_not_part_of_the_answer() -> None:
    async with gemini() as (peer, _):
        events = await peer.events("Why? [[fault:before_search]]", mode="search")
    assert answer_of(events).content == "answer 1 to: Why?[1][2]"
    shown = ""
    for event in events:
        if isinstance(event, TextDelta):
            shown = event.text if event.replaces else shown + event.text
    assert shown == "answer 1 to: Why?"
    assert Progress("searching: Why?") in events


def test_a_thought_in_the_middle_of_an_answer_does_not_cut_off_its_beginning() -> None:
    def said(text: str) -> dict[str, object]:
        return {"type": "model_output", "content": [{"type": "text", "text": text}]}

    searched: list[dict[str, object]] = [said("Let me look."), {"type": "google_search_call"}]
    assert answer_text([*searched, said("One, "), {"type": "thought"}, said("two."), {"type": "odd"}]) == "One, two."


async def test_thoughts_are_kept_apart_and_their_signature_is_dropped() -> None:
    async with gemini() as (peer, server):
        answer = await peer.answer("Why? [[fault:thoughts]]")
        assert (answer.content, answer.reasoning) == ("answer 1 to: Why?", "secret plan")
        before = (ChatMessage("user", "Why?"), ChatMessage("assistant", answer.content))
        await peer.answer("And?", *before)
        assert "c2lnbmVk" not in str((answer, server.requests[-1]))


async def test_usage_counts_pages_as_input_and_thoughts_as_output() -> None:
    async with gemini() as (peer, _):
        searched = await peer.answer("Why?", mode="search")
        cached = await peer.answer("Why? [[fault:cached]]")
    assert searched.usage == Usage(input_tokens=310, output_tokens=7, reasoning_tokens=2, searches=1)
    assert cached.usage == Usage(input_tokens=5000, cached_input_tokens=4096, output_tokens=7, reasoning_tokens=2)


async def test_the_effort_is_a_level_of_thinking_where_the_list_says_that_the_model_thinks() -> None:
    async with gemini() as (peer, server):
        await peer.answer("Why?", reasoning_effort="high")
        plain = await peer.answer("Why?", model="plain-1", reasoning_effort="high")
        unlisted = await peer.answer("Why?", model="new-1", reasoning_effort="low")
    level = {"thinking_summaries": "auto", "thinking_level": "high"}
    assert [body.get("generation_config") for body in server.requests] == [
        level,
        None,
        {**level, "thinking_level": "low"},
    ]
    assert plain.notices == ("reasoning_effort was not applied; Gemini has no such field.",)
    assert unlisted.notices == ()


async def test_a_level_that_the_model_refuses_is_left_out_once_and_said() -> None:
    async with gemini() as (peer, server):
        answer = await peer.answer("Why?", model="budget-1", reasoning_effort="low")
    assert (len(server.requests), len(server.paid)) == (2, 1)
    assert answer.notices == (
        "Gemini was asked again without thinking_level, which budget-1 refused; nothing was billed for the first try.",
    )


async def test_every_page_of_the_list_is_read_and_models_that_only_embed_are_left_out() -> None:
    async with gemini() as (peer, _):
        assert await peer.provider.list_models() == (
            ListedModel("small-1", 8192, thinks=True),
            ListedModel("plain-1", 8192, thinks=False),
            ListedModel("budget-1", thinks=True),
        )


async def test_tokens_are_counted_by_google_without_a_question() -> None:
    asked = request("Why?", ChatMessage("system", "Be short."), model="small-1", images=(ImagePart("image/png", b"x"),))
    async with gemini() as (peer, server):
        assert isinstance(peer.provider, TokenCounter)
        count = await peer.provider.count(asked)
        [counted] = server.counts
    assert (count > 0, server.requests) == (True, [])
    parts = [{"inlineData": {"mimeType": "image/png", "data": "eA=="}}, {"text": "Be short.\n\nWhy?"}]
    assert counted == {"model": "small-1", "contents": [{"role": "user", "parts": parts}]}


async def test_an_agent_is_for_research_only() -> None:
    async with gemini() as (peer, server):
        with pytest.raises(InvalidInputError, match="does deep research only"):
            await peer.answer("Why?", model=AGENT)
        assert server.requests == []


@pytest.mark.parametrize(
    ("address", "family"),
    [
        ("https://generativelanguage.googleapis.com/v1beta/openai", "chat_completions"),
        ("https://generativelanguage.googleapis.com/v1beta/openai/chat/completions", "chat_completions"),
        ("https://gateway.example/openai/", "chat_completions"),
        ("https://gateway.example", "interactions"),
        ("https://generativelanguage.googleapis.com/v1/interactions", "interactions"),
        (None, "interactions"),
    ],
)
def test_the_compatible_endpoint_stays_for_who_sets_its_address(address: str | None, family: str) -> None:
    found = resolved(load_definitions({"gemini": {"key_variables": []}})["gemini"], Given(base_url=address))
    assert found
    assert found.definition.family == family
    assert ("search" in found.definition.abilities) is (family == "interactions")
    assert found.definition.quirks.key_header == ("x-goog-api-key" if family == "interactions" else None)
