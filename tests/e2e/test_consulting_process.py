"""Steps of a workflow in servers that are killed in between."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.chat_rules import KEY
from tests.fixtures.chat_server import ChatServer
from tests.fixtures.consulting import step
from tests.fixtures.processes import RawServer


@pytest.mark.slow
def test_a_run_goes_on_after_kills_and_its_model_is_asked_once(tmp_path: Path) -> None:
    with ChatServer("custom") as provider:
        access = {
            "CUSTOM_API_URL": provider.base_url, "CUSTOM_API_KEY": KEY, "CUSTOM_MODEL_NAME": "small-1",
            "CONVERSATION_MCP_TOOLS": "consult",
        }  # fmt: skip

        def sent(**arguments: Any) -> dict[str, Any]:
            with RawServer(tmp_path, cwd=tmp_path, **access) as server:
                server.initialize()
                server.call("consult", 1, **arguments)
                result = server.answer_to(1)["result"]
                server.process.kill()
            assert not result.get("isError"), result
            return result["structuredContent"]

        first = sent(**step(1, 2))
        last = step(2, 2, conversationId=first["conversationId"])
        done, again = sent(**last), sent(**last)
    assert (first["state"], done["state"], again["state"]) == ("in_progress", "validated", "validated")
    assert again["rawResultText"] == done["rawResultText"]
    assert len(provider.requests) == 1
    kept = json.loads(Path(done["conversationPath"]).read_text(encoding="utf-8"))
    assert [each["stepNumber"] for each in kept["workflowSteps"]] == [1, 2]
    assert kept["workflowSteps"][1]["validation"] == {"asked": True, "messageNumber": 3}


@pytest.mark.slow
def test_of_two_processes_that_take_the_same_step_at_once_one_is_refused_and_told_the_number(tmp_path: Path) -> None:
    access = {"CONVERSATION_MCP_TOOLS": "consult"}
    with RawServer(tmp_path, cwd=tmp_path, **access) as one, RawServer(tmp_path, cwd=tmp_path, **access) as two:
        for server in (one, two):
            server.initialize()
        one.call("consult", 1, **step(1))
        same = {"conversationId": one.answer_to(1)["result"]["structuredContent"]["conversationId"]}
        one.call("consult", 2, **step(2, findings="One found this.", **same))
        two.call("consult", 2, **step(2, findings="Two found this.", **same))
        results = [server.answer_to(2)["result"] for server in (one, two)]
    assert sorted(bool(result.get("isError")) for result in results) == [False, True]
    [refused] = [result["structuredContent"]["message"] for result in results if result.get("isError")]
    assert "stepNumber must be 3" in refused
    [taken] = [result["structuredContent"] for result in results if not result.get("isError")]
    kept = json.loads(Path(taken["conversationPath"]).read_text(encoding="utf-8"))
    assert [each["stepNumber"] for each in kept["workflowSteps"]] == [1, 2]
