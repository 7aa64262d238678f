"""Input that a provider read from its cache: in whatever words it says so, and what it costs."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.cli import Here, on_terminal, put_conversation
from tests.fixtures.folders import ID

from conversation_mcp.conversations.phrases import charged
from conversation_mcp.conversations.prices import Prices
from conversation_mcp.providers.model_facts import Catalogue
from conversation_mcp.providers.wire.usage import usage
from conversation_mcp.records.usage import Usage
from conversation_mcp.settings import OwnModel

SENT = {"inputTokens": 1_000_000, "outputTokens": 100_000}
ASKED: dict[str, Any] = {"provider": "openai", "model": "gpt-6-sol"}


@pytest.mark.parametrize(
    ("told", "cached"),
    [
        ({"input_tokens": 100, "input_tokens_details": {"cached_tokens": 60}}, 60),
        ({"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 60}}, 60),
        ({"prompt_tokens": 100, "prompt_cache_hit_tokens": 60, "prompt_cache_miss_tokens": 40}, 60),
        ({"input_tokens": 100, "cache_read_input_tokens": 60}, 60),
        ({"input_tokens": 100, "input_tokens_details": {"cache_read_input_tokens": 60}}, 60),
        ({"prompt_tokens": 100, "cached_tokens": 60}, 60),
        ({"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 0}, "prompt_cache_hit_tokens": 60}, 60),
        ({"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 0}}, None),
        ({"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 101}}, None),
        ({"prompt_tokens": 100, "prompt_tokens_details": None, "cached_tokens": "many"}, None),
        ({"prompt_cache_hit_tokens": 60}, None),
    ],
)
def test_cached_input_is_found_in_every_spelling_and_is_never_more_than_was_sent(
    told: dict[str, object], cached: int | None
) -> None:
    found = usage({"usage": told})
    assert (found.cached_input_tokens if found else None) == cached


def estimate(cached: int, **own: float) -> float | None:
    models = {"openai:gpt-6-sol": OwnModel.model_validate(own)} if own else {}
    turn = {**ASKED, "usage": {**SENT, "cachedInputTokens": cached}}
    return Prices(Catalogue(models).load()).estimate(turn)


def test_cached_input_counts_at_its_own_price() -> None:
    assert estimate(0) == pytest.approx(2 + 1)
    assert estimate(800_000) == pytest.approx(0.2 * 2 + 0.8 * 0.2 + 1)
    assert estimate(800_000, price_cached=1) == pytest.approx(0.2 * 2 + 0.8 * 1 + 1)
    assert estimate(9_000_000) == pytest.approx(0.2 + 1)


def test_writing_to_the_cache_and_searches_have_prices_of_their_own() -> None:
    used = {**SENT, "cachedInputTokens": 200_000, "writtenInputTokens": 300_000, "searches": 3}
    turn = {
        "provider": "anthropic",
        "model": "claude-opus-5-20260724",
        "requestedModel": "claude-opus-5",
        "usage": used,
    }
    expected = 0.5 * 5 + 0.2 * 0.5 + 0.3 * 6.25 + 0.1 * 25 + 3 * 0.01
    assert Prices(Catalogue({}).load()).estimate(turn) == pytest.approx(expected)


def test_without_a_price_of_its_own_it_costs_what_other_input_costs() -> None:
    own = {"custom:m": OwnModel(price_in=3, price_out=0)}
    turn = {"provider": "custom", "model": "m", "usage": {**SENT, "cachedInputTokens": 500_000}}
    assert Prices(Catalogue(own).load()).estimate(turn) == pytest.approx(3)


def test_the_snapshot_has_no_cache_that_is_free_or_dearer_than_the_input_itself() -> None:
    catalogue = Catalogue({}).load()
    priced = [model for name in ("openai", "xai", "gemini", "openrouter") for model in catalogue.models(name)]
    known = [model for model in priced if model.price_cached is not None]
    assert len(known) > 250
    assert all(0 < (model.price_cached or 0) <= (model.price_in or 0) for model in known)


def test_the_share_stands_beside_the_cost() -> None:
    assert charged(Usage(input_tokens=1000, cached_input_tokens=621, cost_usd=0.5)) == "$0.50, 62 % cached"
    assert charged(Usage(input_tokens=1000, cached_input_tokens=621)) == "62 % cached"
    assert charged(Usage(input_tokens=1000, cached_input_tokens=4, cost_usd=0.5)) == "$0.50"
    assert charged(Usage(cached_input_tokens=4)) == charged(Usage(input_tokens=0, cached_input_tokens=4)) == ""
    assert charged(None) == ""


@pytest.fixture
def library(tmp_path: Path) -> Path:
    used = {"inputTokens": 4000, "cachedInputTokens": 3000, "outputTokens": 300, "costUsd": 0.25}
    put_conversation(
        tmp_path,
        ID,
        messages=[
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": "a", "createdAt": "2026-02-01T00:00:00.000Z", **ASKED, "usage": used},
        ],
    )
    return tmp_path


def test_statistics_add_up_what_was_cached(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, library: Path
) -> None:
    here = Here(capsys, monkeypatch, library)
    total = json.loads(here("stats", "--json").out)["total"]
    assert (total["inputTokens"], total["cachedInputTokens"]) == (4000, 3000)
    assert here("stats").out == "2026-02-01\t1\t0\t4000\t300\t$0.25\n"
    assert "$0.25, 75 % cached" in here("show", ID).out


@pytest.mark.slow
def test_a_terminal_shows_the_share_of_the_tokens_in(library: Path) -> None:
    assert "4,000, 75 % cached" in on_terminal(library, "stats", columns=100).out
