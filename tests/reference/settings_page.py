"""docs/settings.md: every setting, where it can be set, its default and its limits."""

from collections.abc import Iterator
from typing import Any, cast

import typer.main
from pydantic.fields import FieldInfo
from tests.reference.markdown import MADE_BY, code, document, table
from tests.reference.types import words_of

from conversation_mcp.cli.main import app
from conversation_mcp.settings import TABLES, OwnModel, Settings
from conversation_mcp.sources import PROVIDER_FIELDS, provider_settings, variable_of

INTRODUCTION = """\
Command-line options win over environment variables, these over the configuration file, that over the defaults. The file
is TOML; `conversation-mcp doctor` prints its path (Linux: `~/.config/conversation-mcp/config.toml`) and where each value
came from. An unknown key in the file is an error, an unknown variable with our prefix a warning. An empty variable counts
as unset. In a variable a list is one text, in the file it is a list."""

OF_OTHERS = """\
`HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY` and `SSL_CERT_FILE` work as usual."""


OF_PROVIDERS = """\
What can be set for each provider, with its variables. In the file the same stands in a table, `[providers.openai]` with
`api_key = "…"`, or flat, `openai_api_key = "…"`. A table can also change what is known of a provider, and a table of a
new name adds one; [providers.md](providers.md) shows how. Keys are never logged or stored; `conversation-mcp doctor` and
`conversation-mcp config` show their ends."""

OF_MODELS = """\
A table `[models."provider:model"]` says what you know better of a model:
{fields}.
Windows (`context`, `input`, `output`) are in tokens, prices in US dollars for a million tokens, `ability` goes from 0 to
29."""


def settings_page() -> str:
    """Return the page."""
    properties = cast("dict[str, dict[str, Any]]", Settings.model_json_schema()["properties"])
    options = _options()
    rows = (
        (
            code(variable_of(name)),
            code(name),
            words_of(properties[name]),
            _default(field),
            " ".join(part for part in (field.description, _also(name, options)) if part),
        )
        for name, field in Settings.model_fields.items()
        if name not in TABLES
    )
    return document(
        "# Settings",
        MADE_BY,
        INTRODUCTION,
        table(("variable", "key in the file", "value", "default", "meaning"), rows),
        OF_OTHERS,
        "## Providers",
        OF_PROVIDERS,
        table(("provider", *PROVIDER_FIELDS), _providers()),
        "## Models",
        OF_MODELS.format(fields=", ".join(map(code, OwnModel.model_fields))),
    )


def _providers() -> Iterator[tuple[str, ...]]:
    """Yield a row for each provider, with the variables of what can be set for it."""
    rows: dict[str, list[str]] = {}
    for setting in provider_settings():
        rows.setdefault(setting.provider, [code(setting.provider)]).append(" or ".join(map(code, setting.variables)))
    yield from map(tuple, rows.values())


def _options() -> set[str]:
    """Return the settings that the command line has an option for."""
    return {str(option.name) for option in typer.main.get_group(app).params} & set(Settings.model_fields)


def _also(name: str, options: set[str]) -> str:
    return f"Also {code('--' + name.replace('_', '-'))}." if name in options else ""


def _default(field: FieldInfo) -> str:
    default: Any = field.default
    if isinstance(default, tuple):
        return code(",".join(cast("tuple[str, ...]", default))) if default else ""
    return code(default) if isinstance(default, str | int | float) else ""
