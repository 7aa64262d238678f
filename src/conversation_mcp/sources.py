"""The sources of settings (options, environment, file) and their names there. Validation is not done here."""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from platformdirs import user_config_path, user_data_path

from conversation_mcp.disk.faults import reason_of
from conversation_mcp.disk.files import read_linked_file
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.owners import LOCAL, REQUIREMENT, is_owner
from conversation_mcp.text import presentable

if TYPE_CHECKING:
    from conversation_mcp.sealing.keys import Encryption

PREFIX = "CONVERSATION_MCP_"
APP_NAME = "conversation-mcp"
NAMED_VARIABLES = {
    "logs_dir": "CONVERSATION_LOGS_DIR",
    "max_conversation_turns": "MAX_CONVERSATION_TURNS",
    "conversation_timeout_hours": "CONVERSATION_TIMEOUT_HOURS",
    "max_message_chars": "MAX_MESSAGE_CHARS",
    "default_model": "DEFAULT_MODEL",
    "preferred_models": "PREFERRED_MODELS",
    "disabled_models": "DISABLED_MODELS",
}
PROVIDER_FIELDS = ("api_key", "base_url", "default_model", "api_version", "allowed_models")
"""The fields of a provider that a variable can set; the flat name of such a setting is `openai_api_key`."""
ALLOWED_MODELS = "_ALLOWED_MODELS"
FOLDER_NAME = "conversation-logs"


STORE_ADDRESSES = {"redis": "REDIS_URL"}
"""Words in place of the URL of a store, and the variables with that URL, which choose no store by themselves."""


class Gathered(NamedTuple):
    """The values as they were given, and the origin of each."""

    values: dict[str, object]
    origins: dict[str, str]


class ProviderSetting(NamedTuple):
    """One setting of one provider, and the variables that set it; the first one set wins."""

    name: str
    provider: str
    field: str
    variables: tuple[str, ...]
    is_suggested: bool = False
    """Whether it is shown before it is set, because a new user looks for it."""


def variable_of(field: str) -> str:
    """Return the environment variable of a setting."""
    return NAMED_VARIABLES.get(field, PREFIX + field.upper())


def shipped_providers() -> dict[str, dict[str, Any]]:
    """Return the tables of the shipped data file of providers."""
    return tomllib.loads(files("conversation_mcp.providers").joinpath("definitions.toml").read_text("utf-8"))


def allowed_models_variable(provider: str) -> str:
    """Return the environment variable that lists the allowed models of a provider."""
    return f"{_prefix(provider)}{ALLOWED_MODELS}"


def _prefix(provider: str) -> str:
    return provider.upper().replace("-", "_")


def provider_settings(tables: Mapping[str, Any] | None = None) -> Iterator[ProviderSetting]:
    """Yield the settings of the known providers and of those that the `tables` of the user's file add."""
    known = shipped_providers()
    own = {name: cast("Mapping[str, Any]", table) for name, table in (tables or {}).items() if isinstance(table, dict)}
    for provider in dict.fromkeys((*known, *own)):
        facts = {**known.get(provider, {}), **own.get(provider, {})}
        prefix = _prefix(provider)
        keys = facts.get("key_variables", [f"{prefix}_API_KEY"])
        is_suggested = "search" in _texts(facts.get("suggested_for"))
        variables = {
            "api_key": _texts(keys),
            "base_url": (str(facts.get("base_url_variable", f"{prefix}_BASE_URL")),),
            "default_model": (str(facts["model_variable"]),) if "model_variable" in facts else (),
            "api_version": (str(facts["api_version_variable"]),) if "api_version_variable" in facts else (),
            "allowed_models": _texts(facts.get("allowed_models_variables")) or (allowed_models_variable(provider),),
        }
        for field in PROVIDER_FIELDS:
            is_shown = is_suggested and field in ("api_key", "base_url")
            yield ProviderSetting(f"{provider}_{field}", provider, field, variables[field], is_shown)


def unread_lists(environment: Mapping[str, str], known: Iterable[ProviderSetting]) -> Iterator[str]:
    """Yield a warning for each variable that allows models of an unknown provider."""
    read = {variable for setting in known for variable in setting.variables}
    for name in sorted(environment):
        if name.endswith(ALLOWED_MODELS) and name not in read:
            yield f"{name} is not read: there is no provider of that name"


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
    """Move settings from the tables into `values`, unless a variable set them; return the rest of the tables."""
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
    """Return the content of the user's file; empty if there is no file.

    Raises:
        InvalidInputError: the file cannot be read or is not valid TOML.
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
    """Merge command-line options, environment and TOML file, in this order of precedence.

    `names` are the wanted settings, each with its variables. Only the folder of conversations gets its default here.
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
    # A store goes before a folder, but not before a folder that was named on the command line.
    if options.get("logs_dir") is not None:
        values.pop("store", None)
    if (variable := STORE_ADDRESSES.get(str(values.get("store")))) is not None:
        values["store"], origins["store"] = _address(environment, variable, origins["store"]), variable
    if "logs_dir" not in values:
        values["logs_dir"], origins["logs_dir"] = default_folder(working_folder)
    return Gathered(values, origins)


def _address(environment: Mapping[str, str], variable: str, origin: str) -> str:
    if address := environment.get(variable, "").strip():
        return address
    raise InvalidInputError(f"{origin} names a store whose address must be in {variable}, which is not set.")


def default_folder(working_folder: Path) -> tuple[Path, str]:
    """Return the default folder of conversations, and its origin in words."""
    here = working_folder / FOLDER_NAME
    if here.is_dir():
        return here, "the working folder"
    return user_data_path(APP_NAME, appauthor=False) / FOLDER_NAME, "default"


def store_url(store: str | None, folder: Path) -> str:
    """Return the URL of the store: the one that was set, else the URL of the folder of conversations."""
    return store or folder.absolute().as_uri()


def owner_of(option: str | None, environment: Mapping[str, str], config: Path, working_folder: Path) -> str:
    """Return the owner without reading other settings, as `store_of`."""
    gathered = gather({"owner": (variable_of("owner"),)}, {"owner": option}, environment, config, working_folder)
    owner = gathered.values.get("owner", LOCAL)
    if not isinstance(owner, str) or not is_owner(owner):
        raise InvalidInputError(f"{gathered.origins['owner']}: owner {REQUIREMENT}; got {presentable(repr(owner))}.")
    return owner


def encryption_with(key: str | None, file: Path | None, extent: object) -> "Encryption | None":
    """Return the encryption with these settings; None without a key, whose absence costs no import."""
    if not key and file is None:
        return None
    from conversation_mcp.sealing.keys import Encryption

    return Encryption(key or None, file, "messages" if extent == "messages" else "all")


def encryption_of(environment: Mapping[str, str], config: Path, working_folder: Path) -> "Encryption | None":
    """Return the encryption without reading other settings, as `store_of`."""
    names = {name: (variable_of(name),) for name in ("encryption_key", "encryption_key_file", "encrypt")}
    values = gather(names, {}, environment, config, working_folder).values
    key, file = (str(values.get(name) or "") for name in ("encryption_key", "encryption_key_file"))
    path = working_folder / Path(file).expanduser() if file else None
    return encryption_with(key, path, values.get("encrypt"))


def store_of(option: Path | None, environment: Mapping[str, str], config: Path, working_folder: Path) -> str:
    """Return the URL of the store without reading other settings; a folder given as an option wins.

    Commands that only look use this: to validate all settings would take longer than the rest of their work.

    Raises:
        InvalidInputError: the settings file cannot be read, or its folder is not a path.
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
