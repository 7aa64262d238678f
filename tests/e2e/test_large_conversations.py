"""Large conversations, and pages that are turned while the conversation grows."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fixtures.agent import KEY, LoopbackAgent
from tests.fixtures.folders import ID, LONG_AGO
from tests.fixtures.handwritten import written
from tests.fixtures.processes import RawServer
from tests.fixtures.providers import FakeProvider
from tests.fixtures.serving import data_of, error_of, serving, text_of
from tests.fixtures.stores import UNKNOWN

from conversation_mcp.conversations.history import history_page
from conversation_mcp.records.models import Conversation, Message

MEGABYTE = 1 << 20
FILE_MEGABYTES = 20
GROWTH_TIMES = 24
HISTORY = "get_conversation_history"
roles = st.sampled_from(["system", "user", "assistant", "tool"])
stored_messages = st.lists(st.builds(Message, role=roles, content=st.text("ab \n", max_size=30)), max_size=20)


def read_pages(conversation: Conversation, limits: Iterator[int], *, system: bool, max_chars: int) -> list[int]:
    """Return the numbers of all messages, page after page."""
    numbers: list[int] = []
    offset, more = 0, True
    while more:
        page = history_page(
            conversation, "", limit=next(limits), offset=offset, with_system_prompt=system, max_chars=max_chars
        )
        numbers += [message.number for message in page.messages]
        offset, more = page.offset + len(page.messages), page.has_more
        assert not more or page.messages, "a page that leads nowhere"
    return numbers


@given(stored_messages, st.data(), st.booleans(), st.integers(1, 60))
def test_pages_of_any_sizes_cover_every_message_once(
    said: list[Message], data: st.DataObject, system: bool, max_chars: int
) -> None:
    """Pages that are limited first and filtered then, or whose first page has another size: messages are missed."""
    conversation = Conversation(
        conversation_id=UNKNOWN, created_at=LONG_AGO, updated_at=LONG_AGO, message_count=0, messages=tuple(said)
    )
    limits = iter(lambda: data.draw(st.integers(1, 5)), 0)
    shown = [number for number, message in enumerate(said, 1) if system or message.role != "system"]
    assert read_pages(conversation, limits, system=system, max_chars=max_chars) == shown


async def test_pages_that_are_read_while_turns_arrive_miss_nothing_and_come_to_an_end(tmp_path: Path) -> None:
    """Offsets that count from the newest: each new turn shifts the pages, or the same page comes for ever."""
    async with serving(tmp_path, FakeProvider()) as client:
        first = data_of(await client.call_tool("search", {"query": "question 0"}))
        conversation = {"conversationId": first["conversationId"]}
        numbers: list[int] = []
        texts: list[str] = []
        more = True
        while more:
            arguments = {**conversation, "limit": 3, "offset": len(numbers)}
            page = data_of(await client.call_tool(HISTORY, arguments))
            numbers += [message["number"] for message in page["messages"]]
            texts += [message["content"] for message in page["messages"] if message["role"] == "user"]
            more = page["hasMore"]
            if len(texts) <= 4:
                query = {**conversation, "query": f"question {len(numbers)}"}
                data_of(await client.call_tool("search_followup", query))
                more = True
        whole = data_of(await client.call_tool(HISTORY, conversation))
    assert numbers == [message["number"] for message in whole["messages"]]
    assert texts == [message["content"] for message in whole["messages"] if message["role"] == "user"]


@pytest.mark.slow
def test_a_large_conversation_goes_on_within_bounds_of_memory(tmp_path: Path) -> None:
    """Logs of hundreds of megabytes that take ten times as much memory to read."""
    text = "a line of an answer, größer als ASCII\n" * (FILE_MEGABYTES * MEGABYTE // 40 // 20)
    path = written(tmp_path, *[(role, text) for _ in range(10) for role in ("user", "assistant")])
    size = path.stat().st_size
    with LoopbackAgent() as agent, RawServer(tmp_path, agent.base_url) as server:
        server.initialize()
        server.call("search_followup", 1, conversationId=UNKNOWN, query="to import what is needed")
        server.answer_to(1)
        before = peak_bytes(server)
        server.call("search_followup", 2, conversationId=ID, query="two?")
        data = result_of(server.answer_to(2))
        server.call(HISTORY, 3, conversationId=ID)
        page = result_of(server.answer_to(3))
        grown = peak_bytes(server) - before
    assert size > FILE_MEGABYTES * MEGABYTE
    assert data["messageCount"] == page["messageCount"] == 22
    assert len(agent.requests[0]["input"]) == 21
    assert sum(len(message["content"]) for message in page["messages"]) <= 60_000
    assert len(server.lines[-1]) < 200_000
    assert grown < GROWTH_TIMES * size, f"{grown / size:.1f} times the file"


def peak_bytes(server: RawServer) -> int:
    """Return the most memory that the process has had."""
    status = Path(f"/proc/{server.process.pid}/status")
    if not status.exists():
        pytest.skip("the memory of a process is read from /proc")
    (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024


def result_of(message: dict[str, Any]) -> dict[str, Any]:
    assert not message["result"].get("isError"), message["result"]["content"]
    return message["result"]["structuredContent"]


@pytest.mark.parametrize("fault", ["400", "413", "500", "502_html", "early_eof_lost"])
async def test_an_error_never_repeats_the_request_it_is_about(tmp_path: Path, fault: str) -> None:
    """A request of many megabytes, echoed into an error, a log and the next request."""
    marked = "sentence that must not come back " * 1_000
    with LoopbackAgent() as agent:
        agent.faults.extend([fault, ""])
        async with serving(tmp_path, perplexity_api_key=KEY, perplexity_base_url=agent.base_url) as client:
            refused = await client.call_tool("search", {"query": marked})
            conversation = {"conversationId": error_of(refused)["conversationId"]}
            data_of(await client.call_tool("search_followup", {**conversation, "query": "two?"}))
    assert "must not come back" not in text_of(refused) + json.dumps(error_of(refused))
    assert len(text_of(refused)) < 1_000
    assert "must not come back" not in json.dumps(agent.requests[1])


async def test_a_question_or_id_that_is_refused_is_not_repeated_at_length(tmp_path: Path) -> None:
    """A bad argument of many megabytes that comes back in the error about it."""
    async with serving(tmp_path, FakeProvider()) as client:
        for tool, arguments in (
            ("search", {"query": "x" * 600_000}),
            ("search", {"query": "x", "search_mode": "y" * 600_000}),
            ("search", {"query": "x", "z" * 600_000: 1}),
            ("search", {"query": "x", "search_domain_filter": ["d" * 600_000]}),
            (HISTORY, {"conversationId": "9" * 600_000}),
            ("z" * 600_000, {}),
        ):
            result = await client.call_tool(tool, arguments)
            assert error_of(result)["code"] == "VALIDATION_ERROR"
            assert len(text_of(result)) < 2_000
