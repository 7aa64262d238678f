"""Which models see, and which ones are offered in place of a blind one."""

from typing import Any

import pytest
from tests.fixtures.choosing import providers
from tests.fixtures.models import FakeModels, FakePerplexity

from conversation_mcp.errors import BlindModelError, ProviderNotConfiguredError
from conversation_mcp.providers.base import ListedModel
from conversation_mcp.providers.choosing.offer import list_offer
from conversation_mcp.providers.choosing.sight import image_tokens_of, sight_of
from conversation_mcp.providers.whereabouts import Whereabouts
from conversation_mcp.providers.wire.models import listed_models

LOCAL = [ListedModel("seer", 8_192, images=True), ListedModel("mole", 8_192, images=False), ListedModel("who", 8_192)]


@pytest.mark.parametrize(
    ("model", "sees"),
    [
        ("openai:gpt-4o", True),
        ("openai:gpt-4", False),
        ("openai:gpt-99", None),
        ("fast", False),
        ("openai/gpt-4o", False),  # Perplexity passes it on, and its own API has no place for images
        ("ollama:seer", True),
        ("ollama:mole", False),
        ("ollama:who", None),
        ("ollama:mine", True),
    ],
)
async def test_sight_is_a_fact_of_the_model_unless_the_provider_takes_no_images(model: str, *, sees: bool) -> None:
    own: dict[str, Any] = {"ollama:mine": {"images": True}}
    everybody = providers(
        FakePerplexity(), FakeModels(name="openai"), FakeModels(name="ollama", listed=LOCAL), models=own
    )
    assert sight_of(await everybody.choose("search" if model == "openai/gpt-4o" else "chat", model)) is sees


async def test_the_models_that_see_are_named_first_those_that_disclose_nothing_new() -> None:
    everybody = providers(FakeModels(name="openai"), FakeModels(name="ollama", listed=LOCAL), FakePerplexity())
    everywhere, outside = await everybody.seeing("chat", Whereabouts())
    assert everywhere
    assert not outside
    assert all(name.startswith("openai:") for name in everywhere)
    near, outside = await everybody.seeing("chat", Whereabouts(here=("ollama",)))
    assert (near, len(outside)) == ((), 3)
    for name in (*everywhere, *outside):
        assert sight_of(await everybody.choose("chat", name)) is True


async def test_a_server_that_lists_what_its_models_see_is_believed() -> None:
    here = providers(FakeModels(name="ollama", listed=LOCAL))
    assert await here.seeing("chat", Whereabouts(here=("ollama",))) == (("ollama:seer",), ())
    assert await here.seeing("chat", Whereabouts(), 8_000) == ((), ())


async def test_the_offer_says_who_sees_and_what_cached_input_costs() -> None:
    everybody = providers(FakePerplexity(), FakeModels(name="openai"), FakeModels(name="ollama", listed=LOCAL))
    offered = {model.name: model for model in (await list_offer(everybody)).models}
    assert (offered["ollama:seer"].images, offered["ollama:mole"].images, offered["ollama:who"].images) == (
        True,
        None,
        None,
    )
    sol = offered["openai:gpt-6-sol"]
    assert (sol.images, sol.cached_usd_per_million, sol.input_usd_per_million) == (True, 0.2, 2)
    assert not any(model.images for model in offered.values() if model.provider == "perplexity")


async def test_an_image_takes_what_the_formula_of_the_chosen_model_says() -> None:
    openai = providers(FakeModels(name="openai"))
    assert image_tokens_of(await openai.choose("chat", "openai:gpt-4o"), 1024, 1024) == 765


def test_lists_say_in_three_ways_what_sees() -> None:
    body: dict[str, Any] = {
        "data": [
            {"id": "a", "architecture": {"input_modalities": ["text", "image"]}},
            {"id": "b", "architecture": {"input_modalities": ["text"]}},
            {"id": "c", "capabilities": {"vision": True}},
            {"id": "d", "capabilities": {"vision": False}},
            {"id": "e"},
            {"id": "f", "capabilities": ["completion"]},
            {"id": "g", "architecture": {"input_modalities": [None, 5]}},
        ],
        "models": [{"name": "e", "capabilities": ["completion", "multimodal"]}, {"name": "f"}],
    }
    assert {model.id: model.images for model in listed_models(body)} == {
        "a": True,
        "b": False,
        "c": True,
        "d": False,
        "e": True,
        "f": None,
        "g": False,
    }


def test_a_blind_model_is_refused_by_name_with_those_that_see() -> None:
    error = BlindModelError("deepseek:deepseek-v4-pro")
    assert error.sentence() == (
        "PROVIDER_REJECTED: deepseek:deepseek-v4-pro does not see images. Nothing was sent. Ask without the images."
    )
    assert "list_models shows which models see" in error.next_step({"compare": "list_models"})
    error.seeing, error.outside = ("ollama:seer",), ("openai:gpt-4o", "xai:grok-4.7")
    assert error.next_step() == (
        "Name a model that sees: ollama:seer. Also outside of this machine: openai:gpt-4o or xai:grok-4.7; naming one "
        "sends it there. Or ask without the images."
    )


async def test_auto_passes_over_models_that_do_not_see() -> None:
    own: dict[str, Any] = {
        "custom:best": {"context": 100_000, "ability": 15, "images": False},
        "custom:good": {"context": 100_000, "ability": 14, "images": True},
    }
    custom = providers(FakeModels(name="custom"), FakePerplexity(), models=own, preferred_models=("custom:best",))
    assert (await custom.choose("chat", "auto")).model == "best"
    assert (await custom.choose("chat", "auto", has_images=True)).model == "good"


async def test_auto_without_a_model_that_sees_says_so_and_asks_no_preset() -> None:
    own: dict[str, Any] = {"custom:mole": {"context": 100_000, "ability": 15, "images": False}}
    blind = providers(FakeModels(name="custom"), FakePerplexity(), models=own)
    assert (await blind.choose("chat", "auto")).model == "mole"
    with pytest.raises(ProviderNotConfiguredError, match="no model that can chat and see images"):
        await blind.choose("chat", "auto", has_images=True)
