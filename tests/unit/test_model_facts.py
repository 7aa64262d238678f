"""The snapshot of what is known of models: small, dated, and of a form that every reader takes."""

from datetime import date, datetime
from importlib.resources import files

import pytest

from conversation_mcp.conversations.prices import Prices
from conversation_mcp.providers.definitions import load_definitions
from conversation_mcp.providers.model_facts import Catalogue, ModelFacts
from conversation_mcp.settings import OwnModel

CATALOGUE = Catalogue({}).load()
ALL = [(name, model) for name in load_definitions() for model in CATALOGUE.models(name)]


def test_the_snapshot_is_small_dated_and_says_whose_it_is() -> None:
    folder = files("conversation_mcp.providers")
    assert len(folder.joinpath("models.json").read_bytes()) < 100_000
    assert date.fromisoformat(CATALOGUE.date).year >= 2026
    assert "MIT license" in folder.joinpath("models_notice.txt").read_text("utf-8")


def test_every_model_has_a_window_a_rank_and_names_of_its_own() -> None:
    assert len(ALL) > 300
    for provider, model in ALL:
        assert model.context is not None
        assert 0 < (model.input_limit or 0) < model.context, model
        assert model.ability is not None
        assert 0 <= model.ability <= 29
        assert CATALOGUE.find(provider, model.id) is model


def test_every_category_of_the_large_providers_has_a_model_that_auto_may_take() -> None:
    free = {(name, (model.ability or 0) // 10) for name, model in ALL if not model.named_only and not model.ends}
    assert {(name, band) for name in ("openai", "gemini", "openrouter") for band in (0, 1, 2)} <= free


@pytest.mark.parametrize(
    ("facts", "limit"),
    [
        (ModelFacts("x"), None),
        (ModelFacts("x", context=2_048), 1_536),
        (ModelFacts("x", context=400_000, input=272_000, output=128_000), 272_000),
        (ModelFacts("x", context=128_000, output=1_000), 127_000),
    ],
)
def test_what_may_be_sent_leaves_room_for_an_answer(facts: ModelFacts, limit: int | None) -> None:
    assert facts.input_limit == limit


def test_the_user_corrects_one_fact_and_keeps_the_others() -> None:
    own = Catalogue({"openai:gpt-6-sol": OwnModel(context=5), "openai:new": OwnModel(aliases=("n",))}).load()
    known, sol = CATALOGUE.find("openai", "gpt-6-sol"), own.find("openai", "gpt-6-sol")
    assert known is not None
    assert sol is not None
    assert (sol.context, sol.price_in, sol.source) == (5, known.price_in, "your configuration file")
    new = own.find("openai", "new")
    assert new is not None
    assert own.find("openai", "N") is new


@pytest.mark.parametrize(("day", "price_usd"), [("2026-11-30", 2), ("2026-12-01", 4), ("2030-01-01", 4)])
def test_a_price_that_is_announced_counts_from_its_day(day: str, price_usd: float) -> None:
    catalogue = Catalogue({}, lambda: datetime.fromisoformat(day)).load()
    argon = catalogue.find("gemini", "gemini-4-argon")
    assert argon is not None
    assert (argon.price_in, argon.images) == (price_usd, None)
    assert argon.source.startswith("Google's documentation")


@pytest.mark.parametrize(("sent", "usd"), [(100_000, 0.0105), (100_001, 0.0525005)])
def test_a_long_prompt_is_paid_at_its_own_price(sent: int, usd: float) -> None:
    usage = {"inputTokens": sent, "outputTokens": 1000}
    told = {"provider": "anthropic", "model": "claude-haiku-5-5", "usage": usage}
    assert Prices(CATALOGUE).estimate(told) == pytest.approx(usd)
    own = Catalogue({"anthropic:claude-haiku-5-5": OwnModel(price_in=1, price_out=0)}).load()
    assert Prices(own).estimate(told) == pytest.approx(sent / 10**6)
