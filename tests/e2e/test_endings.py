"""The end of a server or its client in the middle of a question: the answer is handed over, or kept for the same call.

CRASH_ENDINGS says how often each is tried; `make crash` sets it.
"""

import os
from collections import Counter
from pathlib import Path

import pytest
from tests.fixtures.endings import FAMILIES, WAYS, end, family
from tests.fixtures.folders import calls_below, only_conversation

from conversation_mcp.records.codec import decode
from conversation_mcp.records.models import ConversationId

ENDINGS = int(os.environ.get("CRASH_ENDINGS", "1"))
LISTENING = frozenset({"SIGTERM", "SIGINT", "stdin ends"})
EARLIER = "this is the answer to the same call made earlier"


@pytest.mark.slow
@pytest.mark.timeout(120 * ENDINGS)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", FAMILIES)
def test_an_answer_is_handed_to_who_listens_and_kept_for_who_does_not(tmp_path: Path, name: str, way: str) -> None:
    with family(name) as peer:
        for number in range(ENDINGS):
            question = f"question {number}? [[hold]]"
            peer.provider.hold()
            with peer.server(tmp_path) as server:
                server.initialize()
                peer.ask(server, question)
                assert peer.provider.wait_until(lambda peer, number=number: len(peer.paid) == number + 1, 60)
                ended = end(server, way, peer.provider)
            assert (ended.returncode, "Traceback" in ended.log) == (0, False), ended.log
            answer = ended.answer()
            assert (answer is not None) is (way in LISTENING), ended
            if answer is None:
                with peer.server(tmp_path) as server:
                    server.initialize()
                    peer.ask(server, question)
                    answer = peer.answer(server)
                    assert answer["notices"][0].startswith(EARLIER), answer
                    server.end_of_input()
            assert answer["rawResultText"]
            assert calls_below(tmp_path) == []
        assert Counter(peer.provider.paid).most_common(1)[0][1] == 1
    stored = [path.parent.name for path in (tmp_path / "conversation-logs").glob("*/conversation.json")]
    assert len(stored) == ENDINGS
    for each in stored:
        path = tmp_path / "conversation-logs" / each / "conversation.json"
        conversation = decode(path.read_bytes(), str(path), ConversationId(each))
        assert [message.role for message in conversation.messages] == ["system", "user", "assistant"]


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_what_does_not_come_within_the_grace_is_told_to_the_client(tmp_path: Path, name: str) -> None:
    with family(name) as peer, peer.server(tmp_path, CONVERSATION_MCP_ENDING_GRACE_SECONDS="0.2") as server:
        server.initialize()
        peer.ask(server, "one? [[hold]]")
        assert peer.provider.wait_until(lambda peer: len(peer.paid) == 1, 60)
        server.process.stdin.close() if server.process.stdin else None
        error = server.answer_to(1)["result"]["structuredContent"]
    assert error["code"] == "PROVIDER_UNAVAILABLE"
    assert "may have been billed" in error["message"]
    assert error["conversationId"] == only_conversation(tmp_path)["conversationId"]


@pytest.mark.slow
def test_a_research_that_goes_on_without_its_server_is_told_as_running(tmp_path: Path) -> None:
    with family("with run ids") as peer, peer.server(tmp_path) as server:
        server.initialize()
        server.call("deep_research", query="one? [[hold]]")
        assert peer.provider.wait_until(lambda peer: len(peer.paid) == 1, 60)
        server.process.stdin.close() if server.process.stdin else None
        result = server.answer_to(1)["result"]["structuredContent"]
    assert result["status"] == "running"
    assert result["conversationId"] == only_conversation(tmp_path)["conversationId"]


@pytest.mark.slow
def test_a_result_that_was_read_is_not_given_again(tmp_path: Path) -> None:
    with family("with run ids") as peer, peer.server(tmp_path) as server:
        server.initialize()
        for times in (1, 2):
            peer.ask(server, "one?")
            assert "notices" not in peer.answer(server)
            assert peer.provider.creates == times
