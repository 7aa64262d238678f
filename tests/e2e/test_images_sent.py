"""Images that go with a question: kept once, shown again at their message only, and refused by who cannot see them."""

import sys
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import anyio
import pytest
from dirty_equals import IsPartialDict
from mcp import Client
from PIL import Image
from tests.fixtures.attached import lose
from tests.fixtures.homes import Home
from tests.fixtures.models import FakeModels
from tests.fixtures.serving import data_of, error_of, serving
from tests.fixtures.sight import png

from conversation_mcp.attaching.headers import header_of
from conversation_mcp.clock import utc_now
from conversation_mcp.errors import ProviderUnavailableError
from conversation_mcp.providers.base import Event, ListedModel, Request
from conversation_mcp.records.hashes import hash_of
from conversation_mcp.records.models import Conversation, ConversationId
from conversation_mcp.stores.catalog import open_store

SOL = "openai:gpt-6-sol"
BLIND, SEEING = ListedModel("blind", 100_000, images=False), ListedModel("seeing", 100_000, images=True)


@pytest.fixture
def image(tmp_path: Path) -> Path:
    path = tmp_path / "shots" / "red.png"
    path.parent.mkdir()
    path.write_bytes(png())
    return path


def opened(home: Home, image: Path, *providers: FakeModels, **changes: Any) -> AbstractAsyncContextManager[Client]:
    return serving(home, *providers, tools=("research", "models"), roots=(image.parent,), **changes)


async def chat(client: Client, prompt: str, **arguments: object) -> dict[str, Any]:
    return data_of(await client.call_tool("chat", {"prompt": prompt, "model": SOL, **arguments}))


def shown(request: Request) -> list[list[str]]:
    """Return the hashes of the images of each message."""
    return [[hash_of(image.data) for image in one.images] for one in request.messages]


async def test_an_image_is_shown_again_at_its_own_message_only_and_kept_once(home: Home, image: Path) -> None:
    copy = image.with_name("copy.png")
    copy.write_bytes(png())
    openai = FakeModels(name="openai")
    async with opened(home, image, openai) as client:
        first = await chat(client, "one?", images=[str(image)])
        same = {"conversationId": first["conversationId"]}
        again = await chat(client, "two?", images=[str(image), str(copy)], **same)
        await chat(client, "three?", **same)
    red = hash_of(png())
    assert shown(openai.requests[0]) == [[], [red]]
    assert shown(openai.requests[1]) == [[], [red], [], []]
    assert shown(openai.requests[2]) == [[], [red], [], [], [], []]
    assert first["images"] == [IsPartialDict(path=str(image), sha256=red, mediaType="image/png", sent="whole")]
    assert [one["sent"] for one in again["images"]] == ["known", "known"]
    store = open_store(home.store_url, utc_now, is_durable=False)
    assert await store.attachments.sizes(ConversationId(same["conversationId"])) == {red: len(png())}


async def test_an_image_that_is_too_wide_is_kept_as_it_is_and_shown_smaller_in_every_request(
    home: Home, image: Path
) -> None:
    wide = png(width=3000, height=20)
    image.write_bytes(wide)
    openai = FakeModels(name="openai")
    async with opened(home, image, openai) as client:
        result = await chat(client, "one?", images=[str(image)])
        image.unlink()
        await chat(client, "two?", conversationId=result["conversationId"])
    (record,) = home.only()["messages"][1]["images"]
    assert record == IsPartialDict(sha256=hash_of(wide), bytes=len(wide), width=2048, sent="whole")
    assert record["shown"] != record["sha256"]
    assert shown(openai.requests[0])[1] == shown(openai.requests[1])[1] == [record["shown"]]
    assert result["images"] == [record]
    store = open_store(home.store_url, utc_now, is_durable=False)
    kept = await store.attachments.sizes(ConversationId(result["conversationId"]))
    assert kept.keys() == {record["sha256"], record["shown"]}


