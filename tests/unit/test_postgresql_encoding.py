"""A PostgreSQL database that keeps its texts in another encoding than UTF-8."""

from collections.abc import Iterator

import pytest
from tests.fixtures.databases import PostgreSQL
from tests.fixtures.stores import Clock, appended, started, texts_of

from conversation_mcp.errors import DatabaseError
from conversation_mcp.stores.catalog import open_store, open_tables


@pytest.fixture
def latin_url(database: PostgreSQL) -> Iterator[str]:
    """The URL of a database whose letters are those of western Europe."""
    database.admin("CREATE DATABASE latin OWNER conversations ENCODING 'LATIN1' TEMPLATE template0")
    url = database.url("latin")
    open_tables(url).migrate()
    yield url
    database.drop(url)


async def test_a_database_of_another_encoding_keeps_the_letters_that_it_has_and_refuses_others(
    latin_url: str, clock: Clock
) -> None:
    store = open_store(latin_url, clock)
    conversation_id = await started(store)
    await store.update(conversation_id, appended("Gr\u00fc\u00dfe"))
    with pytest.raises(DatabaseError, match="22P05"):
        await store.update(conversation_id, appended("\u8a9e"))
    assert texts_of(await open_store(latin_url, clock).load(conversation_id)) == ["Hello?", "Gr\u00fc\u00dfe"]
