"""Encrypted files: nothing is readable, nothing changed passes, and keys are told apart."""

import json
from base64 import b64encode
from pathlib import Path

import pytest
from tests.fixtures.encrypted_store import KEY
from tests.fixtures.sealing import OTHER_KEY, WORDS, filled, holding, opened, stored_bytes
from tests.fixtures.stores import appended, started

from conversation_mcp.errors import (
    ConversationCorruptedError,
    ConversationMCPError,
    EncryptionKeyError,
    KeyMissingError,
    WrongKeyError,
)
from conversation_mcp.records.hashes import hash_of
from conversation_mcp.sealing.keys import Encryption
from conversation_mcp.stores.base import Call


async def test_no_word_is_readable_in_any_file_and_all_are_read_back(tmp_path: Path) -> None:
    store = opened(tmp_path)
    conversation_id = await filled(store)
    other = await filled(store)
    await store.trash.put(other)
    await store.calls.claim("pomegranate", Call(conversation_id, "2026-01-31T00:00:00.000Z"))
    assert holding(tmp_path, *WORDS) == []
    again = opened(tmp_path)
    assert [message.content for message in (await again.load(conversation_id)).messages][::2] == [
        "Is a pomegranate a berry?",
        "And the quarterly pomegranate?",
    ]
    content = b"the quarterly figures"
    assert await again.attachments.get(conversation_id, [hash_of(content)]) == {hash_of(content): content}
    assert await again.attachments.sizes(conversation_id) == {hash_of(content): len(content)}
    (trashed,) = await again.trash.entries()
    assert (await again.trash.load(trashed)).messages[0].content == "Is a pomegranate a berry?"
    found = await again.calls.find("pomegranate")
    assert found is not None
    assert found.conversation_id == conversation_id
    assert await opened(tmp_path, KEY).calls.find("apple") is None


async def test_the_file_stays_json_with_the_facts_of_lists_if_only_messages_are_encrypted(tmp_path: Path) -> None:
    for extent, facts in (("all", set[str]()), ("messages", {"title", "createdAt", "updatedAt", "messageCount"})):
        store = opened(tmp_path / extent, extent=extent)  # pyright: ignore[reportArgumentType] -- one of the two above
        conversation_id = await filled(store)
        await store.update(conversation_id, lambda stored, _: stored.changed(title="Fruit"))
        data = json.loads(Path(store.location(conversation_id)).read_bytes())
        assert data.keys() == {"conversationId", "encrypted"} | facts
        assert data["encrypted"].keys() == {"version", "keyId", "nonce", "text"}
        assert data["conversationId"] == conversation_id
        assert data.get("title") == ("Fruit" if facts else None)
        assert holding(tmp_path / extent, *WORDS) == []


async def test_each_write_has_a_nonce_and_each_conversation_a_key_of_its_own(tmp_path: Path) -> None:
    store = opened(tmp_path)
    first, second = await started(store, "Same?"), await started(store, "Same?")
    seen = set[str]()
    for _ in range(20):
        await store.update(first, lambda stored, _: stored)
        seen.add(json.loads(Path(store.location(first)).read_bytes())["encrypted"]["nonce"])
    assert len(seen) == 20
    ids = {json.loads(Path(store.location(each)).read_bytes())["encrypted"]["keyId"] for each in (first, second)}
    assert len(ids) == 2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["conversation.json", "key.json"])
async def test_any_flipped_bit_is_noticed_or_changes_nothing(tmp_path: Path, name: str) -> None:
    store = opened(tmp_path, extent="messages")
    conversation_id = await started(store, "Hi?")
    path = Path(store.location(conversation_id)).with_name(name)
    whole = path.read_bytes()
    before = await store.load(conversation_id)
    noticed = 0
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        try:
            assert await opened(tmp_path).load(conversation_id) == before
        except ConversationCorruptedError:
            noticed += 1
        except WrongKeyError:
            assert name == "key.json"  # the id of the master key is damaged besides
    assert noticed > len(whole) * 0.6
    path.write_bytes(whole)
    assert await opened(tmp_path).load(conversation_id) == before


async def test_a_flipped_bit_of_a_content_makes_it_missing(tmp_path: Path) -> None:
    store = opened(tmp_path)
    conversation_id = await started(store, "Hi?")
    name = hash_of(b"bytes")
    await store.attachments.put(conversation_id, {name: b"bytes"})
    path = Path(store.location(conversation_id)).parent / "files" / name
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert await opened(tmp_path).attachments.get(conversation_id, [name]) == {}


