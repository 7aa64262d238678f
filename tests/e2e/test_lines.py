"""Lines that are no proper message, at a real server: each is answered, and the next one is served."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fixtures.agent import LoopbackAgent
from tests.fixtures.folders import only_conversation
from tests.fixtures.processes import RawServer


@pytest.fixture
def agent() -> Iterator[LoopbackAgent]:
    with LoopbackAgent() as agent:
        yield agent


def call(query: str) -> bytes:
    """Return the line of a call whose question is spelled like this in JSON."""
    return b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"query":"%b"}}}' % (
        query.encode()
    )


@pytest.mark.slow
def test_a_question_with_half_an_emoji_is_asked_without_it(tmp_path: Path, agent: LoopbackAgent) -> None:
    with RawServer(tmp_path, agent.base_url) as server:
        server.initialize()
        server.send_line(b"\xef\xbb\xbf" + call("half \\ud83d of it?"))
        result = server.answer_to(1)["result"]
    assert not result.get("isError"), result
    assert only_conversation(tmp_path)["messages"][1]["content"] == "half \N{REPLACEMENT CHARACTER} of it?"
    assert agent.paid == ["half \N{REPLACEMENT CHARACTER} of it?"]


@pytest.mark.slow
def test_each_line_that_is_no_message_is_answered_and_the_server_goes_on(tmp_path: Path, agent: LoopbackAgent) -> None:
    lines: list[tuple[bytes, int | str | None, int]] = [
        (b'{"jsonrpc":"2.0","id":11,"method":"tools/call","params":{', 11, -32700),
        (b"no json at all", None, -32700),
        (b'{"id":12,"method":"ping"}', 12, -32600),
        (b'[{"jsonrpc":"2.0","id":"b","method":"ping"}]', "b", -32600),
        (b'{"jsonrpc":"2.0","id":13,"method":"x","params":{"a":"' + b"a" * (33 << 20) + b'"}}', 13, -32600),
    ]
    with RawServer(tmp_path, agent.base_url) as server:
        server.send_line(b"{")  # before the client has said who it is, too
        assert server.answer_to(None)["error"]["code"] == -32700
        server.initialize()
        for line, number, code in lines:
            server.send_line(line)
            assert server.answer_to(number)["error"]["code"] == code
        server.send_line(b"\r\n  \r\n" + json.dumps({"jsonrpc": "2.0", "id": 20, "method": "ping"}).encode() + b"\r")
        assert server.answer_to(20)["result"] == {}
        out, err = server.end_of_input()
    assert (server.process.returncode, out, b"Traceback" in err) == (0, b"", False)
    assert agent.creates == 0


@pytest.mark.slow
def test_the_last_line_needs_no_line_feed(tmp_path: Path) -> None:
    with RawServer(tmp_path) as server:
        server.initialize()
        assert server.process.stdin
        server.process.stdin.write(b'{"jsonrpc":"2.0","id":3,"method":"tools/list"')
        out, _ = server.end_of_input()
    assert json.loads(out)["id"] == 3
