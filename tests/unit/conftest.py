"""What the contract suites of stores begin with; other tests have stores and clocks of their own."""

import pytest
from tests.fixtures.stores import Clock, NewStore

from conversation_mcp.stores.base import Store
from conversation_mcp.stores.catalog import open_store


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def new_store(store_url: str, clock: Clock) -> NewStore:
    return lambda: open_store(store_url, clock)


@pytest.fixture
def store(new_store: NewStore) -> Store:
    return new_store()


@pytest.fixture(params=["this process", "another process"])
def rival(request: pytest.FixtureRequest, store: Store, new_store: NewStore) -> Store:
    """Somebody else who wants a turn lock or the name of a call."""
    return store if request.param == "this process" else new_store()
