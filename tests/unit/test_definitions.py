"""What users set for a provider, and how its address comes together."""

from typing import Any

import pytest
from pydantic import SecretStr

from conversation_mcp.errors import InvalidInputError
from conversation_mcp.providers.definitions import Configured, Given, load_definitions, resolved

KEY = SecretStr("sk-0123456789")


def configured(name: str, *, key: SecretStr | None = KEY, base_url: str | None = None, **fields: Any) -> Configured:
    found = resolved(load_definitions({name: fields})[name], Given(key, base_url))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("name", "given", "models"),
    [
        ("openai", None, "https://api.openai.com/v1/models"),
        ("gemini", None, "https://generativelanguage.googleapis.com/v1beta/models"),
        ("gemini", "https://gateway.example/v1beta/openai/", "https://gateway.example/v1beta/openai/models"),
        ("openrouter", " https://openrouter.ai ", "https://openrouter.ai/api/v1/models"),
        ("ollama", "http://192.168.1.2:11434", "http://192.168.1.2:11434/v1/models"),
        ("custom", "http://localhost:8080/v1/chat/completions/", "http://localhost:8080/v1/models"),
        ("custom", "http://localhost:8080", "http://localhost:8080/models"),
        ("openai", "https://gw.example/openai/v1?api-version=2", "https://gw.example/openai/v1/models?api-version=2"),
        ("azure", "https://x.openai.azure.com/", "https://x.openai.azure.com/openai/v1/models"),
        ("azure", "https://x.openai.azure.com/openai/v1/", "https://x.openai.azure.com/openai/v1/models"),
        ("openai", "https://gw.example/v1/responses", "https://gw.example/v1/models"),
    ],
)
def test_an_address_is_joined_however_it_was_written(name: str, given: str | None, models: str) -> None:
    assert configured(name, base_url=given).url("models") == models


def test_a_provider_is_configured_by_its_key_or_where_it_needs_none_by_its_address() -> None:
    known = load_definitions()
    assert resolved(known["openai"], Given(base_url="https://gw.example/v1")) is None
    assert resolved(known["openai"], Given(api_key=SecretStr(""))) is None
    assert resolved(known["custom"], Given(api_key=KEY)) is None
    assert resolved(known["custom"], Given(base_url="http://localhost:1/v1"))
    assert resolved(known["ollama"], Given())


def test_a_users_table_changes_single_fields_and_single_quirks() -> None:
    openai = load_definitions({"openai": {"default_model": "gpt-x", "quirks": {"store": True}}})["openai"]
    assert (openai.default_model, openai.title, openai.quirks.store) == ("gpt-x", "OpenAI", True)
    assert openai.quirks.search["tools"] == [{"type": "web_search"}]


def test_a_provider_of_the_users_own_comes_last_and_speaks_chat_completions() -> None:
    known = load_definitions({"mine": {"base_url": "http://localhost:1/v1"}})
    assert list(known)[-1] == "mine"
    assert (known["mine"].family, known["mine"].kind, known["mine"].needs_key) == ("chat_completions", "custom", False)


def test_a_kind_decides_when_its_names_are_looked_for() -> None:
    known = load_definitions({"mine": {"base_url": "http://localhost:1/v1", "kind": "direct"}})
    assert list(known).index("mine") < list(known).index("openrouter")


@pytest.mark.parametrize(
    ("name", "expected"),
    [("low", True), ("low@2026-10-16.0", True), ("old-low", True), ("lower", False), ("openai/gpt-5", False)],
)
def test_presets_are_those_that_the_table_names_with_or_without_a_version(name: str, *, expected: bool) -> None:
    table = {"dialect": "agent", "presets": ["low"], "other_presets": ["old-low"]}
    assert load_definitions({"mine": table})["mine"].is_preset(name) == expected


@pytest.mark.parametrize(
    ("name", "table", "sentence"),
    [
        (
            "mine",
            {"family": "soap"},
            "[providers.mine] family: must be 'responses', 'chat_completions', 'messages' or 'interactions'.",
        ),
        ("mine", {"nonsense": 1}, "[providers.mine] nonsense: there is no such field."),
        ("mine", {"quirks": {"stor": True}}, "[providers.mine] quirks.stor: there is no such field."),
        ("mine", {"base_url": "ftp://x"}, "[providers.mine] base_url: must be an address such as http://"),
        ("openai", {"abilities": ["fly"]}, "[providers.openai] abilities.0: must be 'search'"),
        ("mine", {"abilities": ["deep_research"]}, "[providers.mine]: abilities: deep_research needs family 'resp"),
        (
            "mine",
            {"presets": ["low"]},
            "[providers.mine]: presets: no family accepts presets, only dialect 'agent'",
        ),
        ("mine", {"dialect": "swiss"}, "[providers.mine] dialect: must be 'agent'"),
        ("Mine", {}, "[providers.Mine]: the name of a provider has lower-case letters"),
        ("openai", {"quirks": 7}, "[providers.openai] quirks: must be a table."),
    ],
)
def test_a_table_that_is_wrong_is_told_with_the_place(name: str, table: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        load_definitions({name: table})
    assert caught.value.message.startswith(sentence)


def test_no_key_shows_when_a_provider_is_printed() -> None:
    assert "sk-0123456789" not in repr(configured("openai"))
