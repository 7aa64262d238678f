"""The command `redact`: what was stored before redaction was on is gone from every byte, while a server runs."""

import json
from pathlib import Path

import anyio
import pytest
from dirty_equals import IsPartialDict
from inline_snapshot import snapshot
from tests.e2e.test_cli_tidying import listed, marked
from tests.fixtures.agent import LoopbackAgent
from tests.fixtures.cli import Ended, anonymous, piped, put_conversation
from tests.fixtures.folders import only_conversation
from tests.fixtures.processes import RawServer
from tests.fixtures.sensitive import SECRETS

from conversation_mcp.clock import utc_now
from conversation_mcp.records.hashes import hash_of
from conversation_mcp.records.models import ConversationId
from conversation_mcp.stores.files.store import FileStore

ID, OTHER = "20260131-1769817600000", "20260131-1769817600001"
MAIL, CARD = "zanzibar.xanadu@example.org", SECRETS["cards"][0]
MARKERS = (b"zanzibar.xanadu", b"zanzibar", b"xanadu", CARD.encode(), CARD.replace(" ", "").encode())
KINDS = {"CONVERSATION_MCP_REDACT": "cards,emails"}
BODY = f"Write to {MAIL}.".encode()


def stored(folder: Path) -> None:
    """Store a conversation with secrets in each place that there is."""
    named = {"path": "/a/mail.txt", "sha256": hash_of(BODY), "bytes": len(BODY), "sent": "whole"}
    messages = [
        {"role": "user", "content": f"Who is {MAIL}?", "files": [named]},
        {"role": "assistant", "content": f"{CARD} is hers."},
    ]
    facts = {"title": f"About {MAIL}", "memories": [{"memoryId": "mem-1", "content": f"She is {MAIL}"}]}
    put_conversation(folder, ID, messages=messages, **facts)
    put_conversation(folder, OTHER, title="stays")
    store = FileStore(folder / "conversation-logs", now=utc_now)
    anyio.run(store.attachments.put, ConversationId(ID), {hash_of(BODY): BODY})
    kept = folder / "conversation-logs" / ID
    (kept / "export.md").write_text(f"# {MAIL}")
    (kept / ".conversation.0123456789abcdef.tmp").write_bytes(b" ".join(MARKERS))


def redact(folder: Path, *more: str, **changes: str) -> Ended:
    return piped(folder, "redact", *more, **{**KINDS, **changes})


@pytest.mark.slow
def test_no_byte_of_what_was_redacted_is_left_while_a_server_runs(tmp_path: Path) -> None:
    stored(tmp_path)
    with RawServer(tmp_path, XDG_CACHE_HOME=str(tmp_path / "home" / "cache")) as server:
        server.initialize()
        assert ID in listed(server, query="xanadu")
        assert marked(tmp_path, MARKERS)
        before = (tmp_path / "conversation-logs" / ID / "conversation.json").read_bytes()
        looked = redact(tmp_path, "--older")
        assert (looked.code, looked.out) == (0, f"{ID}  4 e-mail addresses and 1 card number\n")
        assert looked.err == snapshot(
            "1 conversation to redact: 4 e-mail addresses and 1 card number. Do it with --yes.\n"
        )
        assert (tmp_path / "conversation-logs" / ID / "conversation.json").read_bytes() == before
        done = redact(tmp_path, "--older", "--yes")
        assert (done.code, done.out) == (0, looked.out)
        assert done.err == snapshot("1 conversation redacted: 4 e-mail addresses and 1 card number.\n")
        assert marked(tmp_path, MARKERS) == []
        assert ID not in listed(server, query="xanadu")
        assert ID in listed(server, query="hers")
        assert "stays" in listed(server)
        server.end_of_input()
    assert marked(tmp_path, MARKERS) == []
    again = redact(tmp_path, "--older", "--yes")
    assert (again.code, again.out, again.err) == (0, "", "0 conversations redacted.\n")


@pytest.mark.slow
def test_an_index_that_a_stopped_run_left_forgets_the_words_at_the_next(tmp_path: Path) -> None:
    stored(tmp_path)
    piped(tmp_path, "index", "rebuild")
    path = tmp_path / "conversation-logs" / ID / "conversation.json"
    assert redact(tmp_path, "--older", "--yes").code == 0
    clean = path.read_bytes()
    stored_again = json.loads(clean)
    stored_again["messages"][0]["content"] = f"Who is {MAIL}?"
    path.write_text(json.dumps(stored_again))
    assert ID in piped(tmp_path, "search", "xanadu").out
    path.write_bytes(clean)
    assert marked(tmp_path, MARKERS)
    assert redact(tmp_path, "--older", "--yes").code == 0
    assert marked(tmp_path, MARKERS) == []


def test_what_is_in_the_trash_is_counted_and_stays(tmp_path: Path) -> None:
    stored(tmp_path)
    assert piped(tmp_path, "delete", ID).code == 0
    ended = redact(tmp_path, "--older", "--yes")
    assert ended.err == snapshot("""\
0 conversations redacted.
In the trash, 4 e-mail addresses and 1 card number stay until it is emptied: conversation-mcp trash empty.
""")
    found = json.loads(redact(tmp_path, "--older", "--json").out)
    assert found == IsPartialDict(
        applied=False, conversations=[], counts={}, trash=[{"conversationId": ID, "counts": {"cards": 1, "emails": 4}}]
    )


def test_one_that_cannot_be_read_is_named_and_the_others_are_redacted(tmp_path: Path) -> None:
    stored(tmp_path)
    (tmp_path / "conversation-logs" / OTHER / "conversation.json").write_text("{")
    ended = redact(tmp_path, "--older", "--yes")
    assert (ended.code, ended.out) == (1, f"{ID}  4 e-mail addresses and 1 card number\n")
    assert "is not valid JSON" in ended.err


@pytest.mark.slow
def test_a_question_that_failed_is_redacted_and_goes_on(tmp_path: Path) -> None:
    with LoopbackAgent() as agent:
        asked = piped(tmp_path, "ask", f"Who is {MAIL}? [[fault:402]]", base_url=agent.base_url)
        assert asked.code == 1
        assert redact(tmp_path, "--older", "--yes").code == 0
        assert marked(tmp_path, MARKERS) == []
        follow = piped(tmp_path, "ask", "-c", "last", "And now?", base_url=agent.base_url)
        assert follow.code == 0
    assert only_conversation(tmp_path)["unansweredTurns"][0]["question"].startswith("Who is [email]?")


@pytest.mark.parametrize(
    ("arguments", "kinds", "problem"),
    [
        ((), "keys", "say what to redact: --older means all conversations that are stored already."),
        (("--older",), "", "CONVERSATION_MCP_REDACT names no kinds; set it to keys,cards for example."),
        (("--older", "--yes"), "words", "CONVERSATION_MCP_REDACT"),
    ],
)
def test_wrong_usage_changes_nothing(tmp_path: Path, arguments: tuple[str, ...], kinds: str, problem: str) -> None:
    stored(tmp_path)
    ended = redact(tmp_path, *arguments, CONVERSATION_MCP_REDACT=kinds)
    assert ended.code == 2
    assert problem in anonymous(ended.err)
    assert marked_files(tmp_path)


def marked_files(folder: Path) -> bool:
    return MAIL.encode() in (folder / "conversation-logs" / ID / "conversation.json").read_bytes()
