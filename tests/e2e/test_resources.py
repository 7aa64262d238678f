"""Conversations as resources: a template, completion of ids, and word of changes, in both eras."""

import re
import shutil
from pathlib import Path
from typing import Any

import anyio
import pytest
from inline_snapshot import snapshot
from mcp import Client, MCPError
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    EmptyResult,
    ResourceTemplateReference,
    ResourceUpdatedNotification,
    SubscribeRequest,
    SubscribeRequestParams,
    TextResourceContents,
    UnsubscribeRequest,
    UnsubscribeRequestParams,
)
from tests.fixtures.folders import ID, left_behind, only_file
from tests.fixtures.providers import FakeProvider, held
from tests.fixtures.serving import Era, data_of, over_http, server_on, serving
from tests.fixtures.stores import BAD_IDS, UNKNOWN, tree

from conversation_mcp.providers.base import Answer, Finished

TEMPLATE = "conversation://{conversationId}"
ERAS = pytest.mark.parametrize("era", ["auto", "legacy"])


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


async def read(client: Client, address: str) -> str:
    (content,) = (await client.read_resource(address)).contents
    assert isinstance(content, TextResourceContents)
    assert content.mime_type == "text/markdown"
    return content.text


async def subscribe(client: Client, address: str) -> None:
    await client.session.send_request(SubscribeRequest(params=SubscribeRequestParams(uri=address)), EmptyResult)


async def unsubscribe(client: Client, address: str) -> None:
    await client.session.send_request(UnsubscribeRequest(params=UnsubscribeRequestParams(uri=address)), EmptyResult)


async def started(client: Client, question: str = "one?") -> str:
    return data_of(await client.call_tool("search", {"query": question}))["conversationId"]


async def next_of(events: Any) -> Any:
    with anyio.fail_after(60):
        return await anext(aiter(events))


@ERAS
async def test_there_is_one_template_and_no_list_that_grows(tmp_path: Path, era: Era) -> None:
    async with serving(tmp_path, FakeProvider(), era=era) as client:
        await started(client)
        (template,) = (await client.list_resource_templates()).resource_templates
        assert (template.uri_template, template.mime_type) == (TEMPLATE, "text/markdown")
        assert (await client.list_resources()).resources == []


@ERAS
async def test_a_conversation_reads_as_a_document_with_its_sources_as_links(tmp_path: Path, era: Era) -> None:
    async with serving(tmp_path, FakeProvider(), era=era) as client:
        identifier = await started(client, "What is [this]?")
        await client.call_tool("deep_research_followup", {"conversationId": identifier, "query": "And *that*?"})
        text = await read(client, f"conversation://{identifier}")
    path = only_file(tmp_path)
    times = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC")
    told = times.sub("NOW", text).replace(identifier, ID).replace(str(path.parents[1]), "FOLDER")
    assert told == snapshot("""\
# What is [this]?

`20260131-1769817600000` · 2 answers · $0.50 · updated NOW

---

**Question** · #2 · search · NOW

What is [this]?

**Answer** · #3 · fake fast (test/one) · $0.25 · NOW

answer 1 to What is [this]? [1]

Sources:

- \\[1\\] [A page](<https://example.org/1>)

---

**Question** · #4 · deep_research_followup · NOW

And *that*?

**Answer** · #5 · fake high (test/one) · $0.25 · NOW

answer 2 to And *that*? [1]

Sources:

- \\[1\\] [A page](<https://example.org/2>)

---

File: FOLDER/20260131-1769817600000/conversation.json\
""")


async def test_a_long_conversation_is_cut_at_its_beginning_and_names_the_file(tmp_path: Path) -> None:
    async with serving(tmp_path, FakeProvider(), max_result_chars=1_000) as client:
        identifier = await started(client, "first " + "x" * 2_000)
        await client.call_tool("search_followup", {"conversationId": identifier, "query": "last?"})
        text = await read(client, f"conversation://{identifier}")
    assert "answer 2 to last?" in text
    assert "x" * 100 not in text
    assert "> Notice: only the end of this conversation is shown here, " in text
    assert f" characters; the whole of it is in {only_file(tmp_path)}" in text
    assert len(text) < 1_500


async def test_a_question_without_an_answer_is_shown_with_its_state(tmp_path: Path) -> None:
    path = left_behind(tmp_path, status="failed", error={"code": "PROVIDER_AUTH", "message": "no key."})
    async with serving(tmp_path, FakeProvider()) as client:
        text = await read(client, f"conversation://{ID}")
    assert "**Question without an answer: failed**" in text
    assert "\n\ntwo?\n\nPROVIDER_AUTH: no key." in text
    assert text.endswith(f"File: {path}")


async def test_reading_settles_what_a_dead_server_left_behind(tmp_path: Path) -> None:
    left_behind(tmp_path, responseId="resp_1")
    provider = FakeProvider()
    provider.runs["resp_1"] = Finished(Answer("Two."))
    async with serving(tmp_path, provider) as client:
        assert "\n\nTwo.\n\n" in await read(client, f"conversation://{ID}")
    assert provider.requests == []


@ERAS
@pytest.mark.parametrize("identifier", [UNKNOWN, *BAD_IDS])
async def test_an_unknown_or_bad_id_is_not_found_and_leaves_no_trace(tmp_path: Path, era: Era, identifier: str) -> None:
    address = f"conversation://{identifier}".encode("utf-8", "replace").decode()
    async with serving(tmp_path, FakeProvider(), era=era) as client:
        with pytest.raises(MCPError) as caught:
            await client.read_resource(address)
    assert (caught.value.code, caught.value.data) == (INVALID_PARAMS, {"uri": address})
    assert tree(tmp_path) == []


async def test_a_file_that_cannot_be_read_is_told_in_the_words_of_the_tools(tmp_path: Path) -> None:
    left_behind(tmp_path).write_text("{", encoding="utf-8")
    async with serving(tmp_path, FakeProvider()) as client:
        with pytest.raises(MCPError, match=r"CONVERSATION_CORRUPTED: .* The file was not changed") as caught:
            await client.read_resource(f"conversation://{ID}")
    assert caught.value.code == INTERNAL_ERROR


@ERAS
async def test_ids_are_completed_the_newest_first_and_a_hundred_at_most(tmp_path: Path, era: Era) -> None:
    ids = [f"20260131-{1769817600000 + number:013d}" for number in range(130)]
    for identifier in [*ids, "20991231-0000000000001", "no-conversation"]:
        folder = tmp_path / "conversation-logs" / identifier
        folder.mkdir(parents=True)
        (folder / "conversation.json").write_text("not read", encoding="utf-8")
    reference = ResourceTemplateReference(type="ref/resource", uri=TEMPLATE)
    async with serving(tmp_path, FakeProvider(), era=era) as client:
        every = (await client.complete(reference, {"name": "conversationId", "value": ""})).completion
        some = (
            await client.complete(reference, {"name": "conversationId", "value": "20260131-176981760011"})
        ).completion
        none = (await client.complete(reference, {"name": "other", "value": ""})).completion
    assert every.values == ids[:-101:-1]
    assert (every.total, every.has_more) == (131, True)
    assert some.values == ids[119:109:-1]
    assert (some.total, some.has_more) == (10, False)
    assert none.values == []


async def test_before_the_first_conversation_there_is_nothing_to_complete(tmp_path: Path) -> None:
    reference = ResourceTemplateReference(type="ref/resource", uri=TEMPLATE)
    async with serving(tmp_path, FakeProvider()) as client:
        completion = (await client.complete(reference, {"name": "conversationId", "value": ""})).completion
    assert (completion.values, tree(tmp_path)) == ([], [])


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
