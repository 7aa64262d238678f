"""Settings as they are shown, and the file that explains them."""

import json
import tomllib
from pathlib import Path

import pytest
from inline_snapshot import snapshot
from tests.fixtures.cli import Here

from conversation_mcp.cli.configuration.file import EXAMPLES, config_text
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.settings import TABLES, Settings, load_settings
from conversation_mcp.sources import config_path, provider_settings, store_of

KEY = "pplx-0123456789abcdef"
SUGGESTED = [setting.name for setting in provider_settings() if setting.is_suggested]
SCALARS = [name for name in Settings.model_fields if name not in TABLES]


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Here:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return Here(capsys, monkeypatch, tmp_path)


def test_a_password_in_the_stores_url_is_not_shown(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONVERSATION_MCP_STORE", "postgresql://me:swordfish@db.example/conversations?key=hidden")
    for ended in (here("config"), here("config", "--json")):
        assert "postgresql://…@db.example/conversations?…" in ended.out
        assert "swordfish" not in ended.out
        assert "hidden" not in ended.out


def test_a_pipe_gets_a_line_for_each_setting_with_its_value_and_origin(
    here: Here, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PERPLEXITY_API_KEY", KEY)
    monkeypatch.setenv("CONVERSATION_MCP_SEARCH_PRESET", "medium")
    out = here("config", "--documents", "/a", "--documents", "/b").out
    assert out.replace(str(tmp_path), "/home/me") == snapshot("""\
perplexity_api_key	…cdef	PERPLEXITY_API_KEY
perplexity_base_url		default
logs_dir	/home/me/conversation-logs	CONVERSATION_LOGS_DIR
store		default
owner	local	default
max_conversation_turns		default
conversation_timeout_hours		default
tools	research	default
documents	/a:/b	--documents
documents_model		default
embeddings	auto	default
roots		default
allow_secrets		default
max_files	500	default
max_file_bytes	1048576	default
max_document_bytes	20971520	default
max_files_total_bytes	67108864	default
max_files_seconds	20	default
answer_share		default
files_share		default
history_share		default
summaries		default
decisions		default
max_image_pixels	64000000	default
mirror		default
prompts_dir	/home/me/config/conversation-mcp/prompts	default
workflows_dir	/home/me/config/conversation-mcp/workflows	default
default_model	auto	default
preferred_models		default
disabled_models		default
fallback_models		default
sharing	named	default
redact		default
encryption_key		default
encryption_key_file		default
encrypt	all	default
provider_order	direct,unified,local,custom	default
search_preset	medium	CONVERSATION_MCP_SEARCH_PRESET
search_followup_preset	low	default
deep_research_preset	high	default
deep_research_followup_preset	high	default
answer_wait_seconds	50	default
lock_wait_seconds	45	default
ending_grace_seconds	4	default
retries	2	default
max_question_chars	500000	default
max_result_chars	60000	default
max_cost_usd_per_day		default
max_questions_per_minute	120	default
max_conversations_per_minute	60	default
max_messages_per_minute	600	default
max_message_chars	100000	default
max_running_turns	32	default
max_stored_bytes	10737418240	default
tokens_file		default
jwt_keys		default
jwt_issuer		default
jwt_audience		default
jwt_algorithms	RS256,ES256	default
trusted_proxies		default
log_level	WARNING	default
""")


def test_of_a_key_only_the_end_is_shown_and_of_a_short_one_nothing(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERPLEXITY_API_KEY", KEY)
    everything = here("config").out + here("config", "--json").out
    assert "0123456789" not in everything
    assert json.loads(here("config", "--json").out)["perplexity_api_key"] == {
        "value": "…cdef",
        "origin": "PERPLEXITY_API_KEY",
    }
    monkeypatch.setenv("PERPLEXITY_API_KEY", "secret")
    assert "ret" not in here("config").out.splitlines()[0]


def test_the_path_is_printed_whatever_the_file_holds(here: Here) -> None:
    config_path().parent.mkdir(parents=True)
    config_path().write_text("= broken", encoding="utf-8")
    assert here("config", "--path").out == f"{config_path()}\n"
    broken = here("config")
    assert (broken.code, broken.out) == (2, "")
    assert "is not valid TOML" in broken.err


def test_the_written_file_has_every_setting_as_a_comment_and_changes_nothing(here: Here, tmp_path: Path) -> None:
    assert here("config", "--write").code == 0
    text = config_path().read_text(encoding="utf-8")
    assert tomllib.loads(text) == {}
    explained = [line.split()[1] for line in text.splitlines() if line.startswith("# ") and " = " in line]
    assert explained == [*SUGGESTED, *SCALARS, "api_key", "allowed_models", "context", "aliases"]
    assert config_path().stat().st_mode & 0o077 == 0
    assert text[:900] == snapshot("""\
# Settings of conversation-mcp. Each setting in a comment shows its default or an example; uncomment
# it to set your own value. Environment variables and command-line options take precedence over this
# file.

# Key of the Perplexity API. It is never logged or stored; doctor shows its end. [PERPLEXITY_API_KEY]
# perplexity_api_key = "pplx-your-key"

# Another address of Perplexity's Agent API, without /v1. Default: the public one.
# [PERPLEXITY_BASE_URL]
# perplexity_base_url = "https://api.perplexity.ai"

# Folder of the conversations. Default: conversation-logs in the working folder if it exists, else in
# the user's data folder. [CONVERSATION_LOGS_DIR]
# logs_dir = "/path/to/conversation-logs"

# The URL of the store of conversations, in place of the folder; redis: REDIS_URL. Default: none.
# [CONVERSATION_MCP_STORE]
# store = "file:///path/to/conversation-logs"

# Whose conversation\
""")


def test_every_line_of_the_written_file_is_valid_without_its_mark(tmp_path: Path) -> None:
    lines = config_text({}).splitlines()
    for name in (*SUGGESTED, *SCALARS):
        (line,) = [line.removeprefix("# ") for line in lines if line.startswith(f"# {name} = ")]
        config = tmp_path / f"{name}.toml"
        config.write_text(line, encoding="utf-8")
        loaded = load_settings({}, {}, config, tmp_path)
        if name not in EXAMPLES:
            assert getattr(loaded.settings, name) == Settings.model_fields[name].default


def test_a_file_that_exists_is_not_replaced_unasked(here: Here) -> None:
    config_path().parent.mkdir(parents=True)
    config_path().write_text("retries = 0 # mine\n", encoding="utf-8")
    refused = here("config", "--write")
    assert (refused.code, refused.out) == (2, "")
    assert config_path().read_text(encoding="utf-8") == "retries = 0 # mine\n"


def test_a_file_that_is_replaced_keeps_its_values_and_a_copy(here: Here) -> None:
    values = {"retries": 0, "documents": ["C:\\notes", 'a "b"'], "perplexity_api_key": KEY, "log_level": "INFO"}
    before = "".join(f"{name} = {json.dumps(value)} # mine\n" for name, value in values.items())
    config_path().parent.mkdir(parents=True)
    config_path().write_text(before, encoding="utf-8")
    assert here("config", "--write", "--force").code == 0
    assert tomllib.loads(config_path().read_text(encoding="utf-8")) == values
    assert config_path().with_suffix(".toml.bak").read_text(encoding="utf-8") == before


def test_tables_are_kept_when_the_file_is_replaced(here: Here) -> None:
    before = """
openai_api_key = "sk-1234567890abcdef"
[providers.mine]
base_url = "http://127.0.0.1:9/v1"
quirks.search.tools = [{ type = "web", "odd key" = [1, true] }]
[models."mine:a/b:c"]
context = 5000
"""
    config_path().parent.mkdir(parents=True)
    config_path().write_text(before, encoding="utf-8")
    assert here("config", "--write", "--force").code == 0
    assert tomllib.loads(config_path().read_text(encoding="utf-8")) == tomllib.loads(before)


def test_a_broken_file_is_never_replaced(here: Here) -> None:
    config_path().parent.mkdir(parents=True)
    config_path().write_text("= broken", encoding="utf-8")
    assert here("config", "--write", "--force").code == 2
    assert config_path().read_text(encoding="utf-8") == "= broken"


@pytest.mark.parametrize("option", [None, "typed"])
@pytest.mark.parametrize("variable", [None, "~/set", "/set"])
@pytest.mark.parametrize("line", [None, 'logs_dir = "filed"', "retries = 1"])
@pytest.mark.parametrize("has_folder", [True, False])
@pytest.mark.parametrize("url", [None, "file:///named"])
def test_commands_that_need_only_the_store_find_the_same_one(
    tmp_path: Path, option: str | None, variable: str | None, line: str | None, has_folder: bool, url: str | None
) -> None:
    config = tmp_path / "config.toml"
    if line:
        config.write_text(line, encoding="utf-8")
    if has_folder:
        (tmp_path / "conversation-logs").mkdir()
    environment = {"CONVERSATION_LOGS_DIR": variable} if variable else {}
    environment |= {"CONVERSATION_MCP_STORE": url} if url else {}
    typed = Path(option) if option else None
    settings = load_settings({"logs_dir": typed}, environment, config, tmp_path).settings
    found = store_of(typed, environment, config, tmp_path)
    assert found == settings.store_url
    assert (found == url) is (url is not None and typed is None)


def test_a_folder_that_is_no_path_is_an_error_for_both(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text("logs_dir = 7", encoding="utf-8")
    with pytest.raises(InvalidInputError, match=r"config\.toml"):
        load_settings({}, {}, config, tmp_path)
    with pytest.raises(InvalidInputError, match=r"config\.toml"):
        store_of(None, {}, config, tmp_path)
