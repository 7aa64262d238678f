"""Settings: environment over a TOML file over defaults, validated once, with the origin of each value."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationError, model_validator

from conversation_mcp.elsewhere import unread_variables
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.errors.validation import requirement
from conversation_mcp.sources import (
    PREFIX,
    PROVIDER_FIELDS,
    ProviderSetting,
    config_path,
    gather,
    provider_settings,
    provider_tables,
    read_toml,
    variable_of,
    with_table_values,
)
from conversation_mcp.text import nearest, presentable

PLACEHOLDER = re.compile(
    r"(pplx-)?(your\W.*|your_.*|change.?me.*|placeholder.*|example.*|todo.*|api.?key.*|x{3,}|\.{3,}|<.*>|\$\{?\w*\}?)",
    re.IGNORECASE,
)
FLAT = re.compile(rf"(?P<provider>[a-z][a-z0-9_-]*)_(?P<field>{'|'.join(PROVIDER_FIELDS)})")
ALLOWED = "_ALLOWED_MODELS"
TABLES = ("providers", "models")
"""Settings that are tables, and that no variable can hold."""

Kind = Literal["direct", "unified", "local", "custom"]


def _separated(separator: str) -> BeforeValidator:
    def split(value: object) -> object:
        if isinstance(value, str):
            return [part.strip() for part in value.split(separator) if part.strip()]
        return value

    return BeforeValidator(split)


Names = Annotated[tuple[str, ...], _separated(",")]


class ProviderSettings(BaseModel):
    """What is set for one provider. Whatever else its table in the user's file holds are fields of its definition."""

    model_config = ConfigDict(frozen=True, extra="allow")

    api_key: SecretStr | None = None
    """Its key; never logged or stored, and shown only by its end."""
    base_url: str | None = None
    """Another address."""
    default_model: str | None = None
    """The model that is asked when none is named."""
    allowed_models: Names = ()
    """The only models that may be asked, by any of their names; empty: all."""

    @property
    def extra(self) -> Mapping[str, object]:
        """The fields of its definition that the user's file sets."""
        return self.model_extra or {}


class OwnModel(BaseModel):
    """What a user knows better about a model. Prices are US dollars for a million tokens."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    aliases: Names = ()
    context: int | None = Field(default=None, ge=1)
    input: int | None = Field(default=None, ge=1)
    output: int | None = Field(default=None, ge=1)
    images: bool | None = None
    reasoning: bool | None = None
    price_in: float | None = Field(default=None, ge=0)
    price_out: float | None = Field(default=None, ge=0)
    ability: int | None = Field(default=None, ge=0, le=29)


class Settings(BaseModel):
    """Everything that can be set.

    A field has its environment variable in NAMED_VARIABLES, or its name in upper case after CONVERSATION_MCP_. What is
    set for a provider can also be given flat: `openai_api_key`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    providers: Mapping[str, ProviderSettings] = Field(
        default_factory=dict[str, ProviderSettings],
        description="A table for each provider: its key, its address, its models, and what else is to be different.",
    )
    models: Mapping[str, OwnModel] = Field(
        default_factory=dict[str, OwnModel],
        description="A table for each model, named provider:model: its windows, prices and aliases.",
    )
    logs_dir: Path = Field(
        default=Path(),
        description="Folder of the conversations. Default: conversation-logs in the working folder if it exists, "
        "else in the user's data folder.",
    )
    store: str | None = Field(
        default=None,
        description="Where conversations are kept, as a URL; goes before the folder. Default: the folder.",
    )
    max_conversation_turns: int | None = Field(
        default=None, ge=1, description="How many answers a conversation may have. Default: no limit."
    )
    conversation_timeout_hours: float | None = Field(
        default=None,
        gt=0,
        le=1_000_000,
        description="Archive conversations that were not updated for so long, except those with tags or a question "
        "without an answer; when a server starts, and with prune. Default: never.",
    )
    tools: Annotated[tuple[str, ...], _separated(",")] = Field(
        default=("research",), description="Tool sets that are switched on, separated by commas."
    )
    documents: Annotated[tuple[Path, ...], _separated(os.pathsep)] = Field(
        default=(),
        description="Files, folders and patterns that the local provider answers from, separated by : (Windows: ;).",
    )
    documents_model: str | None = Field(
        default=None,
        description="Model that writes answers from the passages of the local provider, which are sent to it; as "
        "DEFAULT_MODEL; auto takes one of this machine if there is any. Default: none, passages are quoted and stay "
        "here.",
    )
    prompts_dir: Path = Field(
        default_factory=lambda: config_path().parent / "prompts",
        description="Folder with your own search.md and deep_research.md in place of the system messages. "
        "Default: prompts beside the configuration file.",
    )
    default_model: str = Field(
        default="auto",
        description="Model of chat: auto, auto:fast, auto:balanced, auto:deep, a name, or provider:model.",
    )
    preferred_models: Names = Field(
        default=(), description="Models that auto takes before all others, in this order, separated by commas."
    )
    disabled_models: Names = Field(
        default=(), description="Models that are never asked, by name or provider:model, separated by commas."
    )
    fallback_models: Names = Field(
        default=(),
        description="Models that are asked, in this order, when the chosen one did not take the question and nothing "
        "was billed. The result says so. Default: none.",
    )
    sharing: Literal["named", "always"] = Field(
        default="named",
        description="When words that were only on this machine may leave it: named, when the call names the model or "
        "provider that gets them; always, whenever a provider outside is chosen.",
    )
    provider_order: Annotated[tuple[Kind, ...], _separated(",")] = Field(
        default=("direct", "unified", "local", "custom"),
        description="Where a name is looked for first, separated by commas.",
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
        description="Refuse questions once the day (UTC) adds up to this cost, told or estimated. Default: no limit.",
    )
    log_level: str = Field(
        default="WARNING",
        pattern="^(DEBUG|INFO|WARNING|ERROR)$",
        description="DEBUG, INFO, WARNING or ERROR; the log goes to stderr.",
    )

    @model_validator(mode="before")
    @classmethod
    def _fold(cls, values: object) -> object:
        """Take `openai_api_key` as the `api_key` of the provider `openai`."""
        if not isinstance(values, dict):
            return values
        given = cast("dict[str, Any]", values)
        flat = {name: FLAT.fullmatch(name) for name in given if name not in cls.model_fields}
        if not any(flat.values()):
            return given
        folded = {name: value for name, value in given.items() if not flat.get(name)}
        tables = {name: dict(table) for name, table in dict(given.get("providers") or {}).items()}
        for name, found in flat.items():
            if found:
                tables.setdefault(found["provider"], {})[found["field"]] = given[name]
        return {**folded, "providers": tables}

    def provider(self, name: str) -> ProviderSettings:
        """Return what is set for a provider."""
        return self.providers.get(name, NOTHING_SET)


