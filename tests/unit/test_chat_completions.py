"""What goes out to servers of the chat completions family, and how what comes back is told."""

import pytest
from inline_snapshot import snapshot
from tests.fixtures.asked import answer_of
from tests.fixtures.chat_client import chatting
from tests.fixtures.chat_rules import KEY, RULES

from conversation_mcp.errors import InvalidInputError, RunLostError
from conversation_mcp.providers.base import Answer, Progress, Started, TextDelta
from conversation_mcp.records.chat import ChatMessage
from conversation_mcp.records.models import Source
from conversation_mcp.records.usage import Usage

BEFORE = (
    ChatMessage("system", "Be short."),
    ChatMessage("user", "Which river?"),
    ChatMessage("assistant", "The Elbe."),
)


async def test_a_question_goes_out_with_all_that_was_said_and_nothing_that_was_not_asked_for() -> None:
    async with chatting() as chat:
        answer = await chat.answer("How long is it?", *BEFORE)
    assert chat.server.requests == snapshot(
        [
            {
                "model": "small-1",
                "messages": [
                    {"role": "system", "content": "Be short."},
                    {"role": "user", "content": "Which river?"},
                    {"role": "assistant", "content": "The Elbe."},
                    {"role": "user", "content": "How long is it?"},
                ],
                "stream": True,
                "stream_options": {"include_usage": True},
            }
        ]
    )
    assert answer == snapshot(
        Answer(
            content="answer 2 to: How long is it?",
            usage=Usage(input_tokens=20, output_tokens=5, reasoning_tokens=2),
            model="small-1-0601",
            response_id="chatcmpl-1",
        )
    )


async def test_it_is_told_as_it_comes_and_nobody_is_promised_that_it_can_be_looked_up() -> None:
    async with chatting() as chat:
        events = await chat.events("Why? [[fault:reasoning]]")
        with pytest.raises(RunLostError):
            await chat.provider.fetch("chatcmpl-1")
    assert not any(isinstance(event, Started) for event in events)
    assert [event.text for event in events if isinstance(event, Progress)] == ["thinking", "writing the answer"]
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == answer_of(events).content


@pytest.mark.parametrize("name", RULES)
async def test_every_server_of_the_family_gets_only_what_it_takes(name: str) -> None:
    async with chatting(name) as chat:
        answer = await chat.answer("How long is it?", *BEFORE, reasoning_effort="high")
    assert answer.content == "answer 2 to: How long is it?"
    assert (answer.finish_reason, answer.model, answer.response_id) == ("stop", "small-1-0601", "chatcmpl-1")
    assert (len(chat.server.requests), answer.notices) == (1, ())


@pytest.mark.parametrize(
    "fault",
    [
        "no_done",
        "done_only",
        "dropped_after",
        "after_done",
        "comments",
        "crlf",
        "json_200",
        "no_usage",
        "parts",
        "sonar",
    ],
)
async def test_odd_but_whole_answers_are_read(fault: str) -> None:
    async with chatting() as chat:
        answer = await chat.answer(f"Why? [[fault:{fault}]]")
    assert (answer.content, answer.finish_reason, answer.notices) == ("answer 1 to: Why?", "stop", ())


@pytest.mark.parametrize("fault", ["think", "reasoning", "reasoning_content", "reasoning_details", "parts"])
async def test_reasoning_is_kept_apart_wherever_it_stands(fault: str) -> None:
    async with chatting() as chat:
        events = await chat.events(f"Why? [[fault:{fault}]]")
    answer = answer_of(events)
    assert (answer.content, answer.reasoning) == ("answer 1 to: Why?", "secret plan")
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == answer.content


async def test_every_script_survives_and_characters_may_be_cut_by_chunks() -> None:
    async with chatting() as chat:
        assert (await chat.answer("Why? [[fault:split_bytes]]")).content == "größer 漢字 🙂 1"
        assert (
            await chat.answer("Why? [[fault:unicode]]")
        ).content == "emoji 🙂 漢字 עברית nul \x00 lone \ufffd end[1]"


