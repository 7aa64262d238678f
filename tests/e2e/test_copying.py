"""The command `copy`, from every store into a folder and back: everything comes along, and a stopped one goes on."""

import json
from datetime import UTC, datetime
from pathlib import Path

import anyio
import pytest
from tests.fixtures.attached import CONTENTS, stored_with_files
from tests.fixtures.cli import Here, answered
from tests.fixtures.encrypted_store import ADAPTER, KEY, SCHEME
from tests.fixtures.folders import ID
from tests.fixtures.homes import Home

from conversation_mcp.clock import utc_now
from conversation_mcp.conversations.copier import Copier
from conversation_mcp.records.audit import checked
from conversation_mcp.records.codec import encode
from conversation_mcp.records.models import Conversation, ConversationId
from conversation_mcp.stores.base import Store
from conversation_mcp.stores.catalog import STORES, open_audit, open_retention, open_store

OTHER = "20260201-1769904000000"
OWNERS = ("local", "alice")
DELETED_AT = datetime(2026, 1, 31, 12, 0, 0, 123_000, tzinfo=UTC)


@pytest.fixture
def folder(tmp_path: Path) -> Home:
    """An empty place to copy to."""
    return Home(tmp_path / "copy", (tmp_path / "copy" / "logs").as_uri())


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, home: Home) -> Here:
    monkeypatch.chdir(home.folder)
    return Here(capsys, monkeypatch, home)


@pytest.fixture
def filled(home: Home) -> Home:
    """For two owners: a conversation, one with files, and one with files in the trash."""

    async def fill(owner: str, store: Store) -> None:
        await store.reserve_this(ConversationId(ID))
        await store.create(Conversation.model_validate(answered(ID, title=f"Of {owner}"), by_alias=True))
        await stored_with_files(store)
        await store.trash.put(await stored_with_files(store), DELETED_AT)

    for owner in OWNERS:
        anyio.run(fill, owner, open_store(home.store_url, utc_now, owner, is_durable=False))
    return home


def seen(url: str) -> dict[str, object]:
    """Return all that the owners have in a store."""

    async def look(store: Store, ids: list[ConversationId]) -> dict[str, object]:
        found: dict[str, object] = {}
        for conversation_id in ids:
            sizes = await store.attachments.sizes(conversation_id)
            contents = await store.attachments.get(conversation_id, sizes)
            found[conversation_id] = encode(await store.load(conversation_id)), dict(contents)
        for trashed in await store.trash.entries():
            contents = await store.trash.contents(trashed, CONTENTS)
            found[f"trash/{trashed.conversation_id}/{trashed.deleted_at}"] = (
                encode(await store.trash.load(trashed)),
                dict(contents),
            )
        return found

    stores = {owner: open_store(url, utc_now, owner) for owner in OWNERS}
    return {owner: anyio.run(look, store, store.finder.ids()) for owner, store in stores.items()}


def test_everything_of_all_owners_is_copied_and_back_again(
    here: Here, filled: Home, folder: Home, tmp_path: Path
) -> None:
    there = seen(filled.store_url)
    open_retention(filled.store_url).put("alice", "90d")
    copied = here("copy", "--from", filled.store_url, "--to", folder.store_url)
    assert copied.code == 0, copied.err
    assert copied.err.endswith("6 copied.\n")
    assert copied.out.count("\tdeleted\n") == 2
    assert seen(folder.store_url) == there
    assert open_retention(folder.store_url).ages() == {"alice": "90d"}
    noted = [line.data for line in checked(open_audit(filled.store_url, utc_now).lines())]
    assert [(each["owner"], each["action"]) for each in noted] == [("alice", "copy")]
    back = Home(tmp_path, filled.store_url.replace("conversation-logs", "back"))
    if back.store_url != filled.store_url:
        assert here("copy", "--from", folder.store_url, "--to", back.store_url).code == 0
        assert seen(back.store_url) == there
    for direction in ((filled, folder), (folder, filled)):
        again = here("copy", "--from", direction[0].store_url, "--to", direction[1].store_url)
        assert again.err.endswith("6 there already.\n")
    assert seen(folder.store_url) == seen(filled.store_url) == there


