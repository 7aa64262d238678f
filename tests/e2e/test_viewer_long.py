"""A conversation of many messages in the viewer: it comes in parts, and each look costs little."""

import json
import os
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import StreamingResponse
from tests.fixtures.homes import Home
from tests.fixtures.providers import FakeProvider
from tests.fixtures.viewing import Visitor, visiting

from conversation_mcp.clock import utc_now
from conversation_mcp.exporting.html.environment import environment
from conversation_mcp.records import coded
from conversation_mcp.records.found import Listed
from conversation_mcp.records.models import Conversation, ConversationId
from conversation_mcp.stores.files.finder import FileFinder
from conversation_mcp.stores.files.index import stamps
from conversation_mcp.stores.files.memory import CONVERSATION_BYTES
from conversation_mcp.web.desk import Desk
from conversation_mcp.web.questions import AskedQuestions
from conversation_mcp.web.reading import ConversationPages
from conversation_mcp.web.site import PACKAGE
from conversation_mcp.web.visits import Visit

ID = "20250101-1735689600001"


@pytest.fixture
async def visitor(home: Home) -> AsyncGenerator[Visitor]:
    async with visiting(home, FakeProvider()) as visitor:
        await visitor.enter()
        yield visitor


async def test_a_flaw_at_the_end_of_a_long_conversation_is_told_with_its_status(tmp_path: Path) -> None:
    path = tmp_path / "conversation-logs" / ID / "conversation.json"
    path.parent.mkdir(parents=True)
    data = conversation(turns=200)
    data["messages"][-1]["note"] = float("inf")
    path.write_text(json.dumps(data), encoding="utf-8")
    async with visiting(tmp_path, FakeProvider()) as visitor:
        await visitor.enter()
        answer = await visitor.get(f"/c/{ID}")
        assert answer.status_code == 500
        assert "is not valid JSON at line 1, column" in answer.text
        assert "question 199?" not in answer.text


async def test_the_title_of_a_known_conversation_is_sent_before_its_file_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_file(tmp_path)
    read: list[str] = []
    async with visiting(tmp_path) as visitor:
        store, load = visitor.app.store, visitor.app.store.load

        async def noted(conversation_id: ConversationId) -> Conversation:
            read.append(conversation_id)
            return await load(conversation_id)

        monkeypatch.setattr(store, "load", noted)
        monkeypatch.setattr(stamps, "settled", settled_at_once)
        await visitor.app.library.catch_up(60)
        parts = await _parts_of_page(visitor)
        assert (b"question 0?" in await anext(parts), read) == (True, [])
        assert (b"Answer 99." in await anext(parts), read) == (True, [ID])


@pytest.mark.parametrize("becomes", ["{", None])
async def test_a_conversation_that_breaks_after_its_title_was_sent_says_so_on_its_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, becomes: str | None
) -> None:
    path = put_file(tmp_path)
    (facts,) = await to_thread.run_sync(lambda: [*FileFinder(path.parents[1], utc_now).facts([ConversationId(ID)])])
    path.write_text(becomes) if becomes else path.unlink()

    def known(_finder: FileFinder, _conversation_id: str) -> Listed:
        return facts

    monkeypatch.setattr(FileFinder, "known", known)
    async with visiting(tmp_path) as visitor:
        await visitor.enter()
        answer = await visitor.get(f"/c/{ID}")
    assert answer.status_code == 200
    assert '<h1 dir="auto">question 0?</h1>' in answer.text
    assert 'role="alert"' in answer.text
    assert answer.text.rstrip().endswith("</html>")


async def test_a_long_conversation_opens_at_its_end_or_at_the_message_that_a_link_names(
    visitor: Visitor, home: Home
) -> None:
    home.put(conversation(turns=200))
    place = f"/c/{ID}"
    end = (await visitor.get(place)).text
    assert "question 199?" in end
    assert "question 3?" not in end
    middle = (await visitor.get(f"{place}?at=100")).text
    assert 'id="m100"' in middle
    assert "data-earlier" in middle
    assert "data-later" in middle
    part = (await visitor.get(f"{place}/part?from=0")).text
    assert part.count("<section") == 40


async def test_a_large_file_is_parsed_once_for_its_page_and_all_its_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_file(tmp_path)
    parsed: list[str] = []
    decode = coded.decode

    def noted(data: bytes, path: str, conversation_id: ConversationId) -> Conversation:
        parsed.append(conversation_id)
        return decode(data, path, conversation_id)

    monkeypatch.setattr(coded, "decode", noted)
    async with visiting(tmp_path) as visitor:
        await visitor.enter()
        for path in ("", "", "?at=100", "/part?from=120", "/part?from=199&live"):
            assert (await visitor.get(f"/c/{ID}{path}")).status_code == 200
    assert parsed == [ID]


async def test_an_edit_by_hand_counts_at_once_even_if_the_file_keeps_its_size_and_time(tmp_path: Path) -> None:
    path = put_file(tmp_path)
    async with visiting(tmp_path) as visitor:
        await visitor.enter()
        assert "Answer 99." in (await visitor.get(f"/c/{ID}")).text
        stamp = path.stat()
        path.write_bytes(path.read_bytes().replace(b"Answer 99.", b"Edited 99."))
        os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        assert "Edited 99." in (await visitor.get(f"/c/{ID}")).text


async def _parts_of_page(visitor: Visitor) -> AsyncIterator[bytes]:
    state = {"visit": Visit("local", visitor.app), "form_token": "t"}
    scope = {"type": "http", "path_params": {"id": ID}, "query_string": b"", "state": state}
    pages = ConversationPages(Desk(environment(web=PACKAGE), "1"), AskedQuestions())
    answer = await pages.page(Request(scope))
    assert isinstance(answer, StreamingResponse)
    return (str(part).encode() async for part in answer.body_iterator)


def settled_at_once(stamp: int, *_times: object) -> int:
    """Take a file that was just written for one that will not change unnoticed."""
    return stamp


def put_file(folder: Path) -> Path:
    """Write a conversation by hand that is larger than all that is usually remembered together."""
    path = folder / "conversation-logs" / ID / "conversation.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(conversation(turns=100, first_answer="x" * (CONVERSATION_BYTES + 1))))
    return path


def conversation(turns: int, first_answer: str = "Answer 0.") -> dict[str, Any]:
    messages: list[dict[str, str]] = []
    for turn in range(turns):
        messages += [
            {"role": "user", "content": f"question {turn}?"},
            {"role": "assistant", "content": f"Answer {turn}." if turn else first_answer},
        ]
    return {
        "conversationId": ID,
        "createdAt": "2025-01-01T00:00:00.000Z",
        "updatedAt": "2025-01-01T00:00:01.000Z",
        "messageCount": len(messages),
        "messages": messages,
    }
