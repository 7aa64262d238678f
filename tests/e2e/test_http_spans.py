"""Spans of OpenTelemetry: requests, their turns, and the turns' calls to providers, without owners and words."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.processes import ROOT

pytestmark = pytest.mark.slow


def spans_in(folder: Path) -> list[dict[str, Any]]:
    run = subprocess.run(
        [sys.executable, "-m", "tests.fixtures.traced_child", str(folder)],
        check=False,
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=ROOT,
        timeout=100,
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_requests_turns_and_calls_to_providers_are_spans_that_belong_together(tmp_path: Path) -> None:
    spans = spans_in(tmp_path)
    by_id = {span["context"]["span_id"]: span for span in spans}
    asked, failed = (span for span in spans if span["name"].startswith("search ") and span["kind"].endswith("CLIENT"))
    turns = [by_id[span["parent_id"]] for span in (asked, failed)]
    assert [turn["name"] for turn in turns] == ["turn", "turn"]
    assert [by_id[turn["parent_id"]]["name"] for turn in turns] == ["tools/call search", "tools/call search_followup"]
    for call, turn in zip((asked, failed), turns, strict=True):
        assert turn["start_time"] <= call["start_time"] <= call["end_time"] <= turn["end_time"]
        assert call["attributes"]["gen_ai.provider.name"] == turn["attributes"].get("gen_ai.provider.name", "fake")
    facts = asked["attributes"]
    assert (facts["gen_ai.usage.input_tokens"], facts["gen_ai.usage.output_tokens"]) == (10, 5)
    assert facts["gen_ai.response.model"] == "test/one"
    assert (failed["attributes"]["error.type"], failed["status"]["status_code"]) == ("PROVIDER_UNAVAILABLE", "ERROR")
    assert turns[1]["attributes"]["conversation_mcp.outcome"] == "PROVIDER_UNAVAILABLE"
    refused = [span for span in spans if span["attributes"].get("http.response.status_code") == 401]
    assert [span["attributes"]["rpc.method"] for span in refused] == ["-"]


def test_no_span_tells_an_owner_a_conversation_or_a_word(tmp_path: Path) -> None:
    spans = spans_in(tmp_path)
    told = json.dumps(spans)
    (conversation,) = (tmp_path / "conversation-logs" / ".owners").glob("*/*/conversation.json")
    assert len(spans) > 5
    for word in ("alice", "heron", "answer 1", conversation.parent.name, str(tmp_path)):
        assert word not in told