@pytest.mark.parametrize("fault", ["sonar", "annotations"])
async def test_sources_are_found_wherever_they_stand(fault: str) -> None:
    async with chatting() as chat:
        answer = await chat.answer(f"Why? [[fault:{fault}]]")
    assert answer.sources == (
        Source(id=1, title="Page 1", url="https://example.org/1"),
        Source(id=2, title="Page 2", url="https://example.org/2"),
    )


async def test_a_cost_that_the_server_gives_is_kept_in_either_form() -> None:
    async with chatting("openrouter") as chat:
        number = await chat.answer("Why?")
        parts = await chat.answer("Why? [[fault:sonar]]")
    assert number.usage == parts.usage == Usage(input_tokens=10, output_tokens=5, reasoning_tokens=2, cost_usd=0.0042)


async def test_openrouter_searches_with_its_plugin_and_only_when_it_is_a_search() -> None:
    async with chatting("openrouter") as chat:
        found = await chat.answer("Why?", mode="search", reasoning_effort="low", search_recency_filter="week")
        talked = await chat.answer("Why?")
    first, second = chat.server.requests
    assert (first["plugins"], first["reasoning"]) == ([{"id": "web"}], {"effort": "low"})
    assert "plugins" not in second
    assert ([source.id for source in found.sources], talked.sources) == ([1, 2], ())
    assert found.notices == ("search_recency_filter was not applied; OpenRouter has no such field.",)


@pytest.mark.parametrize(
    ("fault", "notices"),
    [
        ("cut", ("the answer was cut at the provider's token limit. Ask it to continue.",)),
        ("filtered_late", ("the answer was cut by the provider (content_filter). Ask it to continue.",)),
    ],
)
async def test_a_cut_answer_is_kept_and_says_so(fault: str, notices: tuple[str, ...]) -> None:
    async with chatting() as chat:
        answer = await chat.answer(f"Why? [[fault:{fault}]]")
    assert (answer.content, answer.finish_reason, answer.notices) == ("answer 1 to: Why?", "length", notices)


async def test_a_wish_to_call_a_tool_beside_an_answer_is_told() -> None:
    async with chatting() as chat:
        answer = await chat.answer("Why? [[fault:tool_too]]")
    assert answer.content == "answer 1 to: Why?"
    assert answer.notices == ("The model also wanted to call a tool; that was not done.",)


async def test_a_key_is_sent_where_there_is_one_and_no_header_where_there_is_none() -> None:
    async with chatting() as chat, chatting(key=None) as keyless:
        await chat.answer("Why?")
        await keyless.answer("Why?")
    assert chat.server.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert "Authorization" not in keyless.server.headers[0]


async def test_a_model_is_not_needed_where_the_user_set_one() -> None:
    async with chatting(default_model="large-1") as chat:
        await chat.answer("Why?", model=None)
    assert chat.server.requests[0]["model"] == "large-1"


async def test_without_any_model_nothing_is_sent() -> None:
    async with chatting() as chat:
        with pytest.raises(InvalidInputError, match="name one, as in custom:MODEL"):
            await chat.answer("Why?", model=None)
    assert chat.server.requests == []


@pytest.mark.parametrize("pasted", ["", "/", "/chat/completions", "/models/"])
async def test_what_people_paste_behind_a_base_url_is_taken_off(pasted: str) -> None:
    async with chatting() as chat, chatting(base_url=f"{chat.server.base_url}{pasted}") as other:
        assert (await other.answer("Why?")).content == "answer 1 to: Why?"
        assert len(chat.server.requests) == 1


async def test_a_system_message_goes_where_the_server_takes_it() -> None:
    async with chatting(quirks={"system_role": "user"}) as chat:
        await chat.answer("Why?", ChatMessage("system", "Be short."))
    assert chat.server.requests[0]["messages"] == [{"role": "user", "content": "Be short.\n\nWhy?"}]


async def test_the_server_lists_its_models_with_their_windows() -> None:
    async with chatting() as chat:
        models = await chat.provider.list_models()
        assert await chat.provider.check() == "2 models"
    assert [(model.id, model.context_tokens) for model in models] == [("small-1", 8192), ("large-1", None)]
