"""What every test runs under: one event loop, which nothing may block, and no settings of the machine it runs on."""

import os
from collections.abc import Iterator

import pytest
from blockbuster import BlockBuster

OWN_PREFIXES = ("CONVERSATION_", "PERPLEXITY_", "MAX_CONVERSATION_TURNS")
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def _free_event_loop() -> Iterator[None]:
    blocker = BlockBuster("conversation_mcp")
    blocker.activate()
    yield
    blocker.deactivate()


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    for name in list(os.environ):
        if name.startswith(OWN_PREFIXES) or name in PROXIES:
            monkeypatch.delenv(name)
    home = tmp_path_factory.mktemp("home")
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(home / name.lower()))
