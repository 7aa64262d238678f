"""How long an answer may be: sent only where a server needs to be told."""

from typing import cast

import pytest
from tests.fixtures.chat_client import chatting
from tests.fixtures.contract import peer_of

from conversation_mcp.providers.definitions import Definition, load_definitions
from conversation_mcp.providers.model_facts import ASSUMED, Catalogue, ModelFacts, answer_limit

DEFINITIONS = load_definitions()
FITTING = {"ollama", "lmstudio", "llamacpp"}


@pytest.fixture(params=DEFINITIONS)
def definition(request: pytest.FixtureRequest) -> Definition:
    return DEFINITIONS[str(request.param)]


def limits(body: dict[str, object]) -> dict[str, object]:
    names = ("max_tokens", "max_completion_tokens", "max_output_tokens")
    places = (body, cast("dict[str, object]", body.get("generation_config") or {}))
    return {name: place[name] for place in places for name in names if name in place}


@pytest.mark.parametrize(
    ("facts", "limit"),
    [
        (ModelFacts("x"), None),
        (ModelFacts("x", output=500), 500),
        (ModelFacts("x", context=4_096), 3_096),
        (ModelFacts("x", context=4_096, output=500), 500),
        (ModelFacts("x", context=1_200, output=500), 200),
        (ModelFacts("x", context=900), 1),
        (ModelFacts("x", context=4_096, source=ASSUMED), None),
        (ModelFacts("x", context=4_096, output=500, source=ASSUMED), 500),
    ],
)
def test_an_answer_is_at_most_what_the_model_writes_and_the_window_has_left(
    facts: ModelFacts, limit: int | None
) -> None:
    assert answer_limit(facts, 1_000) == limit


def test_no_known_model_is_promised_more_than_its_window() -> None:
    catalogue = Catalogue({}).load()
    for name in DEFINITIONS:
        for facts in catalogue.models(name):
            for sent in (0, facts.input_limit or 0):
                assert sent + (answer_limit(facts, sent) or 0) <= (facts.context or 0), facts


async def test_only_servers_that_need_it_are_told_how_much_the_window_has_left(definition: Definition) -> None:
    async with peer_of(definition) as peer:
        await peer.answer("Why?", output_limit_tokens=777)
        await peer.answer("Why?")
        told, untold = map(limits, peer.server.requests)
    if definition.family == "messages":  # requires a limit; without another one it is the model's own
        assert (told, untold) == ({"max_tokens": 777}, {"max_tokens": 64_000})
        return
    assert told == ({"max_output_tokens": 777} if definition.name in FITTING else {})
    assert not untold


async def test_the_limit_of_the_user_is_sent_unless_the_window_has_less(definition: Definition) -> None:
    if definition.dialect is not None:
        return
    async with peer_of(definition, quirks={"output_limit_tokens": 600}) as peer:
        for room in (777, 500, None):
            await peer.answer("Why?", output_limit_tokens=room)
        sent = [tuple(limits(body).values()) for body in peer.server.requests]
    assert sent == [(600,), (500,), (600,)]


async def test_a_server_that_insists_gets_all_that_the_model_can_write() -> None:
    async with chatting() as chat:
        answer = await chat.answer("Why? [[fault:needs_limit]]", output_limit_tokens=700)
        await chat.answer("Why?")
    assert [body.get("max_tokens") for body in chat.server.requests] == [None, 700, 8192]
    assert answer.notices == (
        "Custom was asked again with max_tokens 700, because it insists on a limit; nothing was billed for the first try.",
    )


async def test_a_cut_at_the_limit_that_was_sent_shows_although_the_server_hides_it() -> None:
    async with peer_of(DEFINITIONS["llamacpp"]) as peer:
        answer = await peer.answer("Why? [[fault:cut]]", output_limit_tokens=7)
        assert answer.finish_reason == "length"
