"""What every test runs under: one event loop, which nothing may block, and no settings of the machine it runs on."""

import os
import signal
from collections.abc import Iterator
from itertools import count
from math import ceil
from pathlib import Path

import pytest
from blockbuster import BlockBuster
from hypothesis import HealthCheck, settings
from tests.fixtures.homes import Home
from tests.fixtures.memory_store.memory import MEMORIES

from conversation_mcp.settings import Settings
from conversation_mcp.sources import provider_settings, variable_of
from conversation_mcp.stores.catalog import STORES, Adapter

OWN_PREFIX = "CONVERSATION_"
OWN_VARIABLES = {
    *(variable_of(name) for name in Settings.model_fields),
    *(variable for one in provider_settings() for variable in one.variables),
}
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell starts what runs in its background
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", settings.get_profile("any machine"), max_examples=20)
settings.register_profile("fuzz", settings.get_profile("any machine"), derandomize=False, max_examples=1000)
settings.load_profile("any machine")


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


@pytest.fixture(autouse=True)
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


@pytest.fixture(params=[*STORES, "memory"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An empty place for conversations, in each store that is listed and in one that only the tests list."""
    scheme: str = request.param
    package = "tests.fixtures.memory_store"
    monkeypatch.setitem(STORES, "memory", Adapter(f"{package}.finder:build", f"{package}.store:build"))
    yield f"{scheme}://{tmp_path}/conversation-logs"
    for url in [url for url in MEMORIES if url.startswith(f"memory://{tmp_path}/")]:
        del MEMORIES[url]


@pytest.fixture
def home(tmp_path: Path, store_url: str) -> Home:
    """A folder to work in, and conversations in each store."""
    return Home(tmp_path, store_url)