async def test_images_are_made_smaller_once_for_each_limit_and_meanwhile_the_conversation_can_be_written(
    home: Home, image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def busy(_request: Request) -> AsyncGenerator[Event]:
        raise ProviderUnavailableError("busy")
        yield

    def open_image(*args: Any, **options: Any) -> Image.Image:
        anyio.from_thread.run(rename, f"while image {len(written)} is made smaller")
        return decode(*args, **options)

    async def rename(title: str) -> None:
        with anyio.fail_after(10):
            written.append(await other.update(ConversationId(opened_id), lambda stored, _: stored.changed(title=title)))

    written: list[Conversation] = []
    decode, other = Image.open, open_store(home.store_url, utc_now, is_durable=False)
    openai, anthropic = FakeModels(name="openai"), FakeModels(name="anthropic")
    fallbacks = ("openai:gpt-6-terra", "anthropic:claude-opus-5")
    async with opened(home, image, openai, anthropic, fallback_models=fallbacks) as client:
        opened_id = (await chat(client, "zero?"))["conversationId"]
        image.write_bytes(png(width=9000, height=20))
        openai.scripts += [busy, busy]
        monkeypatch.setattr(Image, "open", open_image)
        result = await chat(client, "one?", conversationId=opened_id, images=[str(image)])
    assert [len(one.requests) for one in (openai, anthropic)] == [3, 1]
    assert len(written) == 2
    assert home.only()["title"] == "while image 1 is made smaller"
    assert result["images"] == [IsPartialDict(sent="whole")]


@pytest.mark.parametrize("is_follow_up", [False, True], ids=["start", "follow-up"])
async def test_a_model_without_eyes_is_refused_by_name_with_those_that_see(
    home: Home, image: Path, *, is_follow_up: bool
) -> None:
    ollama = FakeModels(name="ollama", listed=[BLIND, SEEING])
    async with opened(home, image, ollama) as client:
        same: dict[str, str] = {}
        if is_follow_up:
            same = {"conversationId": (await chat(client, "zero?", model="ollama:blind"))["conversationId"]}
        stored, asked = [home.body(each) for each in home.ids()], len(ollama.requests)
        call = {"prompt": "one?", "model": "ollama:blind", "images": [str(image)], **same}
        error = error_of(await client.call_tool("chat", call))
        assert len(ollama.requests) == asked
        assert [home.body(each) for each in home.ids()] == stored
        seen = await chat(client, "one?", **{**same, "model": "ollama:seeing", "images": [str(image)]})
    assert "blind does not see images" in error["message"]
    assert "ollama:seeing" in error["message"]
    assert seen["images"] == [IsPartialDict(sent="whole")]


async def test_a_model_without_eyes_goes_on_after_an_image_and_says_what_it_did_not_see(
    home: Home, image: Path
) -> None:
    ollama = FakeModels(name="ollama", listed=[BLIND, SEEING])
    async with opened(home, image, ollama) as client:
        first = await chat(client, "one?", model="ollama:seeing", images=[str(image)])
        same = {"conversationId": first["conversationId"]}
        unseen = await chat(client, "two?", model="ollama:blind", **same)
        await chat(client, "three?", model="ollama:seeing", **same)
    red = hash_of(png())
    assert shown(ollama.requests[1]) == [[], [], [], []]
    assert any("does not see images: 1 image" in notice for notice in unseen["notices"])
    assert shown(ollama.requests[2])[1] == [red]


async def test_an_image_that_was_lost_is_missed_aloud_and_can_be_shown_again(home: Home, image: Path) -> None:
    openai = FakeModels(name="openai")
    async with opened(home, image, openai) as client:
        same = {"conversationId": (await chat(client, "one?", images=[str(image)]))["conversationId"]}
    lose(home, same["conversationId"], hash_of(png()))
    async with opened(home, image, openai) as client:
        missed = await chat(client, "two?", **same)
        await chat(client, "three?", images=[str(image)], **same)
        await chat(client, "four?", **same)
    assert any("content is no longer kept: 1 image" in notice for notice in missed["notices"])
    assert shown(openai.requests[1]) == [[], [], [], []]
    for request in openai.requests[2:]:
        assert [key for keys in shown(request) for key in keys] == [hash_of(png())]


async def test_of_more_images_than_a_provider_takes_the_newest_go_and_a_notice_counts_the_others(
    home: Home, image: Path
) -> None:
    other = image.with_name("other.png")
    other.write_bytes(png(width=9, height=9))
    openai = FakeModels(name="openai", images={"max_count": 1})
    async with opened(home, image, openai) as client:
        first = await chat(client, "one?", images=[str(image)])
        same = {"conversationId": first["conversationId"]}
        second = await chat(client, "two?", images=[str(other)], **same)
        both = await chat(client, "three?", images=[str(image), str(other)])
    assert [len(message.images) for message in openai.requests[1].messages] == [0, 0, 0, 1]
    assert "no room for more images" in openai.requests[1].messages[1].content
    assert any("no room for more images: 1 image of earlier messages" in notice for notice in second["notices"])
    assert [one["sent"] for one in both["images"]] == ["whole", "skipped"]


async def test_an_earlier_image_is_made_smaller_for_a_provider_that_takes_less_and_alike_each_time(
    home: Home, image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded: list[object] = []
    decode = Image.open

    def open_image(*args: Any, **options: Any) -> Image.Image:
        decoded.append(args)
        return decode(*args, **options)

    image.write_bytes(png(width=2040, height=20))
    openai, anthropic = FakeModels(name="openai"), FakeModels(name="anthropic")
    async with opened(home, image, openai, anthropic) as client:
        same = {"conversationId": (await chat(client, "one?", images=[str(image)]))["conversationId"]}
        monkeypatch.setattr(Image, "open", open_image)
        for prompt in ("two?", "three?"):
            await chat(client, prompt, model="anthropic:claude-opus-5", **same)
        again = await chat(client, "again?", model="anthropic:claude-opus-5", images=[str(image)], **same)
        await chat(client, "four?", **same)
    assert [one["sent"] for one in again["images"]] == ["known"]
    assert len(decoded) == 2  # once for each question that names it
    assert {sum(len(message.images) for message in request.messages) for request in anthropic.requests} == {1}
    smaller = [request.messages[1].images[0] for request in anthropic.requests]
    assert {header_of(one.data)[1] for one in smaller} == {2000}
    assert smaller[0] == smaller[1] == smaller[2]
    assert shown(openai.requests[-1])[1] == shown(openai.requests[0])[1] == [hash_of(image.read_bytes())]


async def test_an_earlier_image_that_cannot_be_made_smaller_is_left_out_aloud(
    home: Home, image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    image.write_bytes(png(width=2040, height=20))
    openai, anthropic = FakeModels(name="openai"), FakeModels(name="anthropic")
    async with opened(home, image, openai, anthropic) as client:
        same = {"conversationId": (await chat(client, "one?", images=[str(image)]))["conversationId"]}
        monkeypatch.setitem(sys.modules, "PIL", None)
        second = await chat(client, "two?", model="anthropic:claude-opus-5", **same)
    (request,) = anthropic.requests
    assert [len(message.images) for message in request.messages] == [0, 0, 0, 0]
    assert "larger than this provider takes" in request.messages[1].content
    assert any("larger than this provider takes: 1 image" in notice for notice in second["notices"])
