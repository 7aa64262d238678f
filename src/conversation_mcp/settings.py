"""Settings: environment over a TOML file over defaults, validated once, with the origin of each value."""

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

from platformdirs import user_config_path, user_data_path
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationError

from conversation_mcp.errors import InvalidInputError

PREFIX = "CONVERSATION_MCP_"
APP_NAME = "conversation-mcp"
NAMED_VARIABLES = {
    "perplexity_api_key": "PERPLEXITY_API_KEY",
    "perplexity_base_url": "PERPLEXITY_BASE_URL",
    "logs_dir": "CONVERSATION_LOGS_DIR",
    "max_conversation_turns": "MAX_CONVERSATION_TURNS",
}
FOLDER_NAME = "conversation-logs"
PLACEHOLDER = re.compile(
    r"(pplx-)?(your\W.*|your_.*|change.?me.*|placeholder.*|example.*|todo.*|api.?key.*|x{3,}|\.{3,}|<.*>|\$\{?\w*\}?)",
    re.IGNORECASE,
)


def _separated(separator: str) -> BeforeValidator:
    def split(value: object) -> object:
        if isinstance(value, str):
            return [part.strip() for part in value.split(separator) if part.strip()]
        return value

    return BeforeValidator(split)


class Settings(BaseModel):
    """Everything that can be set.

    A field has its environment variable in NAMED_VARIABLES, or its name in upper case after CONVERSATION_MCP_.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    perplexity_api_key: SecretStr | None = Field(default=None)
    perplexity_base_url: str | None = Field(default=None)
    logs_dir: Path = Field(default=Path())
    max_conversation_turns: int | None = Field(default=None, ge=1)
    tools: Annotated[tuple[str, ...], _separated(",")] = ("research",)
    documents: Annotated[tuple[Path, ...], _separated(os.pathsep)] = ()
    prompts_dir: Path = Field(default_factory=lambda: config_path().parent / "prompts")
    search_preset: str = "fast"
    search_followup_preset: str = "low"
    deep_research_preset: str = "high"
    deep_research_followup_preset: str = "high"
    answer_wait_seconds: float = Field(default=50, ge=0, le=3600)
    lock_wait_seconds: float = Field(default=45, ge=0, le=3600)
    ending_grace_seconds: float = Field(default=4, ge=0, le=60)
    retries: int = Field(default=2, ge=0, le=10)
    max_question_chars: int = Field(default=500_000, ge=1)
    max_result_chars: int = Field(default=60_000, ge=1_000)
    max_cost_usd_per_day: float | None = Field(default=None, ge=0)
    log_level: str = Field(default="WARNING", pattern="^(DEBUG|INFO|WARNING|ERROR)$")


@dataclass(frozen=True)
class LoadedSettings:
    """The settings, where each came from, and what was odd about their sources."""

    settings: Settings
    origins: Mapping[str, str]
    warnings: tuple[str, ...]


def variable_of(field: str) -> str:
    """Return the environment variable of a setting."""
    return NAMED_VARIABLES.get(field, PREFIX + field.upper())


def config_path() -> Path:
    """Return the path of the user's TOML file, whether or not it exists."""
    return user_config_path(APP_NAME, appauthor=False) / "config.toml"


def load_settings(
    options: Mapping[str, object], environment: Mapping[str, str], config: Path, working_folder: Path
) -> LoadedSettings:
    """Merge command-line options, environment, TOML file and defaults.

    Raises:
        InvalidInputError: a value or name is not valid; the message names the variable, key or option.
    """
    values: dict[str, object] = {}
    origins: dict[str, str] = {}
    for name, value in _read_toml(config).items():
        if name not in Settings.model_fields:
            near = get_close_matches(name, Settings.model_fields, 1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise InvalidInputError(f"{config} has no setting {name!r}.{hint}")
        values[name], origins[name] = value, str(config)
    for name in Settings.model_fields:
        if text := environment.get(variable_of(name), "").strip():
            values[name], origins[name] = text, variable_of(name)
    for name, value in options.items():
        if value is not None:
            values[name], origins[name] = value, "--" + name.replace("_", "-")
    warnings = _unknown_variables(environment)
    if _is_placeholder(values.get("perplexity_api_key")):
        warnings.append(f"{origins['perplexity_api_key']} holds a placeholder, not a key; it is ignored")
        del values["perplexity_api_key"], origins["perplexity_api_key"]
    if "logs_dir" not in values:
        values["logs_dir"], origins["logs_dir"] = _default_folder(working_folder)
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        raise InvalidInputError(_sentence(error, origins)) from None
    paths = {
        "logs_dir": working_folder / settings.logs_dir.expanduser(),
        "documents": tuple(working_folder / path.expanduser() for path in settings.documents),
        "prompts_dir": working_folder / settings.prompts_dir.expanduser(),
    }
    return LoadedSettings(settings.model_copy(update=paths), origins, tuple(warnings))


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"{path} is not valid TOML: {error}.") from None
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be read: {error.strerror}.") from None


def _default_folder(working_folder: Path) -> tuple[Path, str]:
    here = working_folder / FOLDER_NAME
    if here.is_dir():
        return here, "the working folder"
    return user_data_path(APP_NAME, appauthor=False) / FOLDER_NAME, "default"


def _unknown_variables(environment: Mapping[str, str]) -> list[str]:
    known = {variable_of(name) for name in Settings.model_fields}
    warnings: list[str] = []
    for name in sorted(environment):
        if name.startswith(PREFIX) and name not in known:
            near = get_close_matches(name, known, 1)
            warnings.append(f"{name} is not a setting" + (f"; did you mean {near[0]}?" if near else ""))
    return warnings


def _is_placeholder(key: object) -> bool:
    return isinstance(key, str) and PLACEHOLDER.fullmatch(key) is not None


def _sentence(error: ValidationError, origins: Mapping[str, str]) -> str:
    problem = error.errors(include_url=False)[0]
    name = str(problem["loc"][0])
    shown = "" if name == "perplexity_api_key" else f"; got {problem['input']!r}"
    return f"{origins.get(name, name)}: {problem['msg'][0].lower()}{problem['msg'][1:]}{shown}."
