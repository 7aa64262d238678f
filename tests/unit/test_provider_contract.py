"""What every provider keeps to: one that is a table of the definitions, or a line of the catalog, is tested by that."""

import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
from tests.fixtures.asked import answer_of, request
from tests.fixtures.contract import Peer, messages_of, peer_of

from conversation_mcp.errors import ProviderAuthError, ProviderUnavailableError, RunCancelledError
from conversation_mcp.providers.base import Finished, Started, StillRunning
from conversation_mcp.providers.catalog import LOCAL, ProviderContext, build_providers
from conversation_mcp.providers.client import LazyClient
from conversation_mcp.providers.definitions import Definition, load_definitions
from conversation_mcp.records.chat import ChatMessage
from conversation_mcp.records.modes import Mode
from conversation_mcp.settings import Settings

DEFINITIONS = load_definitions()
SURE = [name for name, known in DEFINITIONS.items() if known.kind in {"direct", "unified"} and known.base_url]
"""Those that are configured by their key."""

REFUSED = {
    "400": "PROVIDER_REJECTED 1",
    "401": "PROVIDER_AUTH 1",
    "402": "PROVIDER_QUOTA 1",
    "403": "PROVIDER_REJECTED 1",
    "404": "PROVIDER_REJECTED 1",
    "410": "PROVIDER_REJECTED 1",
    "413": "CONTEXT_TOO_LARGE 1",
    "429": "PROVIDER_RATE_LIMITED 3",
    "429_long": "PROVIDER_RATE_LIMITED 1",
    "500": "PROVIDER_UNAVAILABLE 1",
    "502_html": "PROVIDER_UNAVAILABLE 1",
}
NO_STREAM = {
    "html_200": "PROVIDER_UNAVAILABLE 1",
    "json_200": "stop 1",
    "error_200": "PROVIDER_QUOTA 1",
    "string_200": "PROVIDER_REJECTED 1",
    "dropped_before": "PROVIDER_UNAVAILABLE 1",
}
BROKEN = {
    "early_eof": "PROVIDER_UNAVAILABLE 1",
    "dropped": "PROVIDER_UNAVAILABLE 1",
    "malformed": "PROVIDER_UNAVAILABLE 1",
    "error_frame": "PROVIDER_UNAVAILABLE 1",
    "error_first": "PROVIDER_RATE_LIMITED 1",
}
WITHOUT_TEXT = dict.fromkeys(("empty", "refusal", "filtered", "tool_only", "cut_empty"), "ANSWER_INCOMPLETE 1")
WELL = {
    **dict.fromkeys(("no_done", "after_done", "no_usage", "comments", "crlf", "split_bytes"), "stop 1"),
    **dict.fromkeys(("unicode", "think", "dropped_after"), "stop 1"),
    **dict.fromkeys(("cut", "filtered_late"), "length 1"),
}
OUTCOMES = {**REFUSED, **NO_STREAM, **BROKEN, **WITHOUT_TEXT, **WELL}
NOT_THERE = {
    "perplexity": "410 error_200 string_200 error_frame error_first filtered tool_only cut_empty no_done after_done "
    "no_usage comments dropped_after cut filtered_late",
    "llamacpp": "filtered cut_empty cut filtered_late",
    "anthropic": "filtered_late",
}
"""Faults that the loopback server of a provider does not have, or that the provider does not tell."""


@pytest.fixture(params=DEFINITIONS)
def definition(request: pytest.FixtureRequest) -> Definition:
    return DEFINITIONS[str(request.param)]


def settings(folder: Path, **values: object) -> Settings:
    return Settings.model_validate({"logs_dir": folder / "conversation-logs", **values})


async def test_the_connection_of_an_answer_serves_the_next_question(definition: Definition) -> None:
    async with peer_of(definition) as peer:
        for _ in range(3):
            await peer.answer("Why?")
        assert peer.server.connections == 1


async def test_every_fault_has_its_outcome_and_costs_one_create_call_at_most(definition: Definition) -> None:
    known = {
        fault: outcome for fault, outcome in OUTCOMES.items() if fault not in NOT_THERE.get(definition.name, "").split()
    }
    async with peer_of(definition) as peer:
        assert {fault: await peer.outcome(fault) for fault in known} == known


