"""The Responses family: what is sent to whom, and what is read out of answers that differ."""

import httpx
import pytest
from tests.fixtures.asked import answer_of
from tests.fixtures.contract import Peer, messages_of, peer_of
from tests.fixtures.families import Family, asking_at

from conversation_mcp.errors import ContextTooLargeError, ConversationMCPError, InvalidInputError, ProviderRejectedError
from conversation_mcp.providers.base import Progress, TextDelta
from conversation_mcp.providers.definitions import Definition, load_definitions
from conversation_mcp.providers.responses.provider import ResponsesProvider
from conversation_mcp.records.chat import ChatMessage
from conversation_mcp.records.models import Source

DEFINITIONS = load_definitions()
FAMILY: Family = "responses"
DENIED = ["-example.org", "-example.com"]


def known(name: str) -> Definition:
    return DEFINITIONS[name]


async def error_of(peer: Peer, question: str, **how: object) -> ConversationMCPError:
    with pytest.raises(ConversationMCPError) as caught:
        await peer.events(question, **how)
    return caught.value


async def test_a_chat_is_sent_as_plainly_as_can_be() -> None:
    async with peer_of(known("openai")) as peer:
        await peer.answer("Why?")
        assert peer.server.requests == [
            {
                "model": "small-1",
                "input": [{"type": "message", "role": "user", "content": "Why?"}],
                "stream": True,
                "store": False,
            }
        ]


async def test_a_search_brings_the_tools_and_a_research_runs_in_the_background() -> None:
    async with peer_of(known("openai"), research_model="deep-1") as openai, peer_of(known("xai")) as xai:
        await openai.answer("Why?", mode="search")
        await openai.answer("Why?", mode="deep_research", model=None)
        await xai.answer("Why?", mode="search")
        searched, researched, asked = *openai.server.requests, *xai.server.requests
        assert (searched["tools"], searched["tool_choice"]) == ([{"type": "web_search"}], "required")
        assert (researched["background"], researched["store"], researched["tools"]) == (True, True, searched["tools"])
        assert researched["model"] == "deep-1"
        assert [tool["type"] for tool in asked["tools"]] == ["web_search", "x_search"]


@pytest.mark.parametrize(
    ("name", "domains", "filters"),
    [
        ("openai", ["example.org"], {"allowed_domains": ["example.org"]}),
        ("openai", DENIED, {"blocked_domains": ["example.org", "example.com"]}),
        ("xai", DENIED, {"excluded_domains": ["example.org", "example.com"]}),
        ("xai", [f"{letter}.org" for letter in "abcdef"], None),
    ],
)
async def test_domains_go_where_the_search_tool_takes_them(
    name: str, domains: list[str], filters: dict[str, list[str]] | None
) -> None:
    async with peer_of(known(name)) as peer:
        answer = await peer.answer("Why?", mode="search", search_domain_filter=domains)
        tools = peer.server.requests[-1]["tools"]
        assert tools[0].get("filters") == filters
        assert [tool["type"] for tool in tools if filters] == ["web_search"] * bool(filters)
        assert ("search_domain_filter was not applied" in " ".join(answer.notices)) is (filters is None)


async def test_the_effort_goes_where_the_provider_takes_it() -> None:
    async with peer_of(known("openai")) as usual, peer_of(known("vllm"), quirks={"effort_field": "none"}) as without:
        assert (await usual.answer("Why?", reasoning_effort="high")).notices == ()
        assert usual.server.requests[-1]["reasoning"] == {"effort": "high"}
        assert "reasoning_effort was not applied" in (await without.answer("Why?", reasoning_effort="high")).notices[0]


@pytest.mark.parametrize(
    ("role", "sent"),
    [
        ("developer", [("developer", "Be short."), ("user", "One?")]),
        ("user", [("user", "Be short.\n\nOne?")]),
    ],
)
async def test_the_system_message_takes_the_role_that_the_server_knows(role: str, sent: list[tuple[str, str]]) -> None:
    def reply(_request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json={"object": "response", "output": [{"type": "message", "content": "a"}]})

    bodies: list[bytes] = []

    def kept(asked: httpx.Request) -> httpx.Response:
        bodies.append(asked.content)
        return reply(asked)

    async with asking_at(
        "http://127.0.0.1:1/v1",
        FAMILY,
        model="m",
        transport=lambda: httpx.MockTransport(kept),
        quirks={"system_role": role},
    ) as asking:
        await asking.answer("One?", ChatMessage("system", "Be short."))
    assert messages_of(httpx.Response(200, content=bodies[0]).json()) == sent


async def test_a_question_without_any_model_is_refused_before_it_is_sent() -> None:
    async with peer_of(known("ollama")) as peer:
        error = await error_of(peer, "Why?", model=None)
        assert isinstance(error, InvalidInputError)
        assert "name one, as in ollama:MODEL" in error.message
        assert peer.server.requests == []


async def test_pages_are_cited_by_the_numbers_that_stand_in_the_text() -> None:
    async with peer_of(known("xai")) as peer:
        answer = await peer.answer("Why?", mode="search")
        assert answer.content == "answer 1 to: Why? [[1]](https://example.org/1)"
        assert answer.sources == (Source(id=1, url="https://example.org/1"),)


