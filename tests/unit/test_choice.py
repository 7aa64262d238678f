"""Which provider and which model answer: by name, by what is known, and within what the user allows."""

from collections.abc import Mapping
from typing import Any

import pytest
from inline_snapshot import snapshot
from tests.fixtures.choosing import everybody, providers, told
from tests.fixtures.models import FakeModels, FakePerplexity

from conversation_mcp.errors import ConversationMCPError, ModelUnavailableError
from conversation_mcp.providers.base import ListedModel
from conversation_mcp.providers.choosing.choice import Kept
from conversation_mcp.records.modes import Mode


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
) -> None:  # defect 11
    assert told(await providers(*everybody()).choose("chat", name)) == expected


@pytest.mark.parametrize("name", ["gpt-6-lunna", "gemini-9-pro", "grok-4.77"])
async def test_every_name_that_is_suggested_can_be_asked(name: str) -> None:  # defect 11
    strict = providers(*(FakeModels(name=known) for known in ("openai", "xai", "gemini")))
    with pytest.raises(ConversationMCPError, match="Similar names: ") as refused:
        await strict.choose("chat", name)
    similar = refused.value.sentence().partition("Similar names: ")[2].partition(". If")[0].split(", ")
    assert [
        f"{provider}:{model}" for provider, model in [told(await strict.choose("chat", one)) for one in similar]
    ] == (similar)


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
        snapshot("VALIDATION_ERROR: xai cannot do deep research. Those that can: openai, gemini."),
    ),
    (
        "search",
        "deepseek:deepseek-v4-pro",
        {},
        snapshot("VALIDATION_ERROR: deepseek cannot search. Those that can: openai, xai, gemini."),
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
        {f"{name}_allowed_models": ["none"] for name in ("openai", "xai", "gemini", "deepseek")},
        snapshot(
            "PROVIDER_REJECTED: auto found no model that can chat: OPENAI_ALLOWED_MODELS allows none only. Name another model. Nothing was sent."
        ),
    ),
    (
        "search",
        "local",
        {},
        snapshot(
            "PROVIDER_NOT_CONFIGURED: model 'local' asks your own files, and none are named. Set CONVERSATION_MCP_DOCUMENTS."
        ),
    ),
]


@pytest.mark.parametrize(("mode", "name", "changes", "sentence"), WRONG)
async def test_what_cannot_be_asked_is_refused_with_the_way_out(
    mode: Mode, name: str, changes: Mapping[str, Any], sentence: object
) -> None:
    configured = tuple(FakeModels(name=known) for known in ("openai", "xai", "gemini", "deepseek"))
    with pytest.raises(ConversationMCPError) as caught:
        await providers(*configured, **changes).choose(mode, name)
    assert caught.value.sentence() == sentence


async def test_a_search_by_a_bare_name_goes_on_to_a_provider_that_can() -> None:
    deepseek, openrouter = FakeModels(name="deepseek"), FakeModels(name="openrouter")
    choice = await providers(deepseek, openrouter).choose("search", "deepseek-v4-pro")
    assert told(choice) == ("openrouter", "deepseek/deepseek-v4-pro")


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


async def test_another_kind_of_question_keeps_the_model_but_a_research_takes_its_own() -> None:
    kept = (Kept("openai", other_model="openai:gpt-5-mini"),)
    chosen = providers(FakePerplexity(), FakeModels(name="openai"))
    assert told(await chosen.choose("search", None, kept=kept)) == ("openai", "gpt-5-mini")
    assert told(await chosen.choose("deep_research", None, kept=kept)) == ("openai", "gpt-6-astra")
    assert told(await chosen.choose("deep_research", None, kept=(Kept("gone"),))) == ("perplexity", None)


@pytest.mark.parametrize("mode", ["search", "chat"])
async def test_a_follow_up_of_a_research_by_an_agent_goes_to_a_model_of_the_same_provider(mode: Mode) -> None:
    agent = "deep-research-preview-04-2026"
    kept = [Kept("gemini", other_model=agent)]
    choice = await providers(*everybody()).choose(mode, None, kept=kept)
    assert choice.provider.name == "gemini"
    assert choice.model not in {None, agent}
    before = [Kept("gemini", agent, agent, is_of_mode=True)]
    again = await providers(*everybody()).choose("deep_research", None, kept=before)
    assert told(again) == ("gemini", agent)
