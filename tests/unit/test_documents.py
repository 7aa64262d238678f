"""The documents name only what there is, and leave nothing out."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from pydantic import BaseModel
from pydantic.alias_generators import to_camel
from tests.fixtures.redaction_figures import figures
from typer.core import TyperGroup
from typer.testing import CliRunner

from conversation_mcp.cli.clients.remote import AUTHORIZATION_VARIABLE, TOKEN_VARIABLE
from conversation_mcp.cli.main import app, load_command
from conversation_mcp.conversations.history import HistoryPage
from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.providers.choosing.offer import ModelList
from conversation_mcp.providers.definitions import load_definitions
from conversation_mcp.records.codec import decode
from conversation_mcp.records.models import Conversation, ConversationId, Message, PendingTurn, Source, TurnError
from conversation_mcp.records.usage import Usage
from conversation_mcp.records.workflow_steps import WorkflowIssue, WorkflowStep, WorkflowValidation
from conversation_mcp.settings import TABLES, Settings, load_settings
from conversation_mcp.sources import STORE_ADDRESSES, provider_settings, variable_of
from conversation_mcp.tooling.arguments import wire_name
from conversation_mcp.tools.catalog import TOOL_SETS, AnyTool, tools_of
from conversation_mcp.turns.result import TurnResult

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "conversation_mcp"
NAMES = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"]
DOCUMENTS = [*(ROOT / name for name in NAMES), *sorted((ROOT / "docs").glob("*.md"))]
NAMING_PATHS = ["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/reliability.md"]

FENCE = re.compile(r"^(`{3,})(\w*)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
COMMAND = re.compile(r"(?<![\w-])conversation-mcp((?: +(?:-{1,2}[a-z][a-z-]*|[a-z][a-z-]*))+)")
VARIABLE = re.compile(r"\b(?:CONVERSATION|PERPLEXITY|MAX_CONVERSATION)_[A-Z_]+")
CONSTANT = re.compile(r"`([A-Z]+(?:_[A-Z]+)+)`")
PATH = re.compile(r"(?!\.)[\w./-]+(?:/|\.(?:py|toml|md|txt))")
FORBIDDEN = re.compile(
    r"/work\b|/root\b|/tmp\b|/home/|/Users/|https?://\S+/simple\b|registry\.|localhost",
    re.IGNORECASE,
)
OF_OTHERS = {
    *STORE_ADDRESSES.values(),
    TOKEN_VARIABLE,
    AUTHORIZATION_VARIABLE,
    "ALL_PROXY",
    "F_FULLFSYNC",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "MALLOC_ARENA_MAX",
    "MAX_MCP_OUTPUT_TOKENS",
    "MCP_TOOL_TIMEOUT",
    "NO_PROXY",
    "SSL_CERT_FILE",
    *(name for table in tomllib.loads((SOURCES / "settings/elsewhere.toml").read_text()).values() for name in table),
}
TOOLS = tools_of(TOOL_SETS)
RECORDS: list[type[BaseModel]] = [
    Conversation,
    Message,
    PendingTurn,
    Source,
    Usage,
    TurnError,
    WorkflowStep,
    WorkflowIssue,
    WorkflowValidation,
    TurnResult,
    HistoryPage,
    ModelList,
]


def text_of(name: str | Path) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def every(pattern: re.Pattern[str], name: str | Path) -> list[str]:
    return pattern.findall(text_of(name))


def blocks(language: str) -> Iterator[str]:
    for document in DOCUMENTS:
        yield from (body for _, kind, body in FENCE.findall(text_of(document)) if kind == language)


def row_of(name: str, document: str = "README.md") -> str:
    """Return the line of a table that begins with the name; empty when there is none."""
    return next((line for line in text_of(document).splitlines() if line.startswith(f"| `{name}` |")), "")


def error_codes() -> set[str]:
    kinds = [ConversationMCPError]
    for kind in kinds:
        kinds += kind.__subclasses__()
    return {code for kind in kinds if isinstance(code := getattr(kind, "code", None), str)}


def anchors_of(document: Path) -> set[str]:
    headings = HEADING.findall(FENCE.sub("", text_of(document)))
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("field", [field for field in Settings.model_fields if field not in TABLES])
def test_every_setting_has_a_row_with_its_default(field: str) -> None:
    row = row_of(variable_of(field))
    assert row, f"{variable_of(field)} is missing in the table of settings"
    default = Settings.model_fields[field].default
    if isinstance(default, str | int | float):
        assert f"| `{default}` |" in row


def test_every_provider_has_a_row_with_its_variables() -> None:
    rows = {setting.provider: row_of(setting.provider, "docs/providers.md") for setting in provider_settings()}
    for setting in provider_settings():
        if setting.field in ("api_key", "base_url"):
            assert all(f"`{variable}`" in rows[setting.provider] for variable in setting.variables), setting.name


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_variable_and_error_code_that_is_named_exists(document: Path) -> None:
    of_providers = {variable for setting in provider_settings() for variable in setting.variables}
    known = {variable_of(field) for field in Settings.model_fields} | of_providers | error_codes() | OF_OTHERS
    assert {*every(VARIABLE, document), *every(CONSTANT, document)} - known == set()


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_tool_and_argument_stands_in_the_readme(tool: AnyTool) -> None:
    assert row_of(tool.name)
    readme = text_of("README.md")
    missing = [name for name in tool.input_model.model_fields if f"`{wire_name(tool, name)}`" not in readme]
    assert missing == []


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_every_field_of_a_file_and_of_a_result_is_explained(record: type[BaseModel]) -> None:
    explained = set(CODE.findall(text_of("docs/how-it-works.md")))
    assert {field.alias or to_camel(name) for name, field in record.model_fields.items()} - explained == set()


def test_every_error_code_is_explained_and_has_an_http_status() -> None:
    rows = {code: row_of(code, "docs/how-it-works.md") for code in error_codes()}
    assert {code for code, row in rows.items() if not re.search(r"\| (400|403|404|422|429|500) \|", row)} == set()


def test_every_preset_is_named() -> None:
    presets = {preset for known in load_definitions().values() for preset in (*known.presets, *known.other_presets)}
    assert presets - set(every(CODE, "docs/providers.md")) == set()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_relative_link_leads_somewhere(document: Path) -> None:
    for link in every(LINK, document):
        if link.startswith("https://"):
            continue
        name, _, anchor = link.partition("#")
        target = (document.parent / name) if name else document
        assert target.is_file(), link
        assert not anchor or anchor in anchors_of(target), link


def commands() -> set[tuple[str, ...]]:
    """Return each use of the program in code, as words: `resume`, `--help`, …"""
    found: set[tuple[str, ...]] = set()
    for document in DOCUMENTS:
        text = text_of(document)
        code = [*(body for _, _, body in FENCE.findall(text)), *CODE.findall(FENCE.sub("", text))]
        found |= {tuple(words.split()) for piece in code for words in COMMAND.findall(piece)}
    return found


@pytest.mark.parametrize("words", sorted(commands()), ids=" ".join)
def test_every_command_in_the_documents_is_a_real_one(words: tuple[str, ...]) -> None:
    name = [word for word in words if not word.startswith("-")][:2]
    group = load_command(name[0]) if name else None
    if name[1:] and not (isinstance(group, TyperGroup) and name[1] in group.commands):
        del name[1:]
    shown = CliRunner().invoke(app, [*name, "--help"])
    assert shown.exit_code == 0, shown.output
    assert all(word in shown.output for word in words if word.startswith("-"))


def test_every_command_stands_in_the_readme() -> None:
    known = set(typer.main.get_group(app).commands)
    named = {words[0] for words in commands()}
    assert known <= named


@pytest.mark.parametrize("document", NAMING_PATHS)
def test_every_path_that_is_named_exists(document: str) -> None:
    prose = FENCE.sub("", text_of(document))
    named = [code for code in CODE.findall(prose) if PATH.fullmatch(code)]
    assert named
    missing = [name for name in named if not (ROOT / name).exists() and not (SOURCES / name).exists()]
    assert missing == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_no_document_names_a_machine_or_a_registry(document: Path) -> None:
    assert FORBIDDEN.findall(text_of(document)) == []


def test_every_example_in_json_or_toml_can_be_read() -> None:
    documents: list[dict[str, Any]] = [
        *(json.loads(block) for block in blocks("json")),
        *(tomllib.loads(block) for block in blocks("toml")),
    ]
    assert len(documents) > 4


def test_the_example_of_a_file_is_a_conversation_of_today() -> None:
    (example,) = (block for block in blocks("json") if '"messages"' in block)
    named = json.loads(example)["conversationId"]
    shown = decode(example.encode(), "README.md", ConversationId(named))
    assert shown.message_count == len(shown.messages)
    assert shown.model_extra == {}
    assert all(message.model_extra == {} for message in shown.messages)


def test_the_keys_in_the_examples_are_placeholders_that_the_settings_ignore(tmp_path: Path) -> None:
    keys = {key for document in DOCUMENTS for key in re.findall(r"\bpplx-[\w-]+", text_of(document))}
    for key in keys:
        loaded = load_settings({}, {"PERPLEXITY_API_KEY": key}, tmp_path / "config.toml", tmp_path)
        assert loaded.settings.provider("perplexity").api_key is None
    assert keys


def test_the_figures_of_redaction_are_those_that_are_measured() -> None:
    assert figures() in (ROOT / "docs" / "privacy.md").read_text(encoding="utf-8")
