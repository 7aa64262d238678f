"""What a pattern matches never reaches a provider or the disk, once redaction is on."""

import json
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from tests.fixtures.providers import FakeProvider, asked_in_any_mode
from tests.fixtures.sensitive import SECRETS
from tests.fixtures.serving import data_of, serving

from conversation_mcp.providers.base import Answer, Event, Finished, Request

KEY, CARD = SECRETS["keys"][0], SECRETS["cards"][0]
ALL = "keys,cards,ibans,emails,phones"


def sent(request: Request) -> str:
    return "\n".join(message.content for message in request.messages)


def bytes_below(folder: Path) -> bytes:
    return b"\n".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def leaks(folder: Path, provider: FakeProvider) -> list[str]:
    """Return the secrets that a provider got, or that stand in any file below the folder."""
    everything = bytes_below(folder) + "\n".join(map(sent, provider.requests)).encode()
    return [one for known in SECRETS.values() for one in known if json.dumps(one)[1:-1].encode() in everything]


@pytest.mark.parametrize("kind", SECRETS)
async def test_no_secret_of_a_question_or_its_answer_is_sent_or_stored(tmp_path: Path, kind: str) -> None:
    provider = FakeProvider()
    async with serving(tmp_path, provider, redact=ALL) as client:
        first = data_of(await client.call_tool("search", {"query": " and ".join(SECRETS[kind])}))
        again = {"conversationId": first["conversationId"], "query": SECRETS[kind][0]}
        second = data_of(await client.call_tool("search_followup", again))
    assert leaks(tmp_path, provider) == []
    count = len(SECRETS[kind])
    assert any(f"redacted in the question: {count} " in notice for notice in first["notices"])
    assert any("redacted in the question: 1 " in notice for notice in second["notices"])


async def test_an_answer_is_redacted_where_it_is_stored_and_where_it_is_shown(tmp_path: Path) -> None:
    async def telling(_request: Request) -> AsyncGenerator[Event]:
        yield Finished(Answer(content=f"It is {KEY}.", reasoning=f"Say {CARD}.", related_questions=(f"{KEY}?",)))

    async with serving(tmp_path, FakeProvider(telling), redact=ALL) as client:
        result = data_of(await client.call_tool("search", {"query": "What is the key?"}))
    assert result["rawResultText"] == "It is [key]."
    assert result["notices"] == ["redacted in the answer: 2 keys and 1 card number"]
    assert leaks(tmp_path, FakeProvider()) == []


async def test_the_text_of_a_file_is_redacted_before_it_is_kept_and_sent(tmp_path: Path) -> None:
    provider = asked_in_any_mode()
    (tmp_path / "work").mkdir()
    named = tmp_path / "work" / "mail.txt"
    named.write_text(f"Charge {CARD}, then write to {SECRETS['emails'][0]}.")
    stored = tmp_path / "kept"
    roots, tools = (tmp_path / "work",), ("research", "models")
    async with serving(tmp_path, provider, redact=ALL, roots=roots, logs_dir=stored, tools=tools) as client:
        question = {"prompt": "Whom do I charge?", "files": [str(named)]}
        result = data_of(await client.call_tool("chat", question))
    assert "Charge [card], then write to [email]." in sent(provider.requests[-1])
    assert leaks(stored, provider) == []
    assert "redacted in the files: 1 card number and 1 e-mail address" in result["notices"]


async def test_what_was_stored_before_is_not_sent_again(tmp_path: Path) -> None:
    provider = FakeProvider()
    async with serving(tmp_path, provider) as client:
        first = data_of(await client.call_tool("search", {"query": f"Is {CARD} valid?"}))
    assert CARD in sent(provider.requests[-1])
    async with serving(tmp_path, provider, redact=ALL) as client:
        following = {"conversationId": first["conversationId"], "query": "And now?"}
        await client.call_tool("search_followup", following)
    assert CARD not in sent(provider.requests[-1])
    assert "Is [card] valid?" in sent(provider.requests[-1])


async def test_nothing_is_redacted_by_default(tmp_path: Path) -> None:
    provider = FakeProvider()
    async with serving(tmp_path, provider) as client:
        result = data_of(await client.call_tool("search", {"query": f"Is {CARD} valid?"}))
    assert CARD in sent(provider.requests[-1])
    assert "notices" not in result
