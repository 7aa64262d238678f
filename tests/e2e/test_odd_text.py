"""Text of every kind: half characters, NUL, byte order marks, terminals and files that are not UTF-8."""

import json
import subprocess
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from tests.fixtures.folders import ID, left_behind, only_conversation, only_file
from tests.fixtures.handwritten import written
from tests.fixtures.processes import environment
from tests.fixtures.providers import FakeProvider
from tests.fixtures.serving import data_of, serving

from conversation_mcp.providers.base import Answer, Event, Finished, Progress, Request, Started, TextDelta
from conversation_mcp.records.models import Source
from conversation_mcp.settings import load_settings

ODD = [
    "lone high \ud83d half",
    "lone low \ude00 half",
    "halves that belong together \ud83d\ude00",
    "nul \0 inside",
    r"text that spells \u0000 and \ud83d",
    "line separators \u2028 and \u2029",
    "not a character \uffff \U0001fffe",
    "escape \x1b[31m red",
    "family 👨‍👩‍👧‍👦 flag 🇺🇳 marks e\u0301",
    "right to left \u202eabc עברית",
    "\ufeffa byte order mark",
    "carriage\r\nreturn",
    '[{"type": "text", "text": "no list"}]',
    '{"query": "no object"}',
    '"quoted"',
    "null",
    "3",
    "true",
    "NaN",
]


def stored_as(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@pytest.mark.parametrize("text", ODD)
async def test_any_text_is_a_question_and_an_answer_and_the_next_turn_works(tmp_path: Path, text: str) -> None:
    """Half a surrogate pair breaks the rest of a session; NUL loses a turn; text that looks like a list becomes one."""

    async def echo(request: Request) -> AsyncGenerator[Event]:
        yield Started("resp_1")
        yield Progress(text)
        yield TextDelta(text)
        yield Finished(Answer(text, sources=(Source(id=1, title=text),), reasoning=text, related_questions=(text,)))

    provider = FakeProvider(echo)
    async with serving(tmp_path, provider) as client:
        first = data_of(await client.call_tool("search", {"query": text}))
        conversation = {"conversationId": first["conversationId"]}
        data_of(await client.call_tool("search_followup", {**conversation, "query": "two?"}))
        page = data_of(await client.call_tool("get_conversation_history", conversation))
    whole = stored_as(text)
    assert [message["content"] for message in page["messages"][:2]] == [whole, whole]
    assert [message.content for message in provider.requests[1].messages[1:]] == [whole, whole, "two?"]
    stored = json.loads(only_file(tmp_path).read_bytes())["messages"]
    assert [message["content"] for message in stored[1:3]] == [whole, whole]
    assert (stored[2]["sources"][0]["title"], stored[2]["reasoning"]) == (whole, whole)
    assert stored[2]["relatedQuestions"] == [whole]


@pytest.mark.parametrize("text", ["<think>\ud83d</think>", "\ud83d<think>", "\0<think>\ude00"])
async def test_a_tag_with_half_a_character_spoils_no_later_turn(tmp_path: Path, text: str) -> None:
    """Half a surrogate pair in what was stored before it was taken out."""
    path = written(tmp_path, ("user", "one?"), ("assistant", "x"))
    path.write_bytes(path.read_bytes().replace(b'"x"', json.dumps(f"One. {text}").encode()))
    provider = FakeProvider()
    async with serving(tmp_path, provider) as client:
        data_of(await client.call_tool("search_followup", {"conversationId": ID, "query": "two?"}))
    sent = provider.requests[0].messages[1].content
    assert sent.encode().decode() == f"One. {stored_as(text)}"


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "cp437"])
@pytest.mark.parametrize("command", [["resume"], ["doctor"]])
def test_a_terminal_that_cannot_print_a_character_ends_no_command(
    tmp_path: Path, command: list[str], encoding: str
) -> None:
    """A chat that cannot be shown because of one of its characters."""
    path = left_behind(tmp_path)
    path.write_text(path.read_text().replace("two?", "日本 😀 ?"), encoding="utf-8")
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": encoding}
    run = subprocess.run(
        [sys.executable, "-m", "conversation_mcp", *command],
        check=False,
        capture_output=True,
        env=environment(tmp_path, PERPLEXITY_API_KEY="pplx-0123456789abcdef", **locale),
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        timeout=100,
    )
    assert b"Traceback" not in run.stderr
    assert (ID if command == ["resume"] else "ends in").encode() in run.stdout


def test_a_settings_file_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    """Editors of Windows put a byte order mark in front of what they save."""
    config = tmp_path / "config.toml"
    config.write_bytes(b'\xef\xbb\xbfsearch_preset = "high"\r\n')
    assert load_settings({}, {}, config, tmp_path).settings.search_preset == "high"


async def test_a_conversation_with_a_byte_order_mark_goes_on(tmp_path: Path) -> None:
    """A file that an editor gave a byte order mark does not load any more."""
    path = written(tmp_path, ("user", "one?"), ("assistant", "One."))
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    async with serving(tmp_path, FakeProvider()) as client:
        data_of(await client.call_tool("search_followup", {"conversationId": ID, "query": "two?"}))
    assert only_conversation(tmp_path)["messageCount"] == 4
