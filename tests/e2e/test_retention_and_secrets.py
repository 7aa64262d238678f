"""What must stay stays, and what must not be kept is nowhere."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.agent import KEY, LoopbackAgent
from tests.fixtures.folders import only_file
from tests.fixtures.handwritten import bytes_below, written
from tests.fixtures.processes import RawServer

YEARS_AGO = 1_262_304_000
OLD = "20100101-1262304000000"
FAULTS = ["401", "403_retired", "502_html", "html_200", "dropped_before", "early_eof_lost", "failed", "500"]


@pytest.mark.slow
def test_a_conversation_of_years_ago_stays_as_it_is(tmp_path: Path) -> None:
    """Silent retention: a program that removes what nobody has opened for thirty days."""
    path = written(tmp_path, ("user", "one?"), ("assistant", "One."), conversation_id=OLD)
    (path.parent / "notes.md").write_text("by hand")
    for place in (path, path.parent / "notes.md", path.parent):
        os.utime(place, (YEARS_AGO, YEARS_AGO))
    before = bytes_below(path.parent)
    pages: list[dict[str, Any]] = []
    with LoopbackAgent() as agent:
        for _ in range(2):
            with RawServer(tmp_path, agent.base_url, CONVERSATION_TIMEOUT_HOURS="1") as server:
                server.initialize()
                server.call("search", 1, query="two?")
                server.answer_to(1)
                server.call("get_conversation_history", 2, conversationId=OLD)
                pages.append(server.answer_to(2)["result"]["structuredContent"])
                server.end_of_input()
    assert [page["totalCount"] for page in pages] == [2, 2]
    assert bytes_below(path.parent) == before
    assert path.stat().st_mtime == YEARS_AGO


@pytest.mark.slow
def test_the_key_is_in_no_file_no_result_and_no_line_of_the_log(tmp_path: Path) -> None:
    """Keys that stay in transcripts and logs, out of headers, pages of errors and dumps of settings."""
    with LoopbackAgent() as agent, RawServer(tmp_path, agent.base_url, CONVERSATION_MCP_LOG_LEVEL="DEBUG") as server:
        agent.faults.extend(["", *FAULTS])
        server.initialize()
        server.call("search", 1, query="one?")
        conversation = server.answer_to(1)["result"]["structuredContent"]["conversationId"]
        for number in range(len(FAULTS)):
            server.call("search_followup", number + 2, conversationId=conversation, query=f"question {number}")
            server.answer_to(number + 2)
        server.call("deep_research_followup", 99, conversationId=conversation, query="last? [[polls:0]]")
        server.answer_to(99)
        out, err = server.end_of_input()
    sent = [headers["Authorization"] for headers in agent.headers]
    assert sent == [f"Bearer {KEY}"] * (len(FAULTS) + 2)
    assert len(json.loads(only_file(tmp_path).read_bytes())["unansweredTurns"]) == len(FAULTS)
    said = [*bytes_below(tmp_path).values(), *server.lines, out, err]
    assert b"DEBUG" in err
    assert [text for text in said if KEY.encode() in text] == []
    assert [text for text in said if b"pplx-secretkey" in text] == []
