"""The configuration file with every setting in it, explained."""

import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from conversation_mcp.cli.toml_text import toml_value
from conversation_mcp.disk.faults import explained
from conversation_mcp.disk.files import make_private_folder, replace_file
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.settings import Settings
from conversation_mcp.sources import read_toml, variable_of

COMMENT_COLUMNS = 100
HEAD = """\
Settings of conversation-mcp. Without the # in front of it a setting counts; what stands here as a comment is its
default or an example. Environment variables and command-line options win over this file.
"""
EXAMPLES: Mapping[str, Any] = {
    "perplexity_api_key": "pplx-your-key",
    "perplexity_base_url": "https://api.perplexity.ai",
    "logs_dir": "/path/to/conversation-logs",
    "max_conversation_turns": 50,
    "documents": ["/path/to/notes"],
    "prompts_dir": "/path/to/prompts",
    "max_cost_usd_per_day": 5.0,
}


def write_config(path: Path, *, force: bool) -> Path | None:
    """Write the file, for its owner alone, and return the path of a copy of the one that was there before.

    Raises:
        InvalidInputError: there is a file already and nobody said to replace it, or it is no TOML.
    """
    kept = read_toml(path)
    copy: Path | None = None
    with explained(path):
        if path.exists():
            if not force:
                raise InvalidInputError(f"{path} exists and was not changed. Edit it, or add --force to replace it.")
            copy = path.with_suffix(".toml.bak")
            replace_file(copy, path.read_bytes())
        make_private_folder(path.parent)
        replace_file(path, config_text(kept).encode())
    return copy


def config_text(kept: Mapping[str, Any]) -> str:
    """Return the file: each setting with what it is for, as a comment unless it has a value to keep."""
    parts = [_comment(HEAD), *(_setting(name, kept) for name in Settings.model_fields)]
    return "\n\n".join(parts) + "\n"


def _setting(name: str, kept: Mapping[str, Any]) -> str:
    field = Settings.model_fields[name]
    example = EXAMPLES.get(name, field.default)
    line = f"{name} = {toml_value(kept[name])}" if name in kept else f"# {name} = {toml_value(example)}"
    return f"{_comment(f'{field.description} [{variable_of(name)}]')}\n{line}"


def _comment(text: str) -> str:
    return "\n".join(f"# {line}" for line in textwrap.wrap(text, COMMENT_COLUMNS, break_on_hyphens=False))
