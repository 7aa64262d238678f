"""What a unit test runs under besides, and what the contract suites of stores begin with.

Only a test that is marked slow starts a process, and a store waits for the disk only where durability is the subject.
"""

import subprocess
from pathlib import Path

import pytest
from tests.fixtures.cli import Here
from tests.fixtures.homes import Home
from tests.fixtures.numbered import Numbered
from tests.fixtures.stores import Clock, NewStore

from conversation_mcp.stores.base import Store
from conversation_mcp.stores.catalog import open_finder, open_store
from conversation_mcp.stores.finder import Finder


@pytest.fixture(autouse=True)
def _no_process_unless_slow(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(process: object, command: object, *_: object, **__: object) -> None:
        raise AssertionError(f"a test that starts a process ({command}) is to be marked slow")

    if request.node.get_closest_marker("slow") is None:
        monkeypatch.setattr(subprocess.Popen, "__init__", refuse)


@pytest.fixture(autouse=True)
def _no_certificates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the client find no certificates, for reading real ones takes longer than a test."""
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setenv("SSL_CERT_DIR", str(Path(__file__).parent))


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, home: Home) -> Here:
    """The command line, on conversations in each store."""
    return Here(capsys, monkeypatch, home)


@pytest.fixture
def new_store(store_url: str, clock: Clock) -> NewStore:
    return lambda: open_store(store_url, clock, is_durable=False)


@pytest.fixture
def store(new_store: NewStore) -> Store:
    return new_store()


@pytest.fixture(params=["this process", "another process"])
def rival(request: pytest.FixtureRequest, store: Store, new_store: NewStore) -> Store:
    """Somebody else who wants a turn lock or the name of a call."""
    return store if request.param == "this process" else new_store()


@pytest.fixture
def shelf(store_url: str, clock: Clock) -> Numbered:
    return Numbered(open_store(store_url, clock, is_durable=False))


@pytest.fixture
def other(store_url: str, clock: Clock) -> Numbered:
    """The same conversations, as another process has them."""
    return Numbered(open_store(store_url, clock, is_durable=False))


@pytest.fixture
def alone(store_url: str, clock: Clock) -> Finder:
    """The finder without its store, as a command opens it that changes nothing."""
    return open_finder(store_url, clock)
