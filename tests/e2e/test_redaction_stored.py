"""What is stored without being sent is redacted as well: a chatbot's log, memories, titles and tags, and imports."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.test_redaction import ALL, CARD, KEY, leaks
from tests.fixtures.logged import LOG, Chatbot, texts_of
from tests.fixtures.providers import FakeProvider
from tests.fixtures.sensitive import SECRETS
from tests.fixtures.serving import data_of, serving

MAIL = SECRETS["emails"][0]


@pytest.mark.parametrize("kind", SECRETS)
async def test_no_secret_of_a_logged_message_is_stored(tmp_path: Path, kind: str) -> None:
    secrets = SECRETS[kind]
    async with serving(tmp_path, FakeProvider(), redact=ALL, tools=LOG) as client:
        ann = Chatbot(client)
        made = await ann("create_conversation", title=f"About {secrets[0]}", metadata={"of": secrets[0]})
        there = {"conversationId": made["conversationId"]}
        first = await ann("store_message", **there, role="user", content=secrets[0], metadata={"n": [secrets[-1]]})
        more = [{"role": "assistant", "content": secret, "metadata": {secret: 1}} for secret in secrets]
        second = await ann("store_messages", **there, messages=more)
        await ann("update_conversation", **there, title=secrets[-1], tags=[secrets[0]])
        await ann("end_conversation", **there, summary=f"It was {secrets[0]}.")
    assert leaks(tmp_path, FakeProvider()) == []
    assert made["notices"][0].startswith("redacted in the title and the metadata: 2 ")
    assert first["notices"][0].startswith("redacted in the message: 2 ")
    assert second["notices"][0].startswith(f"redacted in the messages: {2 * len(secrets)} ")


async def test_each_result_says_what_was_replaced_and_nothing_where_nothing_was(tmp_path: Path) -> None:
    async with serving(tmp_path, FakeProvider(), redact=ALL, tools=LOG) as client:
        ann = Chatbot(client)
        made = await ann("create_conversation", title="Trees")
        there = {"conversationId": made["conversationId"]}
        plain = await ann("store_message", **there, role="user", content="Hello")
        renamed = await ann("update_conversation", **there, title=f"Pay\n{CARD}", tags=[MAIL, "trees"])
        ended = await ann("end_conversation", **there, summary=f"Paid with {CARD}.")
    assert not any("notices" in result for result in (made, plain))
    assert (renamed["title"], renamed["tags"]) == ("Pay [card]", ["[email]", "trees"])
    assert renamed["notices"] == ["redacted in the title and the tags: 1 card number and 1 e-mail address"]
    assert ended["notices"] == ["redacted in the summary: 1 card number"]
    assert ended["summary"] == "Paid with [card]."


@pytest.mark.parametrize("client_id", ["c-1", f"{MAIL}-1"])
async def test_the_same_client_id_stores_nothing_twice_whenever_redaction_was_switched_on(
    tmp_path: Path, client_id: str
) -> None:
    hello: dict[str, Any] = {"role": "user", "content": f"Charge {CARD}", "clientMessageId": client_id}
    async with serving(tmp_path, FakeProvider(), tools=LOG) as client:
        there = {"conversationId": await Chatbot(client).created()}
        before = await Chatbot(client)("store_message", **there, **hello)
    async with serving(tmp_path, FakeProvider(), redact=ALL, tools=LOG) as client:
        ann = Chatbot(client)
        after = await ann("store_message", **there, **hello)
        new = {**hello, "clientMessageId": f"{client_id}2"}
        ids = [(await ann("store_message", **there, **new))["messageId"] for _ in range(2)]
        other = await ann.refused("store_message", **there, **{**new, "content": "Charge nothing"})
        assert texts_of(await ann("fetch_conversation_history", **there)) == [f"Charge {CARD}", "Charge [card]"]
    assert after["messageId"] == before["messageId"]
    assert (ids, other["code"]) == (["m-2", "m-2"], "VALIDATION_ERROR")


async def test_two_client_ids_that_look_alike_without_their_secrets_stay_two(tmp_path: Path) -> None:
    async with serving(tmp_path, FakeProvider(), redact=ALL, tools=LOG) as client:
        ann = Chatbot(client)
        there = {"conversationId": await ann.created()}
        messages = [{"role": "user", "content": "Hi", "clientMessageId": mail} for mail in SECRETS["emails"][:2]]
        stored = await ann("store_messages", **there, messages=messages)
    assert [message["messageId"] for message in stored["messages"]] == ["m-1", "m-2"]
    assert leaks(tmp_path, FakeProvider()) == []


async def test_metadata_is_redacted_in_names_numbers_and_by_the_names_of_its_fields(tmp_path: Path) -> None:
    digits = int(CARD.replace(" ", ""))
    given = {"password": "correct-horse", MAIL: True, "number": digits, "list": [{"deep": KEY}], "n": 1.5, "no": None}
    async with serving(tmp_path, FakeProvider(), redact=ALL, tools=LOG) as client:
        ann = Chatbot(client)
        there = {"conversationId": await ann.created()}
        await ann("store_message", **there, role="user", content="Hi", metadata=given)
        [message] = (await ann("fetch_conversation_history", **there))["messages"]
    kept = message["metadata"]
    mail = next(name for name in kept if name.startswith("[email]"))
    assert kept == {
        "password": "[key]", mail: True, "number": "[card]", "list": [{"deep": "[key]"}], "n": 1.5, "no": None
    }  # fmt: skip


async def test_memories_are_redacted_and_the_same_secret_again_is_the_same_memory(tmp_path: Path) -> None:
    async with serving(tmp_path, FakeProvider(), redact=ALL, tools=("memories",)) as client:
        given = {"content": f"Ann pays with {CARD}", "tags": [MAIL], "metadata": {"key": KEY}}
        opened = data_of(await client.call_tool("init_conversation", {"name": f"Card {CARD}"}))
        first = data_of(await client.call_tool("store_memory", given))
        again = data_of(await client.call_tool("store_memory", given))
        changed = {name: first[name] for name in ("memoryId", "conversationId")}
        updated = data_of(await client.call_tool("update_memory", {**changed, "content": f"Ask {MAIL}"}))
    assert opened["title"] == "Card [card]"
    assert first["notices"] == ["redacted in the memory: 1 card number, 1 e-mail address and 1 key"]
    assert again["memoryId"] == first["memoryId"]
    assert updated["results"][0]["content"] == "Ask [email]"
    assert updated["notices"] == ["redacted in the memory: 1 e-mail address"]
    assert leaks(tmp_path, FakeProvider()) == []


async def test_the_words_of_stored_data_stay_as_they_are_by_default(tmp_path: Path) -> None:
    async with serving(tmp_path, FakeProvider(), tools=LOG) as client:
        ann = Chatbot(client)
        there = {"conversationId": await ann.created(title=CARD)}
        stored = await ann("store_message", **there, role="user", content=KEY, metadata={"mail": MAIL})
        page = json.dumps(await ann("fetch_conversation_history", **there))
    assert KEY in page
    assert MAIL in page
    assert "notices" not in stored
