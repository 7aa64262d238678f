"""Names of models in the settings: a slip of the pen ends the start with the names near to it."""

from pathlib import Path

import pytest
from inline_snapshot import snapshot
from tests.fixtures.serving import settings_for

from conversation_mcp.errors import InvalidInputError
from conversation_mcp.providers.choosing.name_checks import check_names, has_names, idle_lists
from conversation_mcp.providers.model_facts import Catalogue
from conversation_mcp.settings import Settings

OWN_SERVER = "write provider:model for one of a server of yours"


def checked(settings: Settings) -> None:
    check_names(settings, Catalogue(settings.models).load())


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"default_model": "gpt-6-lunna"},
            snapshot(
                "DEFAULT_MODEL: 'gpt-6-lunna' is not a known model. Similar names: openai:gpt-6-luna, openai:gpt-5.6-luna, openrouter:openai/gpt-6-luna-pro. Use auto, auto:fast, auto:balanced, auto:deep, a known name, or provider:model."
            ),
        ),
        (
            {"default_model": "nothing-like-it"},
            snapshot(
                "DEFAULT_MODEL: 'nothing-like-it' is not a known model. Use auto, auto:fast, auto:balanced, auto:deep, a known name, or provider:model."
            ),
        ),
        (
            {"default_model": "auto:best"},
            snapshot(
                "DEFAULT_MODEL: 'auto:best' is not a known model. Use auto, auto:fast, auto:balanced, auto:deep, a known name, or provider:model."
            ),
        ),
        (
            {"documents_model": "gpt-6-lunna"},
            snapshot(
                "CONVERSATION_MCP_DOCUMENTS_MODEL: 'gpt-6-lunna' is not a known model. Similar names: openai:gpt-6-luna, openai:gpt-5.6-luna, openrouter:openai/gpt-6-luna-pro. Use auto, auto:fast, auto:balanced, auto:deep, a known name, or provider:model."
            ),
        ),
        (
            {"disabled_models": ["gpt-6-sool"]},
            snapshot(
                "DISABLED_MODELS: 'gpt-6-sool' is not a known model. Similar names: openai:gpt-6-sol, openai:gpt-5.6-sol, openrouter:openai/gpt-6-sol-pro. If it is right, write provider:gpt-6-sool."
            ),
        ),
        (
            {"preferred_models": ["gpt-6-sol", "grok4.7"]},
            snapshot(
                "PREFERRED_MODELS: 'grok4.7' is not a known model. Similar names: xai:grok-4.7, perplexity:xai/grok-4.6, xai:grok-4.5. If it is right, write provider:grok4.7."
            ),
        ),
        (
            {"fallback_models": ["claude-sonet-4-6"]},
            snapshot(
                "CONVERSATION_MCP_FALLBACK_MODELS: 'claude-sonet-4-6' is not a known model. Similar names: perplexity:anthropic/claude-sonnet-4-6, openrouter:anthropic/claude-sonnet-4.6, perplexity:anthropic/claude-sonnet-4-5. If it is right, write provider:claude-sonet-4-6."
            ),
        ),
        (
            {"openai_allowed_models": ["gpt-6-lunna"]},
            snapshot(
                "OPENAI_ALLOWED_MODELS: 'gpt-6-lunna' is not a known model. Similar names: openai:gpt-6-luna, openai:gpt-5.6-luna, openai:gpt-6-sol. If it is right, write openai:gpt-6-lunna."
            ),
        ),
        (
            {"models": {"gpt-6-sol": {"context": 1}}},
            snapshot(
                '[models."gpt-6-sol"] in the configuration file must be named provider:model. Similar names: openai:gpt-6-sol, openai:gpt-5.6-sol, openrouter:openai/gpt-6-sol-pro.'
            ),
        ),
        ({"providers": {"openai": {"quirk": 1}}}, snapshot("[providers.openai] quirk: there is no such field.")),
    ],
)
def test_a_name_that_cannot_be_meant_is_an_error(changes: dict[str, object], sentence: object) -> None:
    settings = settings_for(Path(), **changes)
    assert has_names(settings)
    with pytest.raises(InvalidInputError) as caught:
        checked(settings)
    assert caught.value.message == sentence


@pytest.mark.parametrize(
    "changes",
    [
        {"default_model": "openai:gpt-6-lunna", "disabled_models": ["ollama:never-pulled", "gemma4:e4b"]},
        {
            "default_model": "GPT-6-Luna",
            "preferred_models": ["openai/gpt-6-luna"],
            "openai_allowed_models": ["gpt-6-luna"],
        },
        {"default_model": "mine", "custom_default_model": "mine"},
        {"default_model": "home", "models": {"ollama:qwen3": {"aliases": ["home"]}}},
        {"perplexity_allowed_models": ["fast", "low"], "fallback_models": ["my-own-model"]},
        {"default_model": "auto:deep"},
        {"default_model": "Flash", "openai_allowed_models": ["mini"], "disabled_models": ["opus", "gemini:pro"]},
    ],
)
def test_a_name_that_may_be_meant_passes(changes: dict[str, object]) -> None:
    checked(settings_for(Path(), **changes))


def test_settings_without_names_cost_no_look_at_what_is_known() -> None:
    assert not has_names(settings_for(Path()))


@pytest.mark.parametrize(
    ("changes", "warnings"),
    [
        (
            {"gemini_allowed_models": ["gpt-6-sol", "mini"]},
            ["GEMINI_ALLOWED_MODELS (gpt-6-sol, mini) matches no known model of gemini, and no other is asked"],
        ),
        (
            {"fallback_models": ["my-own-model"]},
            ["CONVERSATION_MCP_FALLBACK_MODELS (my-own-model) matches no known model; " + OWN_SERVER],
        ),
        ({"gemini_allowed_models": ["flash", "nobody-knows"], "openai_allowed_models": ["openai:gpt-99"]}, []),
        ({"perplexity_allowed_models": ["fast"], "ollama_allowed_models": ["mine"]}, []),
        ({"disabled_models": ["ollama:mine"], "preferred_models": ["GPT-6-Sol"]}, []),
    ],
)
def test_a_list_that_means_no_model_is_a_warning(changes: dict[str, object], warnings: list[str]) -> None:
    settings = settings_for(Path(), **changes)
    assert list(idle_lists(settings, Catalogue(settings.models).load())) == warnings
