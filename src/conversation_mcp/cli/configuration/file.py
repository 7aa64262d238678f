"""The configuration file, with a comment for every setting."""

import textwrap
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

from conversation_mcp.cli.configuration.toml_text import toml_key, toml_table, toml_value
from conversation_mcp.disk.faults import explained
from conversation_mcp.disk.files import make_private_folder, read_linked_file, replace_file
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.settings import TABLES, Settings
from conversation_mcp.sources import provider_settings, read_toml, variable_of

COMMENT_COLUMNS = 100
HEAD = """\
Settings of conversation-mcp. Each setting in a comment shows its default or an example; uncomment it to set your own
value. Environment variables and command-line options take precedence over this file.
"""
_DATA = tomllib.loads(files("conversation_mcp.cli.configuration").joinpath("examples.toml").read_text("utf-8"))
WORDS: Mapping[str, str] = _DATA["words"]
"""The descriptions of providers' settings; all other settings have descriptions of their own."""
EXAMPLES: Mapping[str, Any] = _DATA["examples"]
TABLE_EXAMPLES: Mapping[str, Mapping[str, Any]] = _DATA["tables"]


def write_config(path: Path, *, force: bool) -> Path | None:
    """Write the file, readable by its owner only, and return the path of a copy of the previous one, if there was one.

    Raises:
        InvalidInputError: the file exists and `force` is not given, or it is not valid TOML.
    """
    kept = read_toml(path)
    copy: Path | None = None
    with explained(path):
        if path.exists():
            if not force:
                raise InvalidInputError(f"{path} exists and was not changed. Edit it, or add --force to replace it.")
            copy = path.with_suffix(".toml.bak")  # written first, so that a failure leaves the file as it was
            replace_file(copy, read_linked_file(path))
        make_private_folder(path.parent)
        replace_file(path, config_text(kept).encode())
    return copy


def config_text(kept: Mapping[str, Any]) -> str:
    """Return the text of the file: each setting with its description, commented out unless it has a value to keep."""
    suggested = {setting.name: setting.variables[0] for setting in provider_settings() if setting.is_suggested}
    scalars = [name for name in Settings.model_fields if name not in TABLES]
    others = [name for name in kept if name not in (*suggested, *Settings.model_fields)]
    parts = [
        _comment(HEAD),
        *(_setting(name, f"{WORDS[name]} [{of}]", EXAMPLES[name], kept) for name, of in suggested.items()),
        *(f"{name} = {toml_value(kept[name])}" for name in others),
        *(_scalar(name, kept) for name in scalars),
        *(_table(name, kept.get(name, {})) for name in TABLES),
    ]
    return "\n\n".join(parts) + "\n"


def _scalar(name: str, kept: Mapping[str, Any]) -> str:
    field = Settings.model_fields[name]
    return _setting(name, f"{field.description} [{variable_of(name)}]", EXAMPLES.get(name, field.default), kept)


def _setting(name: str, words: str, example: object, kept: Mapping[str, Any]) -> str:
    line = f"{name} = {toml_value(kept[name])}" if name in kept else f"# {name} = {toml_value(example)}"
    return f"{_comment(words)}\n{line}"


def _table(name: str, kept: Mapping[str, Any]) -> str:
    """Return the tables to keep, or a commented example; in TOML, tables must come last."""
    tables = kept or TABLE_EXAMPLES[name]
    text = "\n".join(
        toml_table(f"{name}.{toml_key(inner)}", cast("Mapping[str, Any]", table)) for inner, table in tables.items()
    ).rstrip()
    shown = text if kept else "\n".join(f"# {line}" for line in text.splitlines())
    return f"{_comment(str(Settings.model_fields[name].description))}\n{shown}"


def _comment(text: str) -> str:
    return "\n".join(f"# {line}" for line in textwrap.wrap(text, COMMENT_COLUMNS, break_on_hyphens=False))
