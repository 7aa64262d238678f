"""What every test runs under: one event loop, which nothing may block, and no settings of the machine it runs on."""

import os
import signal
from collections.abc import Iterator
from itertools import count
from math import ceil
from pathlib import Path
from typing import Any

import pytest
from blockbuster import BlockBuster
from hypothesis import HealthCheck, settings
from tests.fixtures import encrypted_store
from tests.fixtures.databases import PostgreSQL, is_installed, postgresql, require_database
from tests.fixtures.encrypted_store import SCHEME
from tests.fixtures.homes import Home
from tests.fixtures.memory_store import memory
from tests.fixtures.memory_store.memory import MEMORIES
from tests.fixtures.stores import SERVERS
from tests.fixtures.valkey import Valkey, binary, require_valkey, valkey

from conversation_mcp.settings import Settings
from conversation_mcp.sources import provider_settings, variable_of
from conversation_mcp.stores.catalog import STORES

OWN_PREFIX = "CONVERSATION_"
OWN_VARIABLES = {
    *(variable_of(name) for name in Settings.model_fields),
    *(variable for one in provider_settings() for variable in one.variables),
}
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell starts what runs in its background
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
QUICK = settings(settings.get_profile("any machine"), max_examples=20)
settings.register_profile("quick", QUICK)
settings.register_profile("fuzz", settings.get_profile("any machine"), derandomize=False, max_examples=1000)
settings.load_profile("any machine")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what runs on another store than files, so that `make unit` can leave it to `make test`, and keep that quick."""
    for item in items:
        if settings().max_examples == QUICK.max_examples:
            _keep_quick(item)
        used = item.fixturenames if isinstance(item, pytest.Function) else []
        params = (
            item.callspec.params.values() if isinstance(item, pytest.Function) and hasattr(item, "callspec") else ()
        )
        if any(fixture in used for fixture in SERVERS.values()) or any(
            scheme in params for scheme in (*SERVERS, "memory", SCHEME)
        ):
            item.add_marker("stores")


def _keep_quick(item: pytest.Item) -> None:
    """Let a property have no more examples than the profile says, also where its own settings name more."""
    test: Any = getattr(item, "obj", None)
    own: settings | None = getattr(test, "_hypothesis_internal_use_settings", None)
    if own and own.max_examples > QUICK.max_examples:
        test._hypothesis_internal_use_settings = settings(own, max_examples=QUICK.max_examples)


SECONDS, SLOW_SECONDS = 0.04, 0.73
"""What a test takes on a quiet machine, on average: a unit test, and one that is marked slow or goes through a client."""


def pytest_report_collectionfinish(items: list[pytest.Item]) -> str:
    """Say how long so many tests will take."""
    slow = sum(item.get_closest_marker("slow") is not None or "e2e" in item.path.parts for item in items)
    minutes = ceil(((len(items) - slow) * SECONDS + slow * SLOW_SECONDS) / 60)
    return f"{len(items):,} tests, {slow:,} of them slow: about {minutes} min on a quiet machine"


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session", autouse=True)
def _free_event_loop() -> Iterator[None]:
    blocker = BlockBuster("conversation_mcp")
    blocker.activate()
    yield
    blocker.deactivate()


@pytest.fixture(scope="session")
def _homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Yield paths that nothing stands at; to make a folder for each test takes longer than many a test."""
    folder = tmp_path_factory.mktemp("homes")
    return (folder / str(number) for number in count())


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch, _homes: Iterator[Path]) -> None:
    for name in list(os.environ):
        if name.startswith(OWN_PREFIX) or name in OWN_VARIABLES or name in PROXIES:
            monkeypatch.delenv(name)
    home = next(_homes)
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(home / name.lower()))


def _is_wanted(request: pytest.FixtureRequest, fixture: str, scheme: str) -> bool:
    """Tell whether a test of this session needs a server."""
    return any(
        fixture in item.fixturenames or (hasattr(item, "callspec") and scheme in item.callspec.params.values())
        for item in request.session.items
        if isinstance(item, pytest.Function)
    )


@pytest.fixture(scope="session", autouse=True)
def _database_server(request: pytest.FixtureRequest) -> Iterator[PostgreSQL | None]:
    """Run a database server if a test of this session needs one, before any test begins: not each may start processes."""
    if not _is_wanted(request, "database", "postgresql") or not is_installed():
        yield None
        return
    with postgresql() as server:
        yield server


@pytest.fixture(scope="session", autouse=True)
def _valkey_server(request: pytest.FixtureRequest) -> Iterator[Valkey | None]:
    """Run a Valkey server in the same way."""
    if not _is_wanted(request, "valkey_server", "redis") or binary() is None:
        yield None
        return
    with valkey() as server:
        yield server


@pytest.fixture
def valkey_server(_valkey_server: Valkey | None) -> Valkey:
    """The Valkey server; the test is skipped where it cannot be installed."""
    require_valkey()
    assert _valkey_server
    return _valkey_server


@pytest.fixture
def database(_database_server: PostgreSQL | None) -> PostgreSQL:
    """The database server; the test is skipped where it cannot be installed."""
    require_database()
    assert _database_server
    return _database_server


@pytest.fixture
def postgresql_url(database: PostgreSQL) -> Iterator[str]:
    """An empty database."""
    yield from _one_database(database)


@pytest.fixture
def redis_url(valkey_server: Valkey) -> Iterator[str]:
    """An empty database of the Valkey server."""
    yield from _one_database(valkey_server)


@pytest.fixture(params=[*STORES, "memory", SCHEME])
def store_url(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An empty place for conversations, in each store that is listed and in two that only the tests list."""
    scheme: str = request.param
    if scheme in SERVERS:
        yield from _one_database(request.getfixturevalue(SERVERS[scheme]))
        return
    monkeypatch.setitem(STORES, "memory", memory.ADAPTER)
    monkeypatch.setitem(STORES, SCHEME, encrypted_store.ADAPTER)
    yield f"{scheme}://{tmp_path}/conversation-logs"
    for place in [place for place in MEMORIES if place[0].startswith(f"memory://{tmp_path}/")]:
        del MEMORIES[place]


@pytest.fixture(params=["file", "postgresql"])
def meant_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An empty place in each store that finds by meaning, too."""
    scheme: str = request.param
    if scheme in SERVERS:
        yield from _one_database(request.getfixturevalue(SERVERS[scheme]))
    else:
        yield f"{scheme}://{tmp_path}/logs"


def _one_database(server: PostgreSQL | Valkey) -> Iterator[str]:
    url = server.database()
    yield url
    server.drop(url)


@pytest.fixture
def home(tmp_path: Path, store_url: str) -> Home:
    """A folder to work in, and conversations in each store."""
    return Home(tmp_path, store_url)