NOTHING_SET = ProviderSettings()


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
    filed = read_toml(config)
    of_providers = {setting.name: setting for setting in provider_settings(provider_tables(filed))}
    for name in filed:
        if name not in Settings.model_fields and name not in of_providers:
            near = nearest(name, (*Settings.model_fields, *of_providers))
            hint = f" Did you mean {near!r}?" if near else ""
            raise InvalidInputError(f"{config} has no setting {name!r}.{hint}")
    variables = {name: (variable_of(name),) for name in Settings.model_fields if name not in TABLES}
    variables |= {"models": (), **{name: setting.variables for name, setting in of_providers.items()}}
    gathered = gather(variables, options, environment, config, working_folder)
    values, origins = gathered.values, gathered.origins
    tables = with_table_values(provider_tables(filed), of_providers.values(), values, origins, config)
    unread = (*_unread_lists(environment, of_providers.values()), *unread_variables(environment))
    warnings = [*_unknown_variables(environment), *unread]
    for name, setting in of_providers.items():
        if setting.field == "api_key" and PLACEHOLDER.fullmatch(str(values.get(name, ""))):
            warnings.append(f"{origins[name]} holds a placeholder, not a key; it is ignored")
            del values[name], origins[name]
    try:
        settings = Settings.model_validate({**values, "providers": tables or filed.get("providers", {})})
    except ValidationError as error:
        raise InvalidInputError(_sentence(error, origins, config)) from None
    paths = {
        "logs_dir": working_folder / settings.logs_dir.expanduser(),
        "documents": tuple(working_folder / path.expanduser() for path in settings.documents),
        "prompts_dir": working_folder / settings.prompts_dir.expanduser(),
    }
    return LoadedSettings(settings.model_copy(update=paths), origins, tuple(warnings))


def _unknown_variables(environment: Mapping[str, str]) -> Iterator[str]:
    known = {variable_of(name) for name in Settings.model_fields if name not in TABLES}
    for name in sorted(environment):
        if name.startswith(PREFIX) and name not in known:
            near = nearest(name, known)
            yield f"{name} is not a setting" + (f"; did you mean {near}?" if near else "")


def _unread_lists(environment: Mapping[str, str], known: Iterable[ProviderSetting]) -> Iterator[str]:
    read = {variable for setting in known for variable in setting.variables}
    for name in sorted(environment):
        if name.endswith(ALLOWED) and name not in read:
            yield f"{name} is not read: there is no provider of that name"


def _sentence(error: ValidationError, origins: Mapping[str, str], config: Path) -> str:
    problem = error.errors(include_url=False)[0]
    place = [str(part) for part in problem["loc"]]
    name = "_".join(place[1:3]) if place[0] == "providers" else place[0]
    origin = origins.get(name, str(config) if place[0] in TABLES else name)
    where = f"{config}: {'.'.join(place)}" if origin == str(config) else origin
    is_misplaced = place[0] in TABLES and not place[2:] and isinstance(problem["input"], str)
    shown = "" if "api_key" in place or is_misplaced else f"; got {presentable(repr(problem['input']))}"
    return f"{where}: {requirement(problem)}{shown}."
