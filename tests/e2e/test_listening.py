"""Who listens to a conversation hears of its changes, whoever makes them."""

import shutil
from pathlib import Path
from typing import Any

import anyio
from mcp import Client
from mcp.types import (
    EmptyResult,
    ResourceUpdatedNotification,
    SubscribeRequest,
    SubscribeRequestParams,
    UnsubscribeRequest,
    UnsubscribeRequestParams,
)
from tests.fixtures.folders import only_file
from tests.fixtures.providers import FakeProvider, held
from tests.fixtures.reading import read, started
from tests.fixtures.serving import data_of, over_http, server_on, serving


class Heard:
    """Takes what a client of the old era is told, and waits for it."""

    def __init__(self) -> None:
        self.uris: list[str] = []
        self._bell = anyio.Event()

    async def __call__(self, message: Any) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            self.uris.append(message.params.uri)
            self._bell.set()
            self._bell = anyio.Event()

    async def until(self, uri: str) -> None:
        with anyio.fail_after(60):
            while uri not in self.uris:
                await self._bell.wait()


async def subscribe(client: Client, address: str) -> None:
    await client.session.send_request(SubscribeRequest(params=SubscribeRequestParams(uri=address)), EmptyResult)


async def unsubscribe(client: Client, address: str) -> None:
    await client.session.send_request(UnsubscribeRequest(params=UnsubscribeRequestParams(uri=address)), EmptyResult)


async def next_of(events: Any) -> Any:
    with anyio.fail_after(60):
        return await anext(aiter(events))


async def test_a_listener_hears_of_the_conversations_it_named(tmp_path: Path) -> None:
    async with serving(tmp_path, FakeProvider()) as client:
        one, other = await started(client, "one?"), await started(client, "other?")
        async with client.listen(resource_subscriptions=[f"conversation://{one}"]) as events:
            await client.call_tool("search_followup", {"conversationId": other, "query": "two?"})
            await client.call_tool("search_followup", {"conversationId": one, "query": "two?"})
            event = await next_of(events)
    assert getattr(event, "uri", None) == f"conversation://{one}"


async def test_a_listener_hears_of_an_answer_that_came_after_its_request(tmp_path: Path) -> None:
    release = anyio.Event()
    async with serving(tmp_path, FakeProvider(held(release)), answer_wait_seconds=0) as client:
        address = f"conversation://{await started(client)}"
        async with client.listen(resource_subscriptions=[address]) as events:
            release.set()
            await next_of(events)
        assert "answer 1 to one?" in await read(client, address)


async def test_a_subscriber_of_the_old_era_hears_of_an_answer_that_came_after_its_request(tmp_path: Path) -> None:
    release, heard = anyio.Event(), Heard()
    options = {"message_handler": heard}
    async with serving(
        tmp_path, FakeProvider(held(release)), era="legacy", client_options=options, answer_wait_seconds=0
    ) as client:
        address = f"conversation://{await started(client)}"
        await subscribe(client, address)
        release.set()
        await heard.until(address)
        assert "answer 1 to one?" in await read(client, address)


async def test_a_subscriber_hears_nothing_more_after_it_has_unsubscribed(tmp_path: Path) -> None:
    heard = Heard()
    async with serving(tmp_path, FakeProvider(), era="legacy", client_options={"message_handler": heard}) as client:
        assert client.server_capabilities.resources
        assert client.server_capabilities.resources.subscribe
        one, other = await started(client, "one?"), await started(client, "other?")
        for identifier in (one, other):
            await subscribe(client, f"conversation://{identifier}")
        await unsubscribe(client, f"conversation://{one}")
        for identifier in (one, other):
            await client.call_tool("search_followup", {"conversationId": identifier, "query": "two?"})
        await heard.until(f"conversation://{other}")
    assert heard.uris == [f"conversation://{other}"]


async def test_only_the_session_that_subscribed_is_told(tmp_path: Path) -> None:
    one, two = Heard(), Heard()
    async with (
        over_http(server_on(tmp_path, FakeProvider())) as url,
        Client(url, mode="legacy", message_handler=one) as asking,
        Client(url, mode="legacy", message_handler=two) as listening,
    ):
        identifier = await started(asking)
        await subscribe(listening, f"conversation://{identifier}")
        await asking.call_tool("search_followup", {"conversationId": identifier, "query": "two?"})
        await two.until(f"conversation://{identifier}")
    assert (one.uris, two.uris) == ([], [f"conversation://{identifier}"])


async def test_a_question_that_was_refused_changes_nothing_and_is_not_told(tmp_path: Path) -> None:
    heard, provider = Heard(), FakeProvider()
    options = {"message_handler": heard}
    async with serving(tmp_path, provider, era="legacy", client_options=options, max_conversation_turns=2) as client:
        full, other = await started(client, "one?"), await started(client, "other?")
        await client.call_tool("search_followup", {"conversationId": full, "query": "two?"})
        for identifier in (full, other):
            await subscribe(client, f"conversation://{identifier}")
        refused = await client.call_tool("search_followup", {"conversationId": full, "query": "three?"})
        await client.call_tool("search_followup", {"conversationId": other, "query": "two?"})
        await heard.until(f"conversation://{other}")
    assert refused.is_error
    assert heard.uris == [f"conversation://{other}"]


async def test_a_listener_hears_of_what_another_server_has_written(tmp_path: Path) -> None:
    async with serving(tmp_path, FakeProvider()) as listening, serving(tmp_path, FakeProvider()) as writing:
        identifier = await started(listening)
        async with listening.listen(resource_subscriptions=[f"conversation://{identifier}"]) as events:
            await writing.call_tool("search_followup", {"conversationId": identifier, "query": "two?"})
            await next_of(events)
        assert "two?" in await read(listening, f"conversation://{identifier}")


async def test_a_subscriber_of_the_old_era_hears_of_an_edit_by_hand(tmp_path: Path) -> None:
    heard = Heard()
    async with serving(tmp_path, FakeProvider(), era="legacy", client_options={"message_handler": heard}) as client:
        address = f"conversation://{await started(client)}"
        await subscribe(client, address)
        path = only_file(tmp_path)
        path.write_text(path.read_text(encoding="utf-8").replace("one?", "another?"), encoding="utf-8")
        await heard.until(address)
        assert "another?" in await read(client, address)


async def test_a_listener_hears_that_conversations_have_come_and_gone_whoever_did_it(tmp_path: Path) -> None:
    async with serving(tmp_path, FakeProvider()) as listening, serving(tmp_path, FakeProvider()) as writing:
        await started(listening)
        async with listening.listen(resources_list_changed=True) as events:
            await started(writing)
            await next_of(events)
            shutil.rmtree(max((tmp_path / "conversation-logs").glob("2*")))
            await next_of(events)
            assert len(data_of(await listening.call_tool("list_conversations", {}))["conversations"]) == 1


async def test_an_address_that_is_no_conversation_is_listened_to_in_vain_and_does_no_harm(tmp_path: Path) -> None:
    async with serving(tmp_path, FakeProvider()) as client:
        identifier = await started(client)
        addresses = ["conversation://../../etc", "file:///etc/passwd", f"conversation://{identifier}"]
        async with client.listen(resource_subscriptions=addresses) as events:
            await client.call_tool("search_followup", {"conversationId": identifier, "query": "two?"})
            assert getattr(await next_of(events), "uri", None) == f"conversation://{identifier}"
