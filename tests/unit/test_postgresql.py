"""What only the store in PostgreSQL has: leases and fences, walls between owners, tables with a version."""

import json
from datetime import timedelta

import psycopg
import pytest
from anyio import to_thread
from tests.fixtures.databases import PostgreSQL
from tests.fixtures.hostile import WHOLE
from tests.fixtures.numbered import Numbered
from tests.fixtures.stores import UNKNOWN, Clock, appended, conversation, ignore, started, texts_of

from conversation_mcp.errors import (
    ConversationNotFoundError,
    DatabaseError,
    InvalidInputError,
    TurnLostError,
)
from conversation_mcp.records.codec import encode, head_of, text_of
from conversation_mcp.records.facts import describe
from conversation_mcp.records.found import Wanted
from conversation_mcp.records.models import Conversation, ConversationId, Message
from conversation_mcp.records.parts import joined, message_bytes, whole_bytes
from conversation_mcp.stores.base import Change, Store
from conversation_mcp.stores.catalog import open_store, open_tables
from conversation_mcp.stores.postgresql import writing

EXPIRED = "UPDATE leases SET expires_at = clock_timestamp() - interval '1 second'"


@pytest.fixture
def store(postgresql_url: str, clock: Clock) -> Store:
    return open_store(postgresql_url, clock, is_durable=False)


@pytest.fixture
def other(postgresql_url: str, clock: Clock) -> Store:
    """The same conversations, as another machine has them."""
    return open_store(postgresql_url, clock, is_durable=False)


def as_owner(postgresql_url: str, sql: str, owner: str = "local") -> list[tuple[object, ...]]:
    with psycopg.connect(postgresql_url) as connection:
        connection.execute("SELECT set_config('conversation_mcp.owner', %s, true)", (owner,))
        found = connection.execute(sql.encode())
        rows = found.fetchall() if found.description else []
    connection.close()
    return rows


def lapse(postgresql_url: str) -> None:
    """Let every lease lapse, as when its process was suspended for long."""
    as_owner(postgresql_url, EXPIRED)


async def test_a_turn_of_a_process_that_is_not_heard_of_is_taken_over(
    postgresql_url: str, store: Store, other: Store
) -> None:
    conversation_id = await started(store)
    await store.acquire_turn(conversation_id, 0, ignore)
    assert await other.turn_is_held(conversation_id)
    await to_thread.run_sync(lapse, postgresql_url)
    assert not await other.turn_is_held(conversation_id)
    await (await other.acquire_turn(conversation_id, 0, ignore)).release()


async def test_who_has_lost_the_turn_writes_nothing_and_frees_nothing(
    postgresql_url: str, store: Store, other: Store
) -> None:
    conversation_id = await started(store)
    lost = await store.acquire_turn(conversation_id, 0, ignore)
    await to_thread.run_sync(lapse, postgresql_url)
    mine = await other.acquire_turn(conversation_id, 0, ignore)
    with pytest.raises(TurnLostError, match="another process has taken over the turn"):
        await store.update(conversation_id, appended("late"))
    await lost.release()
    assert await other.turn_is_held(conversation_id)
    await other.update(conversation_id, appended("mine"))
    await mine.release()
    assert texts_of(await store.load(conversation_id)) == ["Hello?", "mine"]
    await store.update(conversation_id, appended("a later turn"))


async def test_a_lease_that_lapsed_and_that_nobody_took_still_lets_its_holder_write(
    postgresql_url: str, store: Store
) -> None:
    conversation_id = await started(store)
    turn = await store.acquire_turn(conversation_id, 0, ignore)
    await to_thread.run_sync(lapse, postgresql_url)
    await store.update(conversation_id, appended("paid for"))
    await turn.release()
    assert texts_of(await store.load(conversation_id)) == ["Hello?", "paid for"]


