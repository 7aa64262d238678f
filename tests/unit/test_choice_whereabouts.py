"""Who is asked with words that never left this machine, and with those that did."""

import pytest
from tests.fixtures.choosing import everybody, providers, told
from tests.fixtures.models import FakeModels

from conversation_mcp.errors import InvalidInputError
from conversation_mcp.providers.base import ListedModel
from conversation_mcp.providers.whereabouts import NOWHERE, Whereabouts
from conversation_mcp.records.modes import Mode

KEPT_HERE = Whereabouts(here=("ollama",))


async def test_a_name_that_more_than_one_has_means_this_machine_for_words_that_never_left() -> None:
    ollama = FakeModels(name="ollama", listed=[ListedModel("gpt-6-sol")])
    both = providers(FakeModels(name="openai"), ollama)
    assert told(await both.choose("chat", "gpt-6-sol")) == ("openai", "gpt-6-sol")
    assert told(await both.choose("chat", "gpt-6-sol", whereabouts=KEPT_HERE)) == ("ollama", "gpt-6-sol")


async def test_preferred_models_outside_are_passed_over_for_words_that_never_left() -> None:
    ollama = FakeModels(name="ollama", listed=[ListedModel("gemma4:e4b"), ListedModel("large:cloud")])
    both = providers(FakeModels(name="openai"), ollama, preferred_models=["gpt-6-sol"])
    assert told(await both.choose("chat", "auto")) == ("openai", "gpt-6-sol")
    assert told(await both.choose("chat", "auto", whereabouts=KEPT_HERE)) == ("ollama", "gemma4:e4b")


@pytest.mark.parametrize(
    ("model", "mode", "expected"),
    [
        ("openai:gpt-6-sol", "chat", True),
        ("OpenAI", "chat", True),
        ("gpt-6-sol", "chat", True),
        ("openrouter:gpt-6-sol", "chat", True),
        ("fast", "search", True),
        ("perplexity/sonar", "search", True),
        ("smart", "chat", True),
        ("openai/gpt-6-sol", "chat", False),
        ("maker/nobody-knows", "search", False),
        ("glm-5.3-flash", "chat", False),
        ("opus", "chat", False),
        ("gemini:flash", "chat", True),
        ("auto", "chat", False),
        ("AUTO:deep", "search", False),
        (None, "search", False),
        (None, "chat", False),
        ("", "search", False),
        ("ollama:large:cloud", "chat", True),
        ("large:cloud", "chat", False),
    ],
)
async def test_a_call_names_who_gets_the_words_by_the_provider_or_a_model_that_is_its_alone(
    model: str | None, mode: Mode, *, expected: bool
) -> None:
    built = [*everybody(), FakeModels(name="mistral")]
    built[2] = FakeModels(name="ollama", listed=[ListedModel("large:cloud")])
    chosen = providers(*built, models={"openai:gpt-6-sol": {"aliases": ["smart"]}})
    choice = await chosen.choose(mode, model)
    assert (choice.side, choice.is_named_by(model)) == ("outside", expected)
    assert choice.is_named_by(choice.naming)


async def test_the_name_of_a_server_here_does_not_name_whom_it_passes_words_on_to() -> None:
    ollama = FakeModels(name="ollama", listed=[ListedModel("large:cloud")])
    choice = await providers(ollama).choose("chat", "ollama", whereabouts=KEPT_HERE)
    assert (choice.name, choice.side, choice.is_named_by("ollama")) == ("ollama:large:cloud", "outside", False)


async def test_a_server_here_is_asked_for_what_it_runs_itself_before_what_it_passes_on() -> None:
    ollama = FakeModels(name="ollama", listed=[ListedModel("large:cloud", 400_000), ListedModel("gemma4:e4b", 8_192)])
    for model in ("ollama", "auto"):
        assert told(await providers(ollama).choose("chat", model)) == ("ollama", "gemma4:e4b")


async def test_names_that_are_near_to_it_begin_with_those_that_keep_the_words() -> None:
    ollama = FakeModels(name="ollama", listed=[ListedModel("gpt-6-mine")])
    both = providers(FakeModels(name="openai"), ollama)
    with pytest.raises(InvalidInputError, match=r"Similar names: openai:gpt-6-sol, "):
        await both.choose("chat", "gpt-6-soll")
    with pytest.raises(InvalidInputError, match=r"Similar names: ollama:gpt-6-mine, openai:gpt-6-sol, "):
        await both.choose("chat", "gpt-6-soll", whereabouts=KEPT_HERE)


async def test_the_fallback_list_means_this_machine_where_both_have_the_name_and_the_first_one_was_here() -> None:
    ollama = FakeModels(name="ollama", listed=[ListedModel("gpt-6-sol"), ListedModel("gemma4:e4b")])
    both = providers(FakeModels(name="openai"), ollama, fallback_models=["gpt-6-sol"])
    first = await both.choose("chat", "gemma4:e4b")
    assert [told(other) for other in await both.fallbacks("chat", first, NOWHERE)] == [("ollama", "gpt-6-sol")]