async def test_what_is_sealed_cannot_stand_for_another_conversation_or_another_owner(tmp_path: Path) -> None:
    store = opened(tmp_path)
    first, second = await started(store, "First?"), await started(store, "Second?")
    theirs = Path(store.location(second)).parent
    for name in ("conversation.json", "key.json"):
        (theirs / name).write_bytes((Path(store.location(first)).parent / name).read_bytes())
    with pytest.raises(ConversationCorruptedError):
        await opened(tmp_path).load(second)
    with pytest.raises(ConversationCorruptedError):
        await opened(tmp_path, owner="alice").load(first)


async def test_a_wrong_key_says_so_and_writes_nothing(tmp_path: Path) -> None:
    conversation_id = await filled(opened(tmp_path))
    before = dict(stored_bytes(tmp_path))
    store = opened(tmp_path, OTHER_KEY)
    name = hash_of(b"the quarterly figures")
    for step in (
        lambda: store.load(conversation_id),
        lambda: store.update(conversation_id, appended("more")),
        store.reserve,
        lambda: store.attachments.get(conversation_id, [name]),
        lambda: store.attachments.put(conversation_id, {hash_of(b"x"): b"x"}),
        lambda: store.calls.find("name"),
    ):
        with pytest.raises(WrongKeyError, match="another key") as caught:
            await step()
        assert KEY not in repr(caught.value) + caught.value.sentence()
    after = {path: data for path, data in stored_bytes(tmp_path) if ".locks" not in path.parts}
    assert after == {path: data for path, data in before.items() if ".locks" not in path.parts}
    assert (await opened(tmp_path).load(conversation_id)).message_count == 3


async def test_without_a_key_an_encrypted_folder_is_neither_read_nor_written(tmp_path: Path) -> None:
    conversation_id = await filled(opened(tmp_path))
    store = opened(tmp_path, None)
    for step in (
        lambda: store.load(conversation_id),
        lambda: store.update(conversation_id, appended("more")),
        store.reserve,
        lambda: store.keep_export(conversation_id, ".md", "words"),
    ):
        with pytest.raises(KeyMissingError, match="no key is set"):
            await step()
    assert holding(tmp_path, "more", "words") == []


async def test_what_was_there_before_is_read_as_it_is_and_sealed_when_it_is_written(tmp_path: Path) -> None:
    conversation_id = await filled(opened(tmp_path, None))
    store = opened(tmp_path)
    name = hash_of(b"the quarterly figures")
    assert (await store.load(conversation_id)).message_count == 3
    assert await store.attachments.get(conversation_id, [name]) == {name: b"the quarterly figures"}
    await store.update(conversation_id, appended("And now?"))
    assert holding(tmp_path, "pomegranate") == []
    assert (await opened(tmp_path).load(conversation_id)).message_count == 4


async def test_a_later_key_still_opens_what_it_wrapped(tmp_path: Path) -> None:
    conversation_id = await filled(opened(tmp_path))
    both = opened(tmp_path, f"{OTHER_KEY},{KEY}")
    assert (await both.load(conversation_id)).message_count == 3
    second = await started(both, "New?")
    assert (await opened(tmp_path, OTHER_KEY).load(second)).message_count == 1


@pytest.mark.parametrize("text", ["", "short", b64encode(bytes(31)).decode(), KEY[:-1], f"{KEY} x"])
def test_what_is_no_key_is_refused_and_not_shown(text: str) -> None:
    encryption = Encryption(text, None)
    with pytest.raises(EncryptionKeyError, match="encryption key") as caught:
        assert encryption.masters
    assert not text or text not in caught.value.sentence()


def test_a_key_file_is_read_and_its_absence_is_told(tmp_path: Path) -> None:
    path = tmp_path / "key"
    with pytest.raises(EncryptionKeyError, match="cannot be read"):
        assert Encryption(None, path).masters
    path.write_text(f"{KEY}\n{OTHER_KEY}\n")
    masters = Encryption(None, path).masters
    assert [master.key_id for master in masters] == [
        Encryption(each, None).masters[0].key_id for each in (KEY, OTHER_KEY)
    ]
    assert KEY not in repr(masters) + repr(Encryption(KEY, None))


async def test_a_conversation_whose_key_is_gone_is_corrupted_and_can_be_deleted(tmp_path: Path) -> None:
    store = opened(tmp_path)
    conversation_id = await filled(store)
    Path(store.location(conversation_id)).with_name("key.json").unlink()
    with pytest.raises(ConversationCorruptedError):
        await opened(tmp_path).load(conversation_id)
    trashed = await store.trash.put(conversation_id)
    assert await store.trash.remove(trashed)
    assert not await store.exists(conversation_id)


async def test_what_is_deleted_needs_no_key(tmp_path: Path) -> None:
    conversation_id = await filled(opened(tmp_path))
    store = opened(tmp_path, None)
    trashed = await store.trash.put(conversation_id)
    assert not await store.trash.remove(trashed)
    with pytest.raises(ConversationMCPError):
        await store.load(conversation_id)
