"""Defects of a known server of workflows, each as a test of what happens here; the numbers are those of a list of them."""

from typing import Any

from mcp import Client
from tests.fixtures.consulting import TOOLS, consult, refused, saying, step
from tests.fixtures.homes import Home
from tests.fixtures.models import FakeModels
from tests.fixtures.serving import data_of, error_of, serving, text_of

SEATS = [{"model": "openai:gpt-6-sol", "stance": "for"}, {"model": "gemini:pro", "stance": "against"}]


async def consensus(client: Client, **more: Any) -> Any:
    return await client.call_tool("consensus", {"prompt": "Shall we?", "models": SEATS, **more})


async def test_defect_10_verdicts_are_seen_by_the_next_chat_and_by_the_validation_of_a_workflow(home: Home) -> None:
    openai, gemini = FakeModels(saying("Yes."), name="openai"), FakeModels(saying("No."), name="gemini")
    async with serving(home, openai, gemini, tools=TOOLS) as client:
        first = data_of(await consensus(client))
        same = {"conversationId": first["conversationId"]}
        history = text_of(await client.call_tool("get_conversation_history", same))
        assert "· for ·" in history
        assert "· against ·" in history
        await client.call_tool("chat", {"prompt": "So?", "model": "openai:gpt-6-sol", **same})
        await consult(client, step(1, 2, **same))
        await consult(client, step(2, 2, model="openai:gpt-6-sol", **same))
    for request in openai.requests[1:]:
        sent = "\n".join(message.content for message in request.messages)
        assert "Yes." in sent
        assert "No." in sent


async def test_defect_10_the_models_of_a_consensus_see_the_chat_and_the_review_before_it(home: Home) -> None:
    openai, gemini = FakeModels(saying("It is blue."), saying("A fine plan."), name="openai"), FakeModels(name="gemini")
    async with serving(home, openai, gemini, tools=TOOLS) as client:
        first = data_of(await client.call_tool("chat", {"prompt": "What is it?", "model": "openai:gpt-6-sol"}))
        same = {"conversationId": first["conversationId"]}
        await consult(client, step(1, 2, **same))
        await consult(client, step(2, 2, model="openai:gpt-6-sol", **same))
        data_of(await consensus(client, **same))
    for request in (openai.requests[-1], gemini.requests[-1]):
        sent = "\n".join(message.content for message in request.messages)
        assert "It is blue." in sent
        assert "A fine plan." in sent


async def test_defect_20_what_is_unknown_is_an_error_that_says_what_to_send(home: Home) -> None:
    models = FakeModels(name="openai")
    async with serving(home, models, tools=TOOLS) as client:
        assert "consultt" in error_of(await client.call_tool("consultt", {}))["message"]
        assert "workflow" in await refused(client, step(1, workflow="debugg"))
        assert "did you mean debug" in await refused(client, step(1, workflow="debugg"))
        assert "foo" in await refused(client, step(1, foo=1))
        assert "stepNumber must be 1" in await refused(client, step(9, 3))
        assert "confidence must be exploring, low" in await refused(client, step(1, confidence="BOGUS"))
        assert "Did you mean certain?" in await refused(client, step(1, confidence="certian"))
        first = await consult(client, step(1))
        same = {"conversationId": first["conversationId"]}
        for number in (1, 3, 9):
            assert "stepNumber must be 2" in await refused(client, step(number, 9, findings="New.", **same))
        assert "no new evidence" in await refused(client, step(2, findings="Finding 1.", **same))
        assert "foo" in error_of(await consensus(client, foo=1))["message"]
        assert 'a list such as [{"model"' in error_of(await consensus(client, models=[{"name": "a"}]))["message"]
    assert models.requests == []
    assert len(home.only()["workflowSteps"]) == 1


async def test_defect_of_consensus_an_unknown_model_is_found_before_anybody_is_asked(home: Home) -> None:
    openai, gemini = FakeModels(name="openai"), FakeModels(name="gemini")
    async with serving(home, openai, gemini, tools=TOOLS) as client:
        error = error_of(await consensus(client, models=[*SEATS, {"model": "nobody:x"}]))
    assert "nobody:x" in error["message"]
    assert (openai.requests, gemini.requests, home.ids()) == ([], [], [])


async def test_defect_of_consensus_one_call_asks_all_and_repeats_no_answer(home: Home) -> None:
    openai, gemini = FakeModels(saying("Yes."), name="openai"), FakeModels(saying("No."), name="gemini")
    async with serving(home, openai, gemini, tools=TOOLS) as client:
        first = data_of(await consensus(client))
        again = data_of(await consensus(client, prompt="And now?", conversationId=first["conversationId"]))
    assert [one["text"] for one in first["verdicts"]] == ["Yes.", "No."]
    assert "Yes." not in [one["text"] for one in again["verdicts"]]
    assert (len(openai.requests), len(gemini.requests)) == (2, 2)
    assert [one.get("stance") for one in home.only()["messages"]] == [None, *[None, "for", "against"] * 2]
