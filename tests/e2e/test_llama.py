"""The two families that it speaks against llama.cpp's own server, whose model of random weights writes noise for real."""

import json
from collections.abc import Iterator

import httpx
import pytest
from tests.fixtures.asked import answer_of
from tests.fixtures.engines import LLAMA_MODEL, llama
from tests.fixtures.families import Family, asking_at
from tests.fixtures.sight import png

from conversation_mcp.errors import ContextTooLargeError, ImagesRefusedError
from conversation_mcp.providers.base import ModelLister, TextDelta
from conversation_mcp.records.chat import ChatMessage, ImagePart
from conversation_mcp.records.models import Message

pytestmark = pytest.mark.parametrize("family", ["chat_completions", "responses"])
QUESTION = "Which river?"
SAME_EACH_TIME = {"temperature": 0, "seed": 1}


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with llama() as base_url:
        yield base_url


@pytest.fixture(scope="module")
def strict_server() -> Iterator[str]:
    with llama(alternating=True) as base_url:
        yield base_url


def posted(url: str, **body: object) -> httpx.Response:
    """Call the server without anything of ours."""
    return httpx.post(url, json={"model": LLAMA_MODEL, **body}, timeout=None)  # noqa: S113 -- the test has one


def unstreamed(base_url: str) -> str:
    asked = [{"role": "user", "content": QUESTION}]
    answer = posted(f"{base_url}/chat/completions", messages=asked, **SAME_EACH_TIME)
    return answer.json()["choices"][0]["message"]["content"]


async def test_its_stream_is_read_as_it_writes_without_one(server: str, family: Family) -> None:
    async with asking_at(server, family, model=LLAMA_MODEL, quirks={"body": SAME_EACH_TIME}) as llama_cpp:
        events = await llama_cpp.events(QUESTION)
    answer = answer_of(events)
    assert answer.content == unstreamed(server)
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == answer.content
    assert answer.model == LLAMA_MODEL
    assert answer.usage is not None
    assert (answer.usage.input_tokens or 0) > 10
    assert answer.usage.output_tokens == 32


async def test_its_noise_is_stored_and_sent_again_as_it_came(server: str, family: Family) -> None:
    async with asking_at(server, family, model=LLAMA_MODEL) as llama_cpp:
        noise = ""
        while "\ufffd" not in noise or noise.isprintable():
            noise += (await llama_cpp.answer(QUESTION)).content
        stored = Message.model_validate(json.loads(json.dumps(Message(role="assistant", content=noise).data())))
        before = (ChatMessage("user", QUESTION), ChatMessage("assistant", stored.content))
        await llama_cpp.answer("And then?", *before)
    sent = llama_cpp.sent[-1]
    messages = sent.get("messages") or sent["input"]
    assert [message["content"] for message in messages] == [QUESTION, noise, "And then?"]


async def test_a_conversation_that_is_too_long_is_refused_with_both_numbers(server: str, family: Family) -> None:
    async with asking_at(server, family, model=LLAMA_MODEL) as llama_cpp:
        with pytest.raises(ContextTooLargeError, match=r"\(4\d,\d{3} tokens; limit 2,048\)") as caught:
            await llama_cpp.answer("word " * 6000)
    assert "Nothing was billed" in caught.value.message
    assert len(llama_cpp.sent) == 1


async def test_a_template_that_refuses_two_questions_in_a_row_takes_what_is_made_of_them(
    strict_server: str, family: Family
) -> None:
    asked = [{"role": "user", "content": text} for text in ("One", "Two")]
    path, name = {"chat_completions": ("chat/completions", "messages"), "responses": ("responses", "input")}[family]
    assert posted(f"{strict_server}/{path}", **{name: asked}).status_code == 400
    before = ChatMessage("system", "Be short."), ChatMessage("user", "Zero"), ChatMessage("assistant", "0")
    async with asking_at(strict_server, family, model=LLAMA_MODEL) as llama_cpp:
        assert (await llama_cpp.answer("Two", *before, ChatMessage("user", "One"))).content


async def test_it_tells_the_window_of_its_model(server: str, family: Family) -> None:
    async with asking_at(server, family, model=LLAMA_MODEL) as llama_cpp:
        assert isinstance(llama_cpp.provider, ModelLister)
        models = await llama_cpp.provider.list_models()
    assert [(model.id, model.context_tokens, model.images) for model in models] == [(LLAMA_MODEL, 2048, False)]


async def test_an_image_for_its_model_without_eyes_is_refused_in_words_that_are_understood(
    server: str, family: Family
) -> None:
    async with asking_at(server, family, model=LLAMA_MODEL) as llama_cpp:
        with pytest.raises(ImagesRefusedError, match="image input is not supported"):
            await llama_cpp.answer(QUESTION, images=(ImagePart("image/png", png()),))
    assert len(llama_cpp.sent) == 1


async def test_an_answer_ends_where_the_window_has_no_more_room(server: str, family: Family) -> None:
    async with asking_at(server, family, model=LLAMA_MODEL, quirks={"fits_answer": True}) as llama_cpp:
        answer = await llama_cpp.answer(QUESTION, output_limit_tokens=7)
    assert answer.usage is not None
    assert (answer.usage.output_tokens, answer.finish_reason) == (7, "length")


async def test_the_same_beginning_is_read_from_its_cache_and_counted(server: str, family: Family) -> None:
    async with asking_at(server, family, model=LLAMA_MODEL) as llama_cpp:
        # It has two slots, and either may take the question.
        *_, answer = [await llama_cpp.answer(f"{QUESTION} {'word ' * 200}") for _ in range(3)]
    assert answer.usage is not None
    assert (answer.usage.cached_input_tokens or 0) > 0.9 * (answer.usage.input_tokens or 0)
