"""What leaves for the Agent API: the loopback agent refuses what the real one would, and keeps the bodies."""

from typing import Any

import pytest
from dirty_equals import IsPartialDict
from inline_snapshot import snapshot
from tests.fixtures.agent import KEY
from tests.fixtures.agent_client import asking
from tests.fixtures.asked import answer_of, request

from conversation_mcp import __version__
from conversation_mcp.records.chat import ChatMessage
from conversation_mcp.records.modes import Mode

BEFORE = (
    ChatMessage("system", "Be brief."),
    ChatMessage("user", "First?"),
    ChatMessage("assistant", "Danube[1]"),
)


async def body_of(question: str, *before: ChatMessage, **how: Any) -> dict[str, Any]:
    async with asking() as asked:
        events = [event async for event in asked.provider.ask(request(question, *before, **how))]
        assert answer_of(events)
        assert asked.agent.creates == 1
        return asked.agent.requests[0]


async def test_the_whole_conversation_leaves_as_separate_messages() -> None:
    assert await body_of("Second?", *BEFORE) == snapshot(
        {
            "preset": "fast",
            "input": [
                {"type": "message", "role": "system", "content": "Be brief."},
                {"type": "message", "role": "user", "content": "First?"},
                {"type": "message", "role": "assistant", "content": "Danube[1]"},
                {"type": "message", "role": "user", "content": "Second?"},
            ],
            "stream": True,
            "store": True,
        }
    )


async def test_a_research_is_a_stored_background_run() -> None:
    body = await body_of("Why?", mode="deep_research", preset="high", reasoning_effort="low")
    assert body == snapshot(
        {
            "preset": "high",
            "input": [{"type": "message", "role": "user", "content": "Why?"}],
            "reasoning": {"effort": "low"},
            "background": True,
            "store": True,
        }
    )


async def test_the_efforts_at_the_ends_have_names_of_their_own() -> None:
    assert (await body_of("Why?", reasoning_effort="minimal"))["reasoning"] == {"effort": "minimal"}
    assert (await body_of("Why?", reasoning_effort="max"))["reasoning"] == {"effort": "xhigh"}


async def test_filters_leave_in_the_form_that_the_api_takes() -> None:
    dated = await body_of(
        "Why?",
        search_domain_filter=["-example.org", "-example.com"],
        search_after_date_filter="2026-01-31",
        search_before_date_filter="11/01/2026",
    )
    assert dated["tools"] == snapshot(
        [
            {
                "type": "web_search",
                "filters": {
                    "search_domain_filter": ["-example.org", "-example.com"],
                    "search_after_date_filter": "01/31/2026",
                    "search_before_date_filter": "11/01/2026",
                },
            }
        ]
    )
    assert "tool_choice" not in dated
    recent = await body_of("Why?", search_recency_filter="month")
    assert recent["tools"] == [{"type": "web_search", "filters": {"search_recency_filter": "month"}}]


@pytest.mark.parametrize("mode", ["search", "deep_research"])
async def test_a_model_is_sent_without_a_preset_and_made_to_search(mode: Mode) -> None:
    body = await body_of("Why?", mode=mode, model="openai/gpt-6-luna")
    assert body == IsPartialDict(
        model="openai/gpt-6-luna", tools=[{"type": "web_search"}], tool_choice={"type": "web_search"}
    )
    assert not {"preset", "effort", "max_output_tokens"} & set(body)


async def test_a_chat_with_a_model_does_not_have_to_search() -> None:
    assert not {"tools", "tool_choice"} & set(await body_of("Why?", mode="chat", model="openai/gpt-6-luna"))


async def test_a_model_that_needs_an_output_limit_gets_one() -> None:
    assert (await body_of("Why?", model="anthropic/claude-opus-5"))["max_output_tokens"] >= 4096


async def test_that_limit_is_no_larger_than_the_room_for_an_answer() -> None:
    body = await body_of("Why?", model="anthropic/claude-opus-5", output_limit_tokens=4_096)
    assert body["max_output_tokens"] == 4_096
    assert "max_output_tokens" not in await body_of("Why?", model="openai/gpt-6-luna", output_limit_tokens=4_096)