async def test_pages_that_were_read_are_sources_beside_those_that_are_cited() -> None:
    async with peer_of(known("openai")) as peer:
        events = await peer.events("Why?", mode="search")
        assert answer_of(events).sources == (
            Source(id=1, title="Page 1", url="https://example.org/1"),
            Source(id=2, url="https://example.org/2"),
        )
        assert [event.text for event in events if isinstance(event, Progress)] == [
            "searching",
            "searching: Why?",
            "writing the answer",
        ]


async def test_a_search_that_names_no_source_says_so() -> None:
    async with peer_of(known("ollama"), abilities=["search"], quirks={"search": {"tools": []}}) as peer:
        answer = await peer.answer("Why?", mode="search")
        assert answer.notices == ("Ollama named no sources; it may have answered without a search.",)


async def test_the_cost_is_read_where_it_is_told() -> None:
    async with peer_of(known("xai")) as xai, peer_of(known("openai")) as openai:
        told, untold = (await xai.answer("Why?")).usage, (await openai.answer("Why?")).usage
        assert told
        assert untold
        assert (told.cost_usd, untold.cost_usd) == (0.0042, None)
        assert (untold.input_tokens, untold.output_tokens, untold.reasoning_tokens) == (10, 5, 2)


@pytest.mark.parametrize("fault", ["reasoning", "think"])
async def test_reasoning_is_kept_apart_and_never_shown_meanwhile(fault: str) -> None:
    async with peer_of(known("openai")) as peer:
        events = await peer.events(f"Why? [[fault:{fault}]]")
        answer = answer_of(events)
        assert (answer.content, answer.reasoning) == ("answer 1 to: Why?", "secret plan")
        shown = "".join(event.text for event in events if isinstance(event, TextDelta))
        assert shown == "answer 1 to: Why?"


@pytest.mark.parametrize("name", ["openai", "llamacpp"])
async def test_text_is_put_together_whatever_the_events_carry(name: str) -> None:
    async with peer_of(known(name)) as peer:
        assert (await peer.answer("Why? [[fault:two_messages]]")).content == "first\n\nanswer 1 to: Why?"
        assert (await peer.answer("Why? [[fault:no_output]]")).content == "first\n\nanswer 1 to: Why?"
        assert (await peer.answer("Why? [[fault:no_status]]")).content == "answer 1 to: Why?"


async def test_a_cut_that_the_server_hides_shows_by_the_limit() -> None:
    async with peer_of(known("llamacpp"), quirks={"output_limit_tokens": 7}) as peer:
        answer = await peer.answer("Why? [[fault:cut]]")
        assert (answer.finish_reason, answer.notices) == (
            "length",
            ("the answer was cut at the provider's token limit. Ask it to continue.",),
        )


async def test_a_conversation_that_is_too_long_is_told_with_its_numbers() -> None:
    async with peer_of(known("llamacpp")) as peer:
        error = await error_of(peer, "Why? [[fault:overflow]]")
        assert isinstance(error, ContextTooLargeError)
        assert "(42,020 tokens; limit 2,048)" in error.message


@pytest.mark.parametrize(
    ("name", "fault", "message"),
    [
        ("openai", "refusal", "OpenAI refused to answer: I cannot help with that."),
        ("openai", "filtered", "OpenAI stopped before it wrote any text: content_filter."),
        ("openai", "tool_only", "OpenAI called a tool that it does not have."),
        ("openai", "empty", "OpenAI answered without any text."),
        ("openai", "failed", "OpenAI could not finish the answer: the model broke down."),
        ("openai", "error_event", "OpenAI could not finish the answer: the model broke down."),
        ("openai", "error_frame", "OpenAI could not finish the answer: the model broke down."),
        ("openai", "early_eof", "OpenAI broke off before the answer was complete."),
        ("xai", "400", "xAI refused the request: validation failed: something is wrong with it."),
        ("xai", "410", "xAI no longer has what was asked for (HTTP 410): this feature was removed."),
        ("lmstudio", "string_200", "LM Studio has nothing at this address (HTTP 404): Unexpected endpoint or method."),
        ("vllm", "500", "vLLM failed with HTTP 500: internal error."),
    ],
)
async def test_what_went_wrong_is_one_sentence_that_tells_it_apart(name: str, fault: str, message: str) -> None:
    async with peer_of(known(name)) as peer:
        assert (await error_of(peer, f"Why? [[fault:{fault}]]")).message.startswith(message)


async def test_a_model_that_is_not_served_is_named_with_what_to_check() -> None:
    async with peer_of(known("vllm")) as peer:
        error = await error_of(peer, "Why?", model="large-1")
        assert "The model `large-1` does not exist" in error.message
        assert error.next_step() == "Check VLLM_BASE_URL and the model."


async def test_windows_are_read_from_the_list_of_models() -> None:
    async with peer_of(known("vllm")) as peer:
        listed = {model.id: model.context_tokens for model in await peer.provider.list_models()}
        assert listed == {"small-1": 8192, "large-1": 4096, "other-1": None}


async def test_whatever_else_listens_at_the_usual_port_is_not_taken_for_the_server() -> None:
    def reply(_request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json={"hello": "world"})

    async with asking_at(
        "http://127.0.0.1:1/v1", FAMILY, model="m", transport=lambda: httpx.MockTransport(reply)
    ) as asking:
        assert isinstance(asking.provider, ResponsesProvider)
        with pytest.raises(ProviderRejectedError, match="has nothing at this address"):
            await asking.provider.check()
