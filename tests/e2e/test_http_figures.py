"""What a server over HTTP writes down about its requests: lines of the access log, and figures."""

import io
import json
import re
from pathlib import Path

import httpx
import pytest
from tests.fixtures.over_http import http_server
from tests.fixtures.ports import free_port
from tests.fixtures.providers import FakeProvider
from tests.fixtures.serving import data_of
from tests.fixtures.signing import NOW

from conversation_mcp.server.http.access_log import MAX_PARSED_BYTES, AccessLog, WantedCall, wanted_by
from conversation_mcp.server.http.metrics import Metrics, Now
from conversation_mcp.server.http.options import HttpOptions

FIGURE = re.compile(r'[a-z_]+(\{[a-z]+="(?:[^"\\\n]|\\.)*"(,[a-z]+="(?:[^"\\\n]|\\.)*")*\})? [0-9.e+-]+')
LINE = re.compile(r'\S+ access owner=("[^"]*"|-) method=\S+ tool=\S+ code=\d{3} ms=\d+')


def test_a_line_says_who_what_and_how_it_ended() -> None:
    stream = io.StringIO()
    AccessLog(lambda: NOW, stream).write("alice/5dc34b72", WantedCall("tools/call", "search"), 200, 1.2044)
    AccessLog(lambda: NOW, stream).write(None, WantedCall(), 401, 0)
    assert stream.getvalue() == (
        '2026-11-28T12:00:00.000Z access owner="alice/5dc34b72" method=tools/call tool=search code=200 ms=1204\n'
        "2026-11-28T12:00:00.000Z access owner=- method=- tool=- code=401 ms=0\n"
    )


def test_no_name_can_look_like_another_field_or_line() -> None:
    stream = io.StringIO()
    AccessLog(lambda: NOW, stream).write('a" code=200 \u2028\u202e', WantedCall(), 200, 0)
    assert '"a\\" code=200 \\u2028\\u202e"' in stream.getvalue()
    assert wanted_by(json.dumps({"method": "x\n2026 access"}).encode()) == WantedCall("?")
    assert wanted_by(json.dumps({"method": "tools/call", "params": {"name": "a b"}}).encode()).tool == "?"


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"[" * 100_000, b"\xff", b" " * (MAX_PARSED_BYTES + 1), b'{"method": 7}']
)
def test_a_body_that_says_nothing_readable_asks_for_nothing(body: bytes) -> None:
    assert wanted_by(body) == WantedCall()


def test_figures_are_written_as_prometheus_reads_them() -> None:
    metrics = Metrics()
    metrics.note_request("tools/call", 200)
    metrics.note_request('a"b\\c\nd', 200)
    metrics.look = lambda: Now(2, 1, 7)
    lines = metrics.text().splitlines()
    figures = [line for line in lines if not line.startswith("# ")]
    assert [line for line in figures if not FIGURE.fullmatch(line)] == []
    assert 'conversation_mcp_requests_total{method="tools/call",code="200"} 1' in figures
    assert 'conversation_mcp_requests_total{method="a\\"b\\\\c\\nd",code="200"} 1' in figures
    assert {"conversation_mcp_running_turns 2", "conversation_mcp_waiting_turns 1"} < set(figures)


async def test_a_running_server_shows_its_figures_and_logs_no_word(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    port = free_port()
    async with http_server(tmp_path, FakeProvider(), options=HttpOptions(metrics_port=port)) as server:
        async with server.client("alice") as client:
            data_of(await client.call_tool("search", {"query": "What is the launch code of the heron?"}))
        await server.post("nobody", {"method": "tools/list"})
        async with httpx.AsyncClient() as http:
            figures = (await http.get(f"http://127.0.0.1:{port}/metrics")).text
            assert (await http.get(f"http://127.0.0.1:{port}/mcp")).status_code == 404
            assert (await http.get(f"{server.origin}/metrics")).status_code == 404
            await http.get(f"{server.origin}/health")
    log = capsys.readouterr().err.splitlines()
    assert [line for line in figures.splitlines() if not (line.startswith("# ") or FIGURE.fullmatch(line))] == []
    assert 'conversation_mcp_turns_total{tool="search",provider="fake",outcome="completed"} 1' in figures
    assert 'conversation_mcp_turn_seconds_count{tool="search",provider="fake"} 1' in figures
    assert "conversation_mcp_open_owners 1" in figures
    assert 'code="401"} 1' in figures
    assert "alice" not in figures
    assert [line for line in log if not LINE.fullmatch(line)] == []
    assert any('owner="alice" method=tools/call tool=search code=200' in line for line in log)
    assert any("owner=- method=- tool=- code=401" in line for line in log)
    assert "heron" not in "".join(log) + figures
