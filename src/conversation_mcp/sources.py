"""Where settings come from and what they are called there. Nothing here knows what a valid value is."""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

from platformdirs import user_config_path, user_data_path

from conversation_mcp.disk.faults import reason_of
from conversation_mcp.disk.files import read_linked_file
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.text import presentable

PREFIX = "CONVERSATION_MCP_"
APP_NAME = "conversation-mcp"
NAMED_VARIABLES = {
    "logs_dir": "CONVERSATION_LOGS_DIR",
    "max_conversation_turns": "MAX_CONVERSATION_TURNS",
    "conversation_timeout_hours": "CONVERSATION_TIMEOUT_HOURS",
    "default_model": "DEFAULT_MODEL",
    "preferred_models": "PREFERRED_MODELS",
    "disabled_models": "DISABLED_MODELS",
}
PROVIDER_FIELDS = ("api_key", "base_url", "default_model", "allowed_models")
"""What can be set for each provider by a variable; as a setting it is called `openai_api_key`."""
FOLDER_NAME = "conversation-logs"


@dataclass(frozen=True)
class Gathered:
    """The values that were given, as they were given, and where each was."""

    values: dict[str, object]
    origins: dict[str, str]


@dataclass(frozen=True)
class ProviderSetting:
    """One thing that can be set for one provider, and the variables that set it, the first wins."""

    name: str
    provider: str
    field: str
    variables: tuple[str, ...]


def variable_of(field: str) -> str:
    """Return the environment variable of a setting."""
    return NAMED_VARIABLES.get(field, PREFIX + field.upper())


def provider_settings(tables: Mapping[str, Any] | None = None) -> Iterator[ProviderSetting]:
    """Yield what can be set for the known providers, and for those that `tables` of the user's file adds."""
    known: dict[str, Any] = tomllib.loads(
        files("conversation_mcp.providers").joinpath("definitions.toml").read_text("utf-8")
    )
    own = {name: cast("Mapping[str, Any]", table) for name, table in (tables or {}).items() if isinstance(table, dict)}
    for provider in dict.fromkeys((*known, *own)):
        facts = {**known.get(provider, {}), **own.get(provider, {})}
        prefix = provider.upper().replace("-", "_")
        keys = facts.get("key_variables", [f"{prefix}_API_KEY"])
        variables = {
            "api_key": _texts(keys),
            "base_url": (str(facts.get("base_url_variable", f"{prefix}_BASE_URL")),),
            "default_model": (str(facts["model_variable"]),) if "model_variable" in facts else (),
            "allowed_models": _texts(facts.get("allowed_models_variables")) or (f"{prefix}_ALLOWED_MODELS",),
        }
        for field in PROVIDER_FIELDS:
            yield ProviderSetting(f"{provider}_{field}", provider, field, variables[field])


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(str, cast("list[object]", value))) if isinstance(value, list) else ()


def provider_tables(filed: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the tables of providers in the user's file."""
    tables = filed.get("providers", {})
    return cast("Mapping[str, Any]", tables) if isinstance(tables, dict) else {}


def with_table_values(
    tables: Mapping[str, Any],
    settings: Iterable[ProviderSetting],
    values: dict[str, object],
    origins: dict[str, str],
    config: Path,
) -> Mapping[str, Any]:
    """Take what stands in the tables as the settings it is, unless a variable wins; return what else they hold."""
    left = {name: dict(cast("Mapping[str, Any]", table)) for name, table in tables.items() if isinstance(table, dict)}
    for setting in settings:
        table = left.get(setting.provider, {})
        if setting.field in table:
            value = table.pop(setting.field)
            if setting.name not in values:
                values[setting.name], origins[setting.name] = value, str(config)
    return {**tables, **left}


def config_path() -> Path:
    """Return the path of the user's TOML file, whether or not it exists."""
    return user_config_path(APP_NAME, appauthor=False) / "config.toml"


def read_toml(path: Path) -> dict[str, Any]:
    """Return what the user's file holds, nothing where there is none.

    Raises:
        InvalidInputError: it cannot be read, or is no TOML.
    """
    try:
        return tomllib.loads(read_linked_file(path).decode("utf-8-sig"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"{path} is not valid TOML: {error}.") from None
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be read: {reason_of(error)}.") from None


def gather(
    names: Mapping[str, Iterable[str]],
    options: Mapping[str, object],
    environment: Mapping[str, str],
    config: Path,
    working_folder: Path,
) -> Gathered:
    """Merge command-line options, environment and TOML file, the first wins; the folder has a default of its own.

    `names` are the settings that are asked for, each with its variables.
    """
    values: dict[str, object] = {}
    origins: dict[str, str] = {}
    for name, value in read_toml(config).items():
        if name in names:
            values[name], origins[name] = value, str(config)
    for name, variables in names.items():
        found = ((variable, text) for variable in variables if (text := environment.get(variable, "").strip()))
        for variable, text in found:
            values[name], origins[name] = text, variable
            break
    for name, value in options.items():
        if value is not None:
            values[name], origins[name] = value, "--" + name.replace("_", "-")
    if options.get("logs_dir") is not None:
        values.pop("store", None)
    if "logs_dir" not in values:
        values["logs_dir"], origins["logs_dir"] = default_folder(working_folder)
    return Gathered(values, origins)


def default_folder(working_folder: Path) -> tuple[Path, str]:
    """Return where conversations are kept when nobody said it, and why there."""
    here = working_folder / FOLDER_NAME
    if here.is_dir():
        return here, "the working folder"
    return user_data_path(APP_NAME, appauthor=False) / FOLDER_NAME, "default"


def store_url(store: str | None, folder: Path) -> str:
    """Return the URL of the store: the one that was set, else that of the folder of conversations."""
    return store or folder.absolute().as_uri()


def store_of(option: Path | None, environment: Mapping[str, str], config: Path, working_folder: Path) -> str:
    """Return the URL of the store, without a look at any other setting; a folder that is an option goes before it.

    Raises:
        InvalidInputError: the file with the settings cannot be read, or names no folder.
    """
    names = {name: (variable_of(name),) for name in ("logs_dir", "store")}
    gathered = gather(names, {"logs_dir": option}, environment, config, working_folder)
    if store := gathered.values.get("store"):
        return str(store)
    value = gathered.values["logs_dir"]
    if not isinstance(value, str | Path):
        raise InvalidInputError(
            f"{gathered.origins['logs_dir']}: logs_dir must be a path; got {presentable(repr(value))}."
        )
    return store_url(None, working_folder / Path(value).expanduser())
