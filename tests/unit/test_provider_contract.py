"""What every provider of the catalog keeps to: a new one is tested by being listed."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from pkgutil import resolve_name
from typing import cast, get_args

import pytest

from conversation_mcp.providers.base import Mode, Provider
from conversation_mcp.providers.catalog import PROVIDERS, BuildProvider, ProviderContext, build_providers
from conversation_mcp.providers.http import LazyClient
from conversation_mcp.settings import Settings

Build = Callable[[str], Provider | None]


def settings(folder: Path, **values: object) -> Settings:
    return Settings.model_validate({"logs_dir": folder / "conversation-logs", **values})


@pytest.fixture
def configured(tmp_path: Path) -> ProviderContext:
    (tmp_path / "note.md").write_text("# A note\n\nSomething about trees.\n")
    return ProviderContext(
        settings(tmp_path, perplexity_api_key="pplx-0123456789", documents=[tmp_path / "note.md"]), LazyClient()
    )


@pytest.fixture(params=PROVIDERS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def build(name: str) -> BuildProvider:
    return cast("BuildProvider", resolve_name(PROVIDERS[name]))


@pytest.fixture
def provider(build: BuildProvider, configured: ProviderContext) -> Provider:
    built = build(configured)
    assert built is not None
    return built


def test_a_provider_that_is_not_configured_is_none(build: BuildProvider, tmp_path: Path) -> None:
    assert build(ProviderContext(settings(tmp_path), LazyClient())) is None


def test_the_name_is_the_key_of_the_catalog(provider: Provider, name: str) -> None:
    assert provider.name == name


def test_a_provider_can_do_something_and_nothing_unheard_of(provider: Provider) -> None:
    assert provider.abilities
    assert provider.abilities <= set(get_args(Mode))


def test_no_provider_takes_a_name_that_is_nobodys(provider: Provider) -> None:
    assert not any(provider.serves(model) for model in ("", " ", "nonsense", "no/../where", "a\nb/c", "/", "x/"))


def test_no_two_providers_take_the_same_name(configured: ProviderContext) -> None:
    providers = list(build_providers(configured))
    for model in ("local", "fast", "xhigh", "fast@2026-10-16.0", "perplexity/sonar", "openai/gpt-6-luna"):
        assert len([provider for provider in providers if provider.serves(model)]) == 1, model


def test_the_catalog_builds_in_its_own_order(configured: ProviderContext) -> None:
    assert [provider.name for provider in build_providers(configured)] == list(PROVIDERS)


def test_building_providers_loads_no_http_client() -> None:
    script = (
        "import sys\nfrom conversation_mcp.providers import http, local, perplexity\n"
        "sys.exit(', '.join(name for name in ('httpx', 'mcp') if name in sys.modules) or None)"
    )
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False).stderr == ""