def test_a_folder_is_copied_into_every_store(here: Here, home: Home, folder: Home) -> None:
    folder.put(answered(ID))
    done = here("copy", "--from", str(folder.folder / "logs"), "--to", home.store_url)
    assert done.code == 0, done.err
    assert home.body(ID) == folder.body(ID)


def test_a_dry_run_writes_nothing_and_one_owner_is_copied_alone(here: Here, filled: Home, folder: Home) -> None:
    where = ("copy", "--from", filled.store_url, "--to", folder.store_url)
    tried = here(*where, "--dry-run", "--json")
    assert [each["outcome"] for each in json.loads(tried.out)["conversations"]] == ["copied"] * 6
    assert seen(folder.store_url) == {owner: {} for owner in OWNERS}
    assert here(*where, "--owner", "alice").code == 0
    assert seen(folder.store_url) == {"local": {}, "alice": seen(filled.store_url)["alice"]}


def test_what_differs_there_is_left_alone_and_named(here: Here, home: Home, folder: Home) -> None:
    home.put(answered(ID, title="Here"))
    folder.put(answered(ID, title="There"))
    home.put(answered(OTHER))
    done = here("copy", "--from", home.store_url, "--to", folder.store_url)
    assert done.code == 1
    assert done.out == f"different\tlocal\t{ID}\ncopied\tlocal\t{OTHER}\n"
    assert folder.stored(ID)["title"] == "There"


def test_a_copy_that_ended_at_any_step_is_finished_by_the_next(filled: Home, folder: Home) -> None:
    async def copy(source: Store, target: Store) -> list[str | None]:
        return [each.problem async for each in Copier(source, target).run()]

    for owner in OWNERS:
        source = open_store(filled.store_url, utc_now, owner)
        ids = anyio.run(source.trash.entries)
        target = open_store(folder.store_url, utc_now, owner, is_durable=False)
        anyio.run(target.reserve_this, ConversationId(ID))  # before the conversation was written
        deleted = anyio.run(source.trash.load, ids[0])
        anyio.run(target.reserve_this, ConversationId(deleted.conversation_id))
        anyio.run(target.create, deleted)  # before it was put into the trash
        assert anyio.run(copy, source, target) == [None] * 3
    assert seen(folder.store_url) == seen(filled.store_url)


def test_what_is_encrypted_is_copied_with_the_key_of_the_settings_and_stays_sealed_in_folders(
    here: Here, filled: Home, folder: Home, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    there = seen(filled.store_url)
    monkeypatch.setenv("CONVERSATION_MCP_ENCRYPTION_KEY", KEY)
    assert here("copy", "--from", filled.store_url, "--to", folder.store_url).code == 0
    stored = [*(folder.folder / "logs").rglob("conversation.json")]
    assert len(stored) == 6
    assert not any(b"B-tree" in each.read_bytes() for each in stored)
    monkeypatch.setitem(STORES, SCHEME, ADAPTER)
    sealed = folder.store_url.replace("file:", f"{SCHEME}:", 1)
    assert seen(sealed) == there
    again = here("copy", "--from", folder.store_url, "--to", filled.store_url)
    assert (again.code, again.err) == (0, "6 there already.\n")
    monkeypatch.delenv("CONVERSATION_MCP_ENCRYPTION_KEY")
    refused = here("copy", "--from", folder.store_url, "--to", (tmp_path / "other").as_uri())
    assert refused.code == 1
    assert "is encrypted, and no key is set" in refused.err
    assert not [*(tmp_path / "other").rglob("conversation.json")]


def test_a_place_is_not_copied_into_itself(here: Here, home: Home) -> None:
    done = here("copy", "--from", home.store_url, "--to", home.store_url)
    assert done.code == 2
    assert "the same place" in done.err
