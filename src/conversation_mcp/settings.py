"""Settings: environment over a TOML file over defaults, validated once, with the origin of each value."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationError

from conversation_mcp.errors import InvalidInputError
from conversation_mcp.sources import PREFIX, config_path, gather, read_toml, variable_of

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

    perplexity_api_key: SecretStr | None = Field(
        default=None,
        description="Key of the Perplexity API. It is never logged or stored; doctor shows its end.",
    )
    perplexity_base_url: str | None = Field(
        default=None,
        description="Another address of Perplexity's Agent API, without /v1. Default: the public one.",
    )
    logs_dir: Path = Field(
        default=Path(),
        description="Folder of the conversations. Default: conversation-logs in the working folder if it exists, "
        "else in the user's data folder.",
    )
    max_conversation_turns: int | None = Field(
        default=None, ge=1, description="How many answers a conversation may have. Default: no limit."
    )
    tools: Annotated[tuple[str, ...], _separated(",")] = Field(
        default=("research",), description="Tool sets that are switched on, separated by commas."
    )
    documents: Annotated[tuple[Path, ...], _separated(os.pathsep)] = Field(
        default=(),
        description="Files, folders and patterns that the local provider answers from, separated by : (Windows: ;).",
    )
    prompts_dir: Path = Field(
        default_factory=lambda: config_path().parent / "prompts",
        description="Folder with your own search.md and deep_research.md in place of the system messages. "
        "Default: prompts beside the configuration file.",
    )
    search_preset: str = Field(default="fast", description="Perplexity preset of search.")
    search_followup_preset: str = Field(default="low", description="Perplexity preset of search_followup.")
    deep_research_preset: str = Field(default="high", description="Perplexity preset of deep_research.")
    deep_research_followup_preset: str = Field(
        default="high", description="Perplexity preset of deep_research_followup."
    )
    answer_wait_seconds: float = Field(
        default=50,
        ge=0,
        le=3600,
        description="How long a tool waits for its answer before it returns with status running. The turn goes on.",
    )
    lock_wait_seconds: float = Field(
        default=45, ge=0, le=3600, description="How long a follow-up waits for another one of its conversation."
    )
    ending_grace_seconds: float = Field(
        default=4, ge=0, le=60, description="How long an ending server waits for answers that would be lost with it."
    )
    retries: int = Field(
        default=2, ge=0, le=10, description="How often a call that cannot have been billed is repeated."
    )
    max_question_chars: int = Field(default=500_000, ge=1, description="The longest question that is taken.")
    max_result_chars: int = Field(
        default=60_000, ge=1_000, description="The longest answer in a result; the file always has all of it."
    )
    max_cost_usd_per_day: float | None = Field(
        default=None,
        ge=0,
        description="Refuse questions once the files of the day (UTC) add up to this cost. Default: no limit.",
    )
    log_level: str = Field(
        default="WARNING",
        pattern="^(DEBUG|INFO|WARNING|ERROR)$",
        description="DEBUG, INFO, WARNING or ERROR; the log goes to stderr.",
    )


@dataclass(frozen=True)
class LoadedSettings:
    """The settings, where each came from, and what was odd about their sources."""

    settings: Settings
    origins: Mapping[str, str]
    warnings: tuple[str, ...]


def load_settings(
    options: Mapping[str, object], environment: Mapping[str, str], config: Path, working_folder: Path
) -> LoadedSettings:
    """Merge command-line options, environment, TOML file and defaults.

    Raises:
        InvalidInputError: a value or name is not valid; the message names the variable, key or option.
    """
    for name in read_toml(config):
        if name not in Settings.model_fields:
            near = get_close_matches(name, Settings.model_fields, 1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise InvalidInputError(f"{config} has no setting {name!r}.{hint}")
    gathered = gather(Settings.model_fields, options, environment, config, working_folder)
    values, origins = gathered.values, gathered.origins
    warnings = _unknown_variables(environment)
    if _is_placeholder(values.get("perplexity_api_key")):
        warnings.append(f"{origins['perplexity_api_key']} holds a placeholder, not a key; it is ignored")
        del values["perplexity_api_key"], origins["perplexity_api_key"]
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
