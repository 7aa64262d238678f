"""Which provider and which model answer: by name, by what is known, and within what the user allows."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest
from inline_snapshot import snapshot
from tests.fixtures.models import FakeModels, FakePerplexity, FakeReader
from tests.fixtures.serving import settings_for

from conversation_mcp.errors import ConversationMCPError, InvalidInputError, ModelUnavailableError
from conversation_mcp.providers.base import ListedModel, Provider
from conversation_mcp.providers.choosing.choice import Choice, Kept, Needed
from conversation_mcp.providers.choosing.providers import Providers
from conversation_mcp.providers.definitions import Given
from conversation_mcp.providers.whereabouts import NOWHERE, Whereabouts
from conversation_mcp.records.modes import Mode

KEPT = (Kept("openai", "openai:gpt-5", is_of_mode=True),)
TODAY = datetime(2026, 10, 1, tzinfo=UTC)


def providers(*built: Provider, **changes: object) -> Providers:
    return Providers(lambda: built, settings_for(Path(), **changes), lambda: TODAY)


def everybody() -> list[Provider]:
    return [
        FakeModels(name="openrouter"),
        FakeModels(name="custom"),
        FakeModels(name="ollama", listed=[ListedModel("gemma4:e4b"), ListedModel("hf.co/some/model:Q4")]),
        FakePerplexity(),
        FakeModels(name="openai"),
        FakeModels(name="xai"),
        FakeModels(name="gemini"),
    ]


def tokens(count: int) -> Needed:
    async def needed() -> int:
        await anyio.lowlevel.checkpoint()
        return count

    return needed


def told(choice: Choice) -> tuple[str, str | None]:
    return choice.provider.name, choice.model


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("gpt-6-sol", ("openai", "gpt-6-sol")),
        ("GPT-6-Sol", ("openai", "gpt-6-sol")),
        ("openai:gpt-6-sol", ("openai", "gpt-6-sol")),
        ("OpenAI:gpt-6-sol", ("openai", "gpt-6-sol")),
        ("openai:gpt-99", ("openai", "gpt-99")),
        ("openai/gpt-6-sol", ("openrouter", "openai/gpt-6-sol")),
        ("openai/gpt-5.5", ("perplexity", "openai/gpt-5.5")),
        ("maker/nobody-knows", ("perplexity", "maker/nobody-knows")),
        ("openrouter:openai/gpt-6-sol", ("openrouter", "openai/gpt-6-sol")),
        ("openrouter:gpt-6-sol", ("openrouter", "openai/gpt-6-sol")),
        ("perplexity:xhigh", ("perplexity", "xhigh")),
        ("xhigh", ("perplexity", "xhigh")),
        ("glm-5.3-flash", ("openrouter", "z-ai/glm-5.3-flash")),
        ("gemma4:e4b", ("ollama", "gemma4:e4b")),
        ("ollama:gemma4:e4b", ("ollama", "gemma4:e4b")),
        ("hf.co/some/model:Q4", ("ollama", "hf.co/some/model:Q4")),
        ("ollama:hf.co/some/model:Q4", ("ollama", "hf.co/some/model:Q4")),
        ("ollama:never-pulled:7b", ("ollama", "never-pulled:7b")),
        ("nobody-knows-this", ("custom", "nobody-knows-this")),
    ],
)
async def test_a_name_is_looked_for_at_direct_then_unified_then_local_providers_then_at_who_takes_any(
    name: str, expected: tuple[str, str]
) -> None:
    assert told(await providers(*everybody()).choose("chat", name)) == expected


async def test_a_search_by_provider_and_model_is_perplexitys() -> None:
    choice = await providers(*everybody()).choose("search", "openai/gpt-6-sol")
    assert told(choice) == ("perplexity", "openai/gpt-6-sol")


async def test_the_order_is_a_setting() -> None:
    order = ("unified", "local", "custom", "direct")
    choice = await providers(FakeModels(name="openai"), FakeModels(name="openrouter"), provider_order=order).choose(
        "chat", "gpt-6-sol"
    )
    assert told(choice) == ("openrouter", "openai/gpt-6-sol")


async def test_a_local_server_is_asked_for_its_models_only_when_nobody_before_it_knows_the_name() -> None:
    ollama = FakeModels(name="ollama", listed=[ListedModel("qwen3:8b", 40_960)])
    chosen = providers(FakeModels(name="openai"), ollama)
    await chosen.choose("chat", "gpt-6-sol")
    await chosen.choose("chat", "openai:gpt-99")
    assert ollama.listings == 0
    choice = await chosen.choose("chat", "QWEN3:8b")
    assert (told(choice), choice.facts.context, choice.name) == (("ollama", "qwen3:8b"), 40_960, "ollama:qwen3:8b")


async def test_an_unknown_name_passes_where_any_is_taken_with_a_window_that_is_said() -> None:
    choice = await providers(FakeModels(name="openai")).choose("chat", "openai:gpt-99")
    assert choice.facts.context == 128_000
    assert choice.notices == snapshot(
        (
            'the window of openai:gpt-99 is unknown; 128,000 tokens are assumed. Set it under [models."openai:gpt-99"] in the configuration file: context = …',
        )
    )


async def test_what_the_server_tells_of_a_window_counts_before_what_is_assumed_and_what_the_user_says_before_all() -> (
    None
):
    there = FakeModels(name="llamacpp", listed=[ListedModel("tiny", 2048)])
    assert (await providers(there).choose("chat", "llamacpp:tiny")).facts.context == 2048
    own = providers(there, models={"llamacpp:tiny": {"context": 1000, "aliases": ["home"]}})
    choice = await own.choose("chat", "HOME")
    assert (told(choice), choice.facts.context, choice.notices) == (("llamacpp", "tiny"), 1000, ())


WRONG: list[tuple[Mode, str, Mapping[str, Any], Any]] = [
    (
        "chat",
        "gpt-6-lunna",
        {},
        snapshot(
            "VALIDATION_ERROR: no configured provider knows the model 'gpt-6-lunna'. Similar names: openai:gpt-6-luna, openai:gpt-5.6-luna, openai:gpt-6-sol. If it is new, say whose it is: openai:gpt-6-lunna."
        ),
    ),
    (
        "chat",
        "mistral:mistral-small-2603",
        {},
        snapshot("PROVIDER_NOT_CONFIGURED: Mistral is not configured. Set MISTRAL_API_KEY, or name another model."),
    ),
    (
        "chat",
        "auto:best",
        {},
        snapshot(
            "VALIDATION_ERROR: auto must be followed by fast, balanced or deep, such as auto:deep; got 'auto:best'."
        ),
    ),
    (
        "deep_research",
        "grok-4.7",
        {},
        snapshot("VALIDATION_ERROR: xai cannot do deep research. Those that can: openai."),
    ),
    (
        "search",
        "gemini:gemini-3.8-flash",
        {},
        snapshot("VALIDATION_ERROR: gemini cannot search. Those that can: openai, xai."),
    ),
    (
        "chat",
        "gpt-6-sol",
        {"openai_allowed_models": ["gpt-6-luna"]},
        snapshot(
            "PROVIDER_REJECTED: gpt-6-sol of openai may not be asked: OPENAI_ALLOWED_MODELS allows gpt-6-luna only. Name another model. Nothing was sent."
        ),
    ),
    (
        "chat",
        "openai:gpt-6-sol",
        {"disabled_models": ["gpt-6-sol"]},
        snapshot(
            "PROVIDER_REJECTED: gpt-6-sol of openai may not be asked: DISABLED_MODELS names gpt-6-sol. Name another model. Nothing was sent."
        ),
    ),
    (
        "chat",
        "openai:gpt-6-sol",
        {"disabled_models": ["OpenAI:GPT-6-Sol"]},
        snapshot(
            "PROVIDER_REJECTED: gpt-6-sol of openai may not be asked: DISABLED_MODELS names OpenAI:GPT-6-Sol. Name another model. Nothing was sent."
        ),
    ),
    (
        "chat",
        "auto",
        {f"{name}_allowed_models": ["none"] for name in ("openai", "xai", "gemini")},
        snapshot(
            "PROVIDER_REJECTED: auto found no model that can chat: OPENAI_ALLOWED_MODELS allows none only. Name another model. Nothing was sent."
        ),
    ),
    (
        "search",
        "local",
        {},
        snapshot(
            "PROVIDER_NOT_CONFIGURED: model 'local' asks your own files, and none are named. Start with --documents FOLDER."
        ),
    ),
]


@pytest.mark.parametrize(("mode", "name", "changes", "sentence"), WRONG)
async def test_what_cannot_be_asked_is_refused_with_the_way_out(
    mode: Mode, name: str, changes: Mapping[str, Any], sentence: object
) -> None:
    configured = (FakeModels(name="openai"), FakeModels(name="xai"), FakeModels(name="gemini"))
    with pytest.raises(ConversationMCPError) as caught:
        await providers(*configured, **changes).choose(mode, name)
    assert caught.value.sentence() == sentence


async def test_a_search_by_a_bare_name_goes_on_to_a_provider_that_can() -> None:
    gemini, openrouter = FakeModels(name="gemini"), FakeModels(name="openrouter")
    choice = await providers(gemini, openrouter).choose("search", "gemini-3.8-flash")
    assert told(choice) == ("openrouter", "google/gemini-3.8-flash")


@pytest.mark.parametrize("listed", ["mistral-large-2512", "MISTRAL-LARGE-LATEST", "mistral:mistral-large-latest"])
@pytest.mark.parametrize("asked", ["mistral-large-2512", "mistral-large-latest", "Mistral:Mistral-Large-2512"])
async def test_an_alias_and_its_model_are_allowed_and_disabled_together(listed: str, asked: str) -> None:
    mistral = FakeModels(name="mistral")
    assert (await providers(mistral, mistral_allowed_models=[listed]).choose("chat", asked)).model is not None
    with pytest.raises(ModelUnavailableError):
        await providers(mistral, disabled_models=[listed]).choose("chat", asked)
    with pytest.raises(ModelUnavailableError):
        await providers(mistral, mistral_allowed_models=["mistral-small-2603"]).choose("chat", asked)


async def test_a_level_that_is_not_allowed_is_not_asked_for_by_default_either() -> None:
    chosen = providers(FakePerplexity(), perplexity_allowed_models=["fast"])
    assert told(await chosen.choose("search", None, preset="fast")) == ("perplexity", None)
    with pytest.raises(ModelUnavailableError):
        await chosen.choose("search", None, preset="low")


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
    with pytest.raises(ConversationMCPError, match="accepts about 9,000,000 tokens"):
        await providers(openai).choose("chat", "auto", needed=tokens(9_000_000))


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


@pytest.mark.parametrize(
    ("name", "changes", "expected"),
    [
        ("flash", {}, ("gemini", "gemini-3.8-flash")),
        ("Pro", {}, ("gemini", "gemini-3.1-pro-preview")),
        ("opus", {}, ("openrouter", "anthropic/claude-opus-5.5")),
        ("perplexity:opus", {}, ("perplexity", "anthropic/claude-opus-4-7")),
        ("haiku", {}, ("openrouter", "anthropic/claude-haiku-4.5")),
        ("mini", {}, ("openai", "gpt-5.4-mini")),
        (
            "mini",
            {"openai_allowed_models": ["gpt-5-mini"], "openrouter_allowed_models": ["opus"]},
            ("openai", "gpt-5-mini"),
        ),
        ("flash", {"disabled_models": ["gemini-3.8-flash"]}, ("gemini", "gemini-3.7-flash")),
    ],
)
async def test_the_name_of_a_family_is_its_newest_model_that_can_be_asked_and_says_which(
    name: str, changes: dict[str, object], expected: tuple[str, str]
) -> None:
    choice = await providers(*everybody(), **changes).choose("chat", name)
    assert told(choice) == expected
    family = name.casefold().rpartition(":")[2]
    assert choice.notices == (f"{family} is {choice.shown} here, the newest of its family that can be asked",)


async def test_in_lists_a_family_is_all_of_its_models() -> None:
    allowed = providers(*everybody(), gemini_allowed_models=["flash"], disabled_models=["opus"])
    assert told(await allowed.choose("chat", "gemini-2.5-flash")) == ("gemini", "gemini-2.5-flash")
    for name in ("gemini:gemini-3.1-pro-preview", "openrouter:anthropic/claude-opus-5", "perplexity:opus"):
        with pytest.raises(ConversationMCPError):
            await allowed.choose("chat", name)


async def test_a_model_of_the_name_of_a_family_is_meant_where_there_is_one() -> None:
    own = providers(*everybody(), models={"ollama:qwen3:8b": {"aliases": ["mini"]}})
    assert told(await own.choose("chat", "mini")) == ("ollama", "qwen3:8b")


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


async def test_another_kind_of_question_keeps_the_model_but_a_research_takes_its_own() -> None:
    kept = (Kept("openai", other_model="openai:gpt-5-mini"),)
    chosen = providers(FakePerplexity(), FakeModels(name="openai"))
    assert told(await chosen.choose("search", None, kept=kept)) == ("openai", "gpt-5-mini")
    assert told(await chosen.choose("deep_research", None, kept=kept)) == ("openai", "gpt-6-astra")
    assert told(await chosen.choose("deep_research", None, kept=(Kept("gone"),))) == ("perplexity", None)


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
