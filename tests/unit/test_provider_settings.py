"""What is set for providers: by variables, in either form of the file, and which of them wins."""

from pathlib import Path

import pytest
from inline_snapshot import snapshot

from conversation_mcp.errors import InvalidInputError
from conversation_mcp.providers.configuration import configured_in
from conversation_mcp.settings import LoadedSettings, Settings, load_settings
from conversation_mcp.sources import provider_settings

KEY = "sk-0123456789abcdef"


def loaded(folder: Path, file: str = "", **environment: str) -> LoadedSettings:
    config = folder / "config.toml"
    config.write_text(file, encoding="utf-8")
    return load_settings({}, environment, config, folder)


@pytest.mark.parametrize(
    "file",
    [
        f'openai_api_key = "{KEY}"\nopenai_base_url = "http://127.0.0.1:9/v1"',
        f'[providers.openai]\napi_key = "{KEY}"\nbase_url = "http://127.0.0.1:9/v1"',
    ],
)
def test_the_file_takes_a_provider_flat_and_as_a_table(tmp_path: Path, file: str) -> None:
    whole = loaded(tmp_path, file)
    given = whole.settings.provider("openai")
    assert given.api_key is not None
    assert (given.api_key.get_secret_value(), given.base_url) == (KEY, "http://127.0.0.1:9/v1")
    assert whole.origins["openai_api_key"] == str(tmp_path / "config.toml")
    assert list(configured_in(whole.settings)) == ["openai", "ollama", "lmstudio", "llamacpp", "vllm"]


def test_a_variable_wins_over_a_table_and_of_two_variables_the_first(tmp_path: Path) -> None:
    file = '[providers.gemini]\napi_key = "in-the-file-12345"\nallowed_models = ["a", "b"]'
    whole = loaded(tmp_path, file, GOOGLE_API_KEY="second-1234567", GEMINI_API_KEY="first-12345678")
    given = whole.settings.provider("gemini")
    assert given.api_key is not None
    assert given.api_key.get_secret_value() == "first-12345678"
    assert given.allowed_models == ("a", "b")
    assert whole.origins["gemini_api_key"] == "GEMINI_API_KEY"


def test_the_custom_provider_is_three_variables(tmp_path: Path) -> None:
    whole = loaded(tmp_path, CUSTOM_API_URL="http://127.0.0.1:9/v1", CUSTOM_API_KEY=KEY, CUSTOM_MODEL_NAME="mine:7b")
    custom = configured_in(whole.settings)["custom"]
    assert (custom.base_url, custom.default_model) == ("http://127.0.0.1:9/v1", "mine:7b")


def test_users_add_a_provider_of_their_own_with_a_variable_for_its_key(tmp_path: Path) -> None:
    file = '[providers.mine]\nbase_url = "http://127.0.0.1:9/v1"\nkey_variables = ["MY_KEY"]\nmodels = ["a"]'
    assert "mine" not in configured_in(loaded(tmp_path, file).settings)
    mine = configured_in(loaded(tmp_path, file, MY_KEY=KEY).settings)["mine"]
    assert mine.definition.models == ("a",)
    assert loaded(tmp_path, file, MINE_ALLOWED_MODELS="a, b").settings.provider("mine").allowed_models == ("a", "b")


def test_a_placeholder_is_no_key_of_any_provider(tmp_path: Path) -> None:
    whole = loaded(tmp_path, XAI_API_KEY="your-api-key")
    assert whole.settings.provider("xai").api_key is None
    assert whole.warnings == ("XAI_API_KEY holds a placeholder, not a key; it is ignored",)


@pytest.mark.parametrize(
    ("file", "sentence"),
    [
        ("openai_api_kee = 'x'", snapshot("CONFIG has no setting 'openai_api_kee'. Did you mean 'openai_api_key'?")),
        ("providers = 3", snapshot("CONFIG: providers: must be a table; got 3.")),
        (
            "[providers]\nopenai = 3",
            snapshot("CONFIG: providers.openai: must be a table; got 3."),
        ),
        (
            "[providers.openai]\napi_key = 3",
            snapshot("CONFIG: providers.openai.api_key: must be a string."),
        ),
        (
            "[providers.openai]\nbase_url = 3",
            snapshot("CONFIG: providers.openai.base_url: must be a string; got 3."),
        ),
        (
            "[providers.openai.base_url]\nx = 3",
            snapshot("CONFIG: providers.openai.base_url: must be a string; got {'x': 3}."),
        ),
        (
            "openai_allowed_models = 3",
            snapshot("CONFIG: providers.openai.allowed_models: must be a list; got 3."),
        ),
        (
            "[models.x]\ncontext = -1",
            snapshot("CONFIG: models.x.context: must be at least 1; got -1."),
        ),
        ("[models.x]\nwindow = 1", snapshot("CONFIG: models.x.window: is not known; got 1.")),
        (
            "provider_order = ['first']",
            snapshot("CONFIG: provider_order.0: must be 'direct', 'unified', 'local' or 'custom'; got 'first'."),
        ),
    ],
)
def test_a_mistake_in_the_file_is_named_with_its_place(tmp_path: Path, file: str, sentence: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        loaded(tmp_path, file)
    assert caught.value.message.replace(str(tmp_path / "config.toml"), "CONFIG") == sentence


@pytest.mark.parametrize("file", [f'[providers]\nopenai = "{KEY}"', f'models = "{KEY}"', f'[models]\nx = "{KEY}"'])
def test_a_key_in_a_wrong_place_is_not_shown(tmp_path: Path, file: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        loaded(tmp_path, file)
    assert KEY not in caught.value.message


def test_no_two_settings_have_one_name_or_one_variable() -> None:
    settings = list(provider_settings())
    variables = [variable for setting in settings for variable in setting.variables]
    assert len({setting.name for setting in settings}) == len(settings)
    assert len(set(variables)) == len(variables)
    assert not {setting.name for setting in settings} & set(Settings.model_fields)


def test_lists_of_models_go_by_the_names_that_people_know_and_one_that_nobody_reads_is_a_warning(
    tmp_path: Path,
) -> None:
    variables = {"GOOGLE_ALLOWED_MODELS": "flash, pro", "VERTEX_ALLOWED_MODELS": "mini"}
    loaded = load_settings({}, variables, tmp_path / "config.toml", tmp_path)
    assert loaded.settings.provider("gemini").allowed_models == ("flash", "pro")
    assert loaded.warnings == ("VERTEX_ALLOWED_MODELS is not read: there is no provider of that name",)


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"DISABLED_TOOLS": "debug"}, ["DISABLED_TOOLS is not read: CONVERSATION_MCP_TOOLS names"]),
        (
            {"DEFAULT_THINKING_MODE_THINKDEEP": "high", "LOG_LEVEL": "DEBUG"},
            ["DEFAULT_THINKING_MODE_THINKDEEP is not read: say reasoning_effort", "LOG_LEVEL is not read: set CONV"],
        ),
        ({"LOG_LEVEL": "DEBUG", "LOCALE": "de"}, []),
        ({"DISABLED_TOOLS": ""}, []),
        ({"MAX_CONVERSATION_TURNS": "20", "CUSTOM_API_URL": "http://localhost:1", "CUSTOM_MODEL_NAME": "m"}, []),
    ],
)
def test_what_people_know_from_another_server_is_read_or_told_with_what_does_its_job(
    tmp_path: Path, variables: dict[str, str], expected: list[str]
) -> None:
    warnings = load_settings({}, variables, tmp_path / "config.toml", tmp_path).warnings
    assert len(warnings) == len(expected)
    assert all(map(str.startswith, warnings, expected))
