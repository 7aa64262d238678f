"""Where settings come from and what they are called there. Nothing here knows what a valid value is."""

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from platformdirs import user_config_path, user_data_path

from conversation_mcp.errors import InvalidInputError

PREFIX = "CONVERSATION_MCP_"
APP_NAME = "conversation-mcp"
NAMED_VARIABLES = {
    "perplexity_api_key": "PERPLEXITY_API_KEY",
    "perplexity_base_url": "PERPLEXITY_BASE_URL",
    "logs_dir": "CONVERSATION_LOGS_DIR",
    "max_conversation_turns": "MAX_CONVERSATION_TURNS",
    "conversation_timeout_hours": "CONVERSATION_TIMEOUT_HOURS",
}
FOLDER_NAME = "conversation-logs"


@dataclass(frozen=True)
class Gathered:
    """The values that were given, as they were given, and where each was."""

    values: dict[str, object]
    origins: dict[str, str]


def variable_of(field: str) -> str:
    """Return the environment variable of a setting."""
    return NAMED_VARIABLES.get(field, PREFIX + field.upper())


def config_path() -> Path:
    """Return the path of the user's TOML file, whether or not it exists."""
    return user_config_path(APP_NAME, appauthor=False) / "config.toml"


def read_toml(path: Path) -> dict[str, Any]:
    """Return what the user's file holds, nothing where there is none.

    Raises:
        InvalidInputError: it cannot be read, or is no TOML.
    """
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"{path} is not valid TOML: {error}.") from None
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be read: {error.strerror}.") from None


def gather(
    names: Collection[str],
    options: Mapping[str, object],
    environment: Mapping[str, str],
    config: Path,
    working_folder: Path,
) -> Gathered:
    """Merge command-line options, environment and TOML file, the first wins; the folder has a default of its own."""
    values: dict[str, object] = {}
    origins: dict[str, str] = {}
    for name, value in read_toml(config).items():
        if name in names:
            values[name], origins[name] = value, str(config)
    for name in names:
        if text := environment.get(variable_of(name), "").strip():
            values[name], origins[name] = text, variable_of(name)
    for name, value in options.items():
        if value is not None:
            values[name], origins[name] = value, "--" + name.replace("_", "-")
    if "logs_dir" not in values:
        values["logs_dir"], origins["logs_dir"] = default_folder(working_folder)
    return Gathered(values, origins)


def default_folder(working_folder: Path) -> tuple[Path, str]:
    """Return where conversations are kept when nobody said it, and why there."""
    here = working_folder / FOLDER_NAME
    if here.is_dir():
        return here, "the working folder"
    return user_data_path(APP_NAME, appauthor=False) / FOLDER_NAME, "default"


def conversation_folder(
    option: Path | None, environment: Mapping[str, str], config: Path, working_folder: Path
) -> Path:
    """Return where conversations are kept, without a look at any other setting.

    Raises:
        InvalidInputError: the file with the settings cannot be read, or names no folder.
    """
    gathered = gather(("logs_dir",), {"logs_dir": option}, environment, config, working_folder)
    value = gathered.values["logs_dir"]
    if not isinstance(value, str | Path):
        raise InvalidInputError(f"{gathered.origins['logs_dir']}: logs_dir must be a path; got {value!r}.")
    return working_folder / Path(value).expanduser()
