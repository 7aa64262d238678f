"""Who is asked when no model is named: the category, the preferred models, the defaults."""

from datetime import UTC, datetime
from pathlib import Path

import anyio
import pytest
from inline_snapshot import snapshot
from tests.fixtures.choosing import everybody, providers, told
from tests.fixtures.models import FakeModels, FakeReader
from tests.fixtures.serving import settings_for

from conversation_mcp.providers.base import ListedModel
from conversation_mcp.providers.choosing.choice import Kept, Needed
from conversation_mcp.providers.choosing.providers import Providers
from conversation_mcp.providers.definitions import Given

KEPT = (Kept("openai", "openai:gpt-5", is_of_mode=True),)


def tokens(count: int) -> Needed:
    async def needed() -> int:
        await anyio.lowlevel.checkpoint()
        return count

    return needed


@pytest.mark.parametrize(
    ("category", "model"), [("auto:fast", "gpt-6-luna"), ("auto", "gpt-6-sol"), ("auto:deep", "gpt-6-astra")]
)
async def test_auto_takes_the_ablest_of_its_category(category: str, model: str) -> None:
    choice = await providers(FakeModels(name="openai")).choose("chat", category)
    assert told(choice) == ("openai", model)


async def test_auto_says_what_it_chose_and_why() -> None:
    choice = await providers(FakeModels(name="openai")).choose("chat", None)
    assert choice.notices == snapshot(
        (
            "auto chose openai:gpt-6-sol for balanced: ability 19 of 29, a window of 1,050,000 tokens, $2 in and $10 out for a million tokens (models.json of 2026-09-28)",
        )
    )


async def test_auto_ranks_by_ability_then_window_then_price_and_never_by_the_alphabet() -> None:
    listed = [ListedModel("m-a"), ListedModel("m-b"), ListedModel("m-c"), ListedModel("m-d")]
    facts = {
        "custom:m-a": {"context": 32_000, "ability": 10, "price_in": 0, "price_out": 0},
        "custom:m-b": {"context": 32_000, "ability": 15, "price_in": 2, "price_out": 2},
        "custom:m-c": {"context": 400_000, "ability": 15, "price_in": 2, "price_out": 2},
        "custom:m-d": {"context": 400_000, "ability": 15, "price_in": 1, "price_out": 1},
    }
    custom = FakeModels(name="custom", listed=listed)
    ranked: list[str | None] = []
    while facts:
        choice = await providers(custom, models=facts).choose("chat", "auto")
        ranked.append(choice.model)
        del facts[f"custom:{choice.model}"]
    assert ranked == ["m-d", "m-c", "m-b", "m-a"]


async def test_auto_passes_over_what_is_too_small_ended_or_not_allowed() -> None:
    openai = FakeModels(name="openai")
    small = providers(openai, models={"openai:gpt-6-sol": {"context": 9_000}})
    assert (await small.choose("chat", "auto", needed=tokens(8_000))).model != "gpt-6-sol"
    disabled = providers(openai, disabled_models=["gpt-6-sol"])
    assert (await disabled.choose("chat", "auto")).model != "gpt-6-sol"
    late = Providers(lambda: [openai], settings_for(Path()), lambda: datetime(2027, 6, 1, tzinfo=UTC))
    assert (await late.choose("chat", "auto")).facts.ends is None


async def test_auto_takes_a_model_with_a_large_window_if_none_takes_the_whole_conversation() -> None:
    openai = FakeModels(name="openai")
    choice = await providers(openai).choose("chat", "auto", needed=tokens(9_000_000))
    assert (choice.facts.context or 0) >= 1_000_000


async def test_preferred_models_come_before_what_is_known_of_any() -> None:
    chosen = providers(FakeModels(name="openai"), preferred_models=["nobody-has:this", "gpt-5-mini"])
    choice = await chosen.choose("chat", "auto:deep")
    assert choice.model == "gpt-5-mini"
    assert choice.notices == snapshot(
        ("auto chose openai:gpt-5-mini: the first of PREFERRED_MODELS that can be asked",)
    )


async def test_the_model_of_the_custom_provider_is_taken_though_nothing_is_known_of_it() -> None:
    custom = FakeModels(name="custom", given=Given(base_url="http://127.0.0.1:9/v1", default_model="mine"))
    assert told(await providers(custom).choose("chat", None)) == ("custom", "mine")


async def test_auto_finds_a_local_server_that_answers_when_there_is_nothing_else() -> None:
    missing = FakeModels(name="lmstudio")
    there = FakeModels(name="ollama", listed=[ListedModel("zephyr", 8_000), ListedModel("alpha", 4_000)])
    assert told(await providers(missing, there).choose("chat", None)) == ("ollama", "zephyr")


async def test_a_search_asks_perplexity_with_its_level_and_else_the_first_that_can_search() -> None:
    assert told(await providers(*everybody()).choose("search", None)) == ("perplexity", None)
    without = [provider for provider in everybody() if provider.name != "perplexity"]
    documents = FakeReader()
    assert told(await providers(*without, documents).choose("search", None)) == ("openai", "gpt-6-luna")
    assert told(await providers(*without).choose("deep_research", None)) == ("openai", "gpt-6-astra")
    assert told(await providers(documents).choose("search", None)) == ("local", None)


async def test_the_default_of_chat_is_a_setting() -> None:
    chosen = providers(*everybody(), default_model="xai:grok-4.7")
    assert told(await chosen.choose("chat", None)) == ("xai", "grok-4.7")
    assert told(await chosen.choose("chat", None, kept=KEPT)) == ("openai", "gpt-5")
    assert told(await chosen.choose("chat", "gemini-3.8-flash", kept=KEPT)) == ("gemini", "gemini-3.8-flash")