async def test_a_lease_is_renewed_while_it_is_held(
    postgresql_url: str, store: Store, other: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conversation_mcp.stores.leases.RENEW_SECONDS", 0.01)
    conversation_id = await started(store)
    turn = await store.acquire_turn(conversation_id, 0, ignore)
    await to_thread.run_sync(lapse, postgresql_url)
    while not await other.turn_is_held(conversation_id):
        pass
    await turn.release()
    assert not await other.turn_is_held(conversation_id)


async def test_row_level_security_hides_other_owners_from_a_statement_without_a_condition(
    postgresql_url: str, store: Store, clock: Clock
) -> None:
    await started(store)
    await started(open_store(postgresql_url, clock, "alice", is_durable=False), "Secret?")
    for table in ("conversations", "messages", "words"):
        seen = await to_thread.run_sync(as_owner, postgresql_url, f"SELECT DISTINCT owner FROM {table}", "alice")
        assert seen == [("alice",)]
        assert await to_thread.run_sync(as_owner, postgresql_url, f"SELECT * FROM {table}", "") == []
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        await to_thread.run_sync(as_owner, postgresql_url, "INSERT INTO leases VALUES ('alice', 'x', 1, now())", "bob")


async def test_an_answer_writes_its_own_rows_and_leaves_those_before_alone(postgresql_url: str, store: Store) -> None:
    conversation_id = await store.reserve()
    await store.create(conversation(conversation_id, *map(str, range(50))))
    written = "SELECT xmin::text, number FROM messages ORDER BY number"
    before = await to_thread.run_sync(as_owner, postgresql_url, written)
    await store.update(conversation_id, appended("more"))
    assert (await to_thread.run_sync(as_owner, postgresql_url, written))[:-1] == before


async def test_an_answer_looks_into_no_message_before_it(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    conversation_id = await store.reserve()
    await store.create(conversation(conversation_id, *map(str, range(50))))
    seen: list[str] = []

    def watched(message: Message) -> str:
        seen.append(message.content)
        return text_of(message)

    monkeypatch.setattr(writing, "text_of", watched)
    await store.update(conversation_id, appended("more"))
    assert seen == ["more"]


def edited(stored: Conversation, _now: str) -> Conversation:
    return stored.changed(
        messages=(*stored.messages[:3], Message(role="system", content="plums"), *stored.messages[4:])
    )


def shortened(stored: Conversation, _now: str) -> Conversation:
    return stored.changed(messages=stored.messages[:2])


def made_a_branch(stored: Conversation, _now: str) -> Conversation:
    return stored.changed(parent={"conversationId": UNKNOWN, "messageCount": 3}, title="pears")


def cleaned(stored: Conversation, _now: str) -> Conversation:
    return stored.changed(messages=(*stored.messages, Message(role="user", content="figs \ud800")))


@pytest.mark.parametrize("change", [appended("pears"), edited, shortened, made_a_branch, cleaned])
@pytest.mark.parametrize("is_fresh", [True, False])
async def test_the_facts_and_words_kept_beside_a_conversation_are_those_of_its_file(
    store: Store, other: Store, change: Change, *, is_fresh: bool
) -> None:
    conversation_id = await store.reserve()
    await store.create(Conversation.model_validate({**WHOLE, "conversationId": conversation_id}, by_alias=True))
    for text in ("apples", "nuts", "figs"):
        await store.update(conversation_id, appended(text))
    await (other if is_fresh else store).update(conversation_id, change)
    await store.update(conversation_id, appended("grapes"))
    body = await to_thread.run_sync(store.finder.read, conversation_id)
    expected = describe(body, "", conversation_id)
    [listed] = await to_thread.run_sync(lambda: list(store.finder.facts([conversation_id])))
    assert listed == expected.facts
    for word in ("apples", "nuts", "figs", "pears", "plums", "grapes"):
        page = await to_thread.run_sync(store.finder.page, Wanted(word), 9)
        assert bool(page.found) == any(word in text for text in expected.texts.values()), word


async def test_a_conversation_that_another_machine_wrote_is_read_again(store: Store, other: Store) -> None:
    conversation_id = await started(store)
    await store.load(conversation_id)
    await other.update(conversation_id, lambda stored, _: stored.changed(messages=stored.messages[:0], title="New"))
    loaded = await store.load(conversation_id)
    assert (loaded.title, loaded.messages) == ("New", ())


@pytest.mark.parametrize("count", [0, 1, 3])
def test_the_parts_of_a_conversation_are_joined_to_the_bytes_of_its_file(count: int) -> None:
    whole = Conversation.model_validate_json(json.dumps(WHOLE))
    whole = whole.changed(messages=(whole.messages * 3)[:count], message_count=count, note={"mine": [None, 1e-7]})
    head, texts = head_of(whole), [text_of(message) for message in whole.messages]
    assert joined(head, texts) == encode(whole)
    assert whole_bytes(head, sum(map(message_bytes, texts))) == len(encode(whole))


def test_searches_rank_and_show_as_the_index_of_a_folder_does(
    postgresql_url: str, clock: Clock, tmp_path: object
) -> None:
    shelves = [
        Numbered(open_store(each, clock, is_durable=False)) for each in (postgresql_url, f"file://{tmp_path}/logs")
    ]
    texts = [
        "getUserName returns the user's name", "The user names a tree. " * 3, "names of trees, walking in the woods",
        "Bäume und 日本語のテキスト", "he walked home; walks, walker", "user user user", "nothing at all of it " * 20,
        "a b a b a, and once more: a b a b a; walk walking walk walked walk, trees trees trees", "user name user named",
    ]  # fmt: skip
    for shelf in shelves:
        for number, text in enumerate(texts):
            shelf.put(number, text, f"An answer to {text}", title=f"On {text[:12]}")
    queries = [
        "user name",
        "walk",
        '"user names"',
        "wal*",
        "日本",
        '"user" tree',
        "baum*",
        "getUserName",
        "of",
        "it -x",
        '"a b a"',
        '"trees trees"',
        '"user name user*"',
        '"walk" trees',
    ]
    for query in queries:
        here, there = (
            [(found.conversation_id, found.message_number, found.snippet) for found in shelf.found(query)]
            for shelf in shelves
        )
        assert here == there, query


def test_a_database_that_is_away_is_said_so_without_its_password(clock: Clock) -> None:
    store = open_store("postgresql://me:secret@127.0.0.1:1/logs", clock)
    with pytest.raises(DatabaseError) as raised:
        store.finder.ids()
    assert raised.value.message.startswith("postgresql://127.0.0.1:1/logs: the database cannot be reached")
    assert "secret" not in str(raised.value)


async def test_a_connection_that_broke_meanwhile_is_replaced(database: PostgreSQL, store: Store) -> None:
    conversation_id = await started(store)
    ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'conversations'"
    await to_thread.run_sync(database.admin, ended)
    await store.update(conversation_id, appended("more"))
    assert texts_of(await store.load(conversation_id)) == ["Hello?", "more"]


async def test_what_was_restored_from_the_trash_is_found_by_its_words_again(store: Store) -> None:
    shelf = await started(store, "apples?")
    trashed = await store.trash.put(shelf)
    await store.trash.restore(trashed)
    with pytest.raises(ConversationNotFoundError):
        await store.trash.restore(trashed)
    found = await to_thread.run_sync(lambda: store.finder.page(Wanted("apples"), 9).found)
    assert [each.conversation_id for each in found] == [shelf]


async def test_ids_that_were_never_used_are_swept(store: Store, clock: Clock) -> None:
    unused = await store.reserve()
    clock.moment += timedelta(hours=2)
    await store.sweep()
    assert await store.reserve_this(ConversationId(unused))


def test_an_address_that_is_none_and_a_store_without_tables_are_refused(clock: Clock) -> None:
    with pytest.raises(InvalidInputError, match="must be a URL such as postgresql:"):
        open_store("postgresql://[", clock)
    with pytest.raises(InvalidInputError, match="no tables"):
        open_tables("file:///logs")