async def test_a_connection_that_is_refused_is_tried_three_times_and_costs_nothing(definition: Definition) -> None:
    async with peer_of(definition, base_url="http://127.0.0.1:9/v1") as peer:
        with pytest.raises(ProviderUnavailableError, match="cannot be reached") as caught:
            await peer.events("Why?")
        assert (caught.value.maybe_billed, peer.time.sleeps) == (False, [1, 2])


async def test_every_ability_answers_within_the_strict_fields_of_the_provider(definition: Definition) -> None:
    async with peer_of(definition) as peer:
        for mode in sorted(definition.abilities):
            answer = await peer.answer(f"Why {mode}?", mode=mode)
            assert answer.content.startswith(f"answer 1 to: Why {mode}?")
            assert (answer.finish_reason, bool(answer.model), bool(answer.usage)) == ("stop", True, True)
            assert mode == "chat" or answer.sources, mode
        assert len(peer.server.paid) == len(definition.abilities)


async def test_everything_that_can_be_asked_for_is_sent_or_named_as_not_applied(definition: Definition) -> None:
    wanted = {
        "search_recency_filter": "week",
        "search_domain_filter": ["-example.org"],
        "search_mode": "academic",
        "return_related_questions": True,
        "reasoning_effort": "low",
    }
    async with peer_of(definition) as peer:
        mode = max(definition.abilities)
        answer = await peer.answer("Why?", mode=mode, **wanted)
        body, notices = str(peer.server.requests[-1]), " ".join(answer.notices)
        sent = {
            "search_recency_filter": "week" in body,
            "search_domain_filter": "example.org" in body,
            "search_mode": "Prefer" in body or "academic" in notices,
            "return_related_questions": "elated questions" in body,
            "reasoning_effort": "effort" in body or "thinking_level" in body,
        }
        assert [name for name in wanted if not sent[name] and name not in notices] == []
        assert [name for name in wanted if sent[name] and f"{name} was not applied" in notices] == []


async def test_a_follow_up_carries_every_message_role_by_role(definition: Definition) -> None:
    before = (ChatMessage("system", "Be short."), ChatMessage("user", "One?"), ChatMessage("assistant", "1"))
    async with peer_of(definition) as peer:
        await peer.answer("Two?", *before)
        first = [("system", "Be short."), ("user", "One?")]
        if definition.quirks.lists_system:  # this server lists no model that takes a system text
            first = [("user", "Be short.\n\nOne?")]
        assert messages_of(peer.server.requests[-1]) == [*first, ("assistant", "1"), ("user", "Two?")]


async def test_nothing_is_sent_that_nobody_asked_for(definition: Definition) -> None:
    # The Messages API requires a limit.
    required = {"max_tokens"} if definition.family == "messages" else set[str]()
    unasked = {"temperature", "top_p", "max_tokens", "max_completion_tokens", "max_output_tokens", "tools", "plugins"}
    async with peer_of(definition) as peer:
        await peer.answer("Why?")
        assert peer.server.requests[-1].keys() & unasked == required


async def test_a_limit_that_was_set_is_sent(definition: Definition) -> None:
    if definition.name == "perplexity":
        return  # its limits are its own: some models need one, all others are sent none
    async with peer_of(definition, quirks={"output_limit_tokens": 64}) as peer:
        await peer.answer("Why?")
        body = peer.server.requests[-1]
        assert 64 in {**body, **body.get("generation_config", {})}.values()


async def test_the_key_is_sent_where_there_is_one_and_nowhere_else(definition: Definition) -> None:
    async with peer_of(definition) as peer:
        await peer.answer("Why?")
        sent = {name.lower() for name in peer.server.headers[-1]}
        own = (definition.quirks.key_header or "authorization").lower()
        assert (own in sent) is definition.needs_key
        assert own == "authorization" or "authorization" not in sent


async def test_an_id_is_told_only_of_a_run_that_can_be_found_by_it(definition: Definition) -> None:
    async with peer_of(definition) as peer:
        events = await peer.events("Why?")
        for started in (event for event in events if isinstance(event, Started)):
            found = await peer.provider.fetch(started.response_id)
            assert isinstance(found, Finished)
            assert found.answer.content == answer_of(events).content
        if definition.quirks.store is not True:
            assert not any(isinstance(event, Started) for event in events)


