"""What every test runs under: one event loop, which nothing may block, and no settings of the machine it runs on."""

import os
from collections.abc import Iterator
from itertools import count
from math import ceil
from pathlib import Path

import pytest
from blockbuster import BlockBuster
from hypothesis import HealthCheck, settings

from conversation_mcp.settings import Settings
from conversation_mcp.sources import provider_settings, variable_of

OWN_PREFIX = "CONVERSATION_"
OWN_VARIABLES = {
    *(variable_of(name) for name in Settings.model_fields),
    *(variable for one in provider_settings() for variable in one.variables),
}
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")

settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", settings.get_profile("any machine"), max_examples=20)
settings.register_profile("fuzz", settings.get_profile("any machine"), derandomize=False, max_examples=1000)
settings.load_profile("any machine")


SECONDS, SLOW_SECONDS = 0.03, 0.5
"""What a test takes on two quiet cores, on average: a unit test, and one that is marked slow or goes through a client."""


def pytest_report_collectionfinish(items: list[pytest.Item]) -> str:
    """Say how long so many tests will take."""
    slow = sum(item.get_closest_marker("slow") is not None or "e2e" in item.path.parts for item in items)
    minutes = ceil(((len(items) - slow) * SECONDS + slow * SLOW_SECONDS) / 60)
    return f"{len(items):,} tests, {slow:,} of them slow: about {minutes} min on two quiet cores"


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