@pytest.mark.parametrize("level", ["xhigh", "pro-search", "fast@2026-10-16.0"])
async def test_a_level_may_be_named_as_the_model(level: str) -> None:
    body = await body_of("Why?", model=level)
    assert (body["preset"], "model" in body, "tools" in body) == (level, False, False)


async def test_instructions_end_the_last_question_of_this_request_alone() -> None:
    body = await body_of("Second?", *BEFORE, search_mode="academic", return_related_questions=True)
    first, last = body["input"][1]["content"], body["input"][-1]["content"]
    assert first == "First?"
    assert last.startswith("Second?\n\nRest the answer on academic sources")
    assert 'line "Related questions:"' in last.rpartition("\n\n")[2]
    assert "instructions" not in body


async def test_the_academic_mode_is_reported_as_the_instruction_that_it_is() -> None:
    async with asking() as asked:
        assert (await asked.answer("Why?", search_mode="web")).notices == ()
        assert (await asked.answer("Why?", search_mode="academic")).notices == (
            "search_mode academic was applied as an instruction; the provider has no such filter.",
        )


async def test_related_questions_are_split_off_the_answer() -> None:
    async with asking() as asked:
        answer = await asked.answer("Why?", return_related_questions=True)
        assert answer.content == "answer 1 to: Why?[1]"
        assert answer.related_questions == ("What came before it?", "What comes after it?", "Who says so?")
        assert answer.notices == ()


async def test_a_model_that_gives_no_related_questions_is_reported() -> None:
    async with asking() as asked:
        answer = await asked.answer("Why? [[fault:ignore_related]]", return_related_questions=True)
        assert (answer.content, answer.related_questions) == ("answer 1 to: Why?[1]", ())
        assert answer.notices == ("Related questions were asked for; the provider gave none.",)


async def test_the_key_and_the_integration_stand_in_the_headers_alone() -> None:
    async with asking() as asked:
        await asked.answer("Why?")
        headers = asked.agent.headers[0]
        assert headers["Authorization"] == f"Bearer {KEY}"
        assert headers["X-Pplx-Integration"] == f"conversation-mcp/{__version__}"
        assert KEY not in str(asked.agent.requests)


async def test_a_half_surrogate_is_replaced_before_it_leaves() -> None:
    assert (await body_of("lone \ud83d half"))["input"][0]["content"] == "lone \ufffd half"


async def test_a_renamed_level_field_is_switched_once_and_remembered() -> None:
    async with asking() as asked:
        asked.agent.state.effort_only = True
        first = await asked.answer("One?")
        await asked.answer("Two?")
        assert (first.preset, first.notices) == ("fast", ())
        assert [sorted({"preset", "effort"} & set(body)) for body in asked.agent.requests] == [
            ["preset"],
            ["effort"],
            ["effort"],
        ]
        assert asked.agent.paid == ["One?", "Two?"]


@pytest.mark.parametrize(
    ("name", "is_served"),
    [
        ("fast", True),
        ("wide-research", True),
        ("advanced-deep-research", True),
        ("high@2026-10-16.0", True),
        ("perplexity/sonar", True),
        ("fast@", False),
        ("Fast", False),
        ("fast\n", False),
        ("sonar", False),
        ("local", False),
        ("local/notes", False),
        ("openai/gpt 6", False),
    ],
)
async def test_levels_and_models_of_any_maker_are_served(name: str, is_served: bool) -> None:
    async with asking() as asked:
        assert asked.provider.serves(name) is is_served


@pytest.mark.parametrize("ending", ["", "/", "/v1", "/v1/"])
async def test_the_base_url_is_taken_with_and_without_its_version(ending: str) -> None:
    async with asking() as asked, asking(base_url=asked.agent.base_url + ending) as other:
        assert (await other.answer("Why?")).content == "answer 1 to: Why?[1]"