@pytest.fixture(params=[name for name, known in DEFINITIONS.items() if "deep_research" in known.abilities])
def researching(request: pytest.FixtureRequest) -> Definition:
    return DEFINITIONS[str(request.param)]


async def test_a_research_is_a_run_in_the_background_that_anybody_finds_by_its_id(researching: Definition) -> None:
    async with peer_of(researching) as peer:
        events = await peer.events("Why?", mode="deep_research")
        [started] = [event for event in events if isinstance(event, Started)]
        assert (events[0], started.background) == (started, True)
        found = await peer.provider.fetch(started.response_id)
        assert isinstance(found, Finished)
        assert found.answer.content == answer_of(events).content
        assert [type(event) async for event in peer.provider.follow(started.response_id)][-1] is Finished
        assert len(peer.server.requests) == 1


async def test_a_research_is_stopped_with_one_call_and_then_is_over(researching: Definition) -> None:
    async with peer_of(researching) as peer:
        response_id = await started_research(peer)
        assert isinstance(await peer.provider.fetch(response_id), StillRunning)
        for _ in range(2):
            with pytest.raises(RunCancelledError):
                await peer.provider.cancel(response_id)
        assert len(peer.server.requests) == 1


async def started_research(peer: Peer) -> str:
    question = peer.provider.ask(request("Why? [[polls:9]]", mode="deep_research", model=peer.model))
    try:
        async for event in question:
            if isinstance(event, Started):
                return event.response_id
    finally:
        await question.aclose()
    raise AssertionError("the research never started")


async def test_the_models_are_counted_without_a_question(definition: Definition) -> None:
    async with peer_of(definition) as peer:
        listed = await peer.provider.list_models()
        assert await peer.provider.check() == f"{len(listed)} models"
        assert peer.server.requests == []


async def test_a_wrong_key_is_told_with_its_variable(definition: Definition) -> None:
    if definition.needs_key:
        async with peer_of(definition, key="sk-wrong-key") as peer:
            with pytest.raises(ProviderAuthError) as caught:
                await peer.events("Why?")
            assert f"Set {definition.key_variables[0]} to a key" in caught.value.sentence()
            assert "sk-wrong" not in caught.value.sentence()


async def test_no_provider_takes_a_name_that_can_be_nobodys(definition: Definition) -> None:
    async with peer_of(definition) as peer:
        names = ("", " ", "no/../where", "a\nb/c", "/", "x/", "two words", ":x", "x" * 2000)
        assert [name for name in names if peer.provider.serves(name)] == []


def test_only_what_is_configured_is_there_and_servers_of_this_machine_may_be(tmp_path: Path) -> None:
    def names(**values: object) -> list[str]:
        return [built.name for built in build_providers(ProviderContext(settings(tmp_path, **values), LazyClient()))]

    local = [name for name, known in DEFINITIONS.items() if known.kind == "local"]
    assert names() == local
    keys = {f"{name}_api_key": "sk-0123456789" for name in SURE}
    everything: dict[str, object] = {**keys, "documents": [tmp_path], "custom_base_url": "http://localhost:1/v1"}
    assert names(**everything) == [*SURE, *local, "custom", LOCAL]


def test_every_provider_can_do_something_and_nothing_unheard_of(tmp_path: Path) -> None:
    keys = {f"{name}_api_key": "sk-0123456789" for name in SURE}
    context = ProviderContext(settings(tmp_path, **keys, documents=[tmp_path]), LazyClient())
    for built in build_providers(context):
        assert built.abilities
        assert built.abilities <= set(get_args(Mode))


@pytest.mark.slow
def test_building_providers_loads_no_http_client() -> None:
    script = (
        "import sys\nfrom pathlib import Path\nfrom conversation_mcp.providers.catalog import *\n"
        "from conversation_mcp.providers.client import LazyClient\n"
        "list(build_providers(ProviderContext(Settings.model_validate({'logs_dir': Path(), 'openai_api_key': 'sk-1', "
        "'perplexity_api_key': 'pplx-1', 'mistral_api_key': 'x1'}), LazyClient())))\n"
        "sys.exit(', '.join(name for name in ('httpx', 'mcp') if name in sys.modules) or None)"
    )
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False).stderr == ""
