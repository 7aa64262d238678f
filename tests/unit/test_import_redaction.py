"""What an import brings is redacted before it is stored, and is still recognized when it is imported again."""

import json
from pathlib import Path
from typing import Any, cast

import pytest
from tests.fixtures.exports.imported import bring_in, said_in, store_of, stored_in
from tests.fixtures.sensitive import SECRETS

from conversation_mcp.records.hashes import hash_of
from conversation_mcp.records.models import ConversationId
from conversation_mcp.redacting.kinds import SensitiveKind

ALL = cast("tuple[SensitiveKind, ...]", tuple(SECRETS))
CARD, MAIL, KEY = SECRETS["cards"][0], SECRETS["emails"][0], SECRETS["keys"][0]
TIME = "2026-01-01T00:00:00.000Z"
STEP = {"workflow": "debug", "run": 1, "stepNumber": 1, "totalSteps": 1, "next": False}
FILE = f"Charge {CARD}."


def exported(*texts: str, **more: Any) -> dict[str, Any]:
    """Return a conversation as it is exported."""
    roles = ("user", "assistant")
    messages = [{"role": roles[place % 2], "content": text} for place, text in enumerate(texts)]
    head = {"conversationId": "20260101-1767225600000", "createdAt": TIME, "updatedAt": TIME}
    return {**head, "messageCount": len(messages), **more, "messages": messages}


def written(folder: Path, conversation: dict[str, Any]) -> Path:
    path = folder / "export.json"
    path.write_text(json.dumps(conversation))
    return path


def bytes_of(folder: Path) -> bytes:
    kept = folder / "conversation-logs"
    return b"\n".join(path.read_bytes() for path in kept.rglob("*") if path.is_file())


@pytest.mark.parametrize("kind", SECRETS)
async def test_no_secret_of_an_import_is_stored(tmp_path: Path, kind: str) -> None:
    one, *_, other = SECRETS[kind]
    hostile: dict[str, Any] = {
        "title": f"About {one}",
        "tags": [other],
        "note": {one: [other]},
        "pendingTurn": {"question": other, "status": "failed", "partialText": one},
        "memories": [{"content": one, "metadata": {"n": other}}],
        "workflowSteps": [STEP | {"step": one, "findings": other}],
    }
    report = await bring_in(written(tmp_path, exported(one, other, **hostile)), tmp_path, redact=ALL)
    assert report.counts == {"imported": 1}
    assert report.redacted[kind] >= 10  # type: ignore[index] -- the names of the corpus are the kinds
    assert not [secret for secret in (one, other) if json.dumps(secret)[1:-1].encode() in bytes_of(tmp_path)]


async def test_the_contents_of_its_files_are_redacted_and_named_by_their_new_hash(tmp_path: Path) -> None:
    conversation = exported("Whom?", "Ann.", fileContents={hash_of(FILE.encode()): {"text": FILE}})
    named = {"path": "/a/mail.txt", "sha256": hash_of(FILE.encode()), "bytes": len(FILE), "sent": "whole"}
    conversation["messages"][0]["files"] = [named]
    await bring_in(written(tmp_path, conversation), tmp_path, redact=ALL)
    [stored] = await stored_in(tmp_path)
    file = next(iter(stored.messages[0].files or ()))
    kept = await store_of(tmp_path).attachments.get(ConversationId(stored.conversation_id), [file.sha256 or ""])
    assert list(kept.values()) == [b"Charge [card]."]
    assert file.bytes == len("Charge [card].")
    again = await bring_in(tmp_path / "export.json", tmp_path, redact=ALL)
    assert again.counts == {"unchanged": 1}
    assert CARD.encode() not in bytes_of(tmp_path)


@pytest.mark.parametrize("first", [(), ALL], ids=["before", "with"])
async def test_what_was_imported_before_or_with_redaction_is_recognized(
    tmp_path: Path, first: tuple[SensitiveKind, ...]
) -> None:
    texts = f"Is {CARD} valid?", f"Ask {MAIL}."
    await bring_in(written(tmp_path, exported(*texts)), tmp_path, redact=first)
    assert (await bring_in(tmp_path / "export.json", tmp_path, redact=ALL)).counts == {"unchanged": 1}
    grown = written(tmp_path, exported(*texts, f"Is {KEY} one?", "Yes."))
    report = await bring_in(grown, tmp_path, redact=ALL)
    assert (report.counts, dict(report.redacted)) == ({"extended": 1}, {"cards": 1, "emails": 1, "keys": 1})
    [stored] = await stored_in(tmp_path)
    assert [text for _, text in said_in(stored)] == ["Is [card] valid?", "Ask [email].", "Is [key] one?", "Yes."]


async def test_nothing_of_an_import_is_redacted_by_default(tmp_path: Path) -> None:
    report = await bring_in(written(tmp_path, exported(CARD, "Yes.")), tmp_path)
    assert not report.redacted
    assert CARD.encode() in bytes_of(tmp_path)
