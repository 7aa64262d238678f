"""The settings: from options, environment, TOML file and defaults, validated once, with the origin of each value."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, cast, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationError, model_validator

from conversation_mcp.elsewhere import unread_variables
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.errors.validation import requirement
from conversation_mcp.sources import (
    PREFIX,
    PROVIDER_FIELDS,
    config_path,
    gather,
    provider_settings,
    provider_tables,
    read_toml,
    unread_lists,
    variable_of,
    with_table_values,
)
from conversation_mcp.text import nearest, presentable

PLACEHOLDER = re.compile(
    r"(pplx-)?(your\W.*|your_.*|change.?me.*|placeholder.*|example.*|todo.*|api.?key.*|x{3,}|\.{3,}|<.*>|\$\{?\w*\}?)",
    re.IGNORECASE,
)
FLAT = re.compile(rf"(?P<provider>[a-z][a-z0-9_-]*)_(?P<field>{'|'.join(PROVIDER_FIELDS)})")
TABLES = ("providers", "models")
"""Settings that are tables and cannot come from a variable."""

Kind = Literal["direct", "unified", "local", "custom"]


def _separated(separator: str) -> BeforeValidator:
    def split(value: object) -> object:
        if isinstance(value, str):
            return [part.strip() for part in value.split(separator) if part.strip()]
        return value

    return BeforeValidator(split)


Names = Annotated[tuple[str, ...], _separated(",")]


class ProviderSettings(BaseModel):
    """The settings of one provider. Other keys of its table in the user's file change fields of its definition."""

    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)

    api_key: SecretStr | None = None
    """The API key; never logged or stored, and shown only by its last characters."""
    base_url: str | None = None
    """An address in place of the usual one."""
    default_model: str | None = None
    """The model to ask if none is named."""
    allowed_models: Names = ()
    """The only models that may be asked, by any of their names; empty allows all."""

    @property
    def extra(self) -> Mapping[str, object]:
        """The fields of the provider's definition that the user's file sets."""
        return self.model_extra or {}


class OwnModel(BaseModel):
    """The facts about a model that a user corrects or adds. Prices are US dollars per million tokens."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

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
    """All settings.

    The environment variable of a field is in NAMED_VARIABLES, or its upper-case name after CONVERSATION_MCP_. Settings
    of a provider can also be given flat: `openai_api_key`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    providers: Mapping[str, ProviderSettings] = Field(
        default_factory=dict[str, ProviderSettings],
        description="A table for each provider: its key, its address, its models, and changes of its definition.",
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
        description="The URL of the store of conversations; it takes precedence over the folder. Default: the folder.",
    )
    max_conversation_turns: int | None = Field(
        default=None, ge=1, description="The most answers in a conversation. Default: no limit."
    )
    conversation_timeout_hours: float | None = Field(
        default=None,
        gt=0,
        le=1_000_000,
        description="Archive conversations that were not updated for this long, except those with tags or an "
        "unanswered question; done when a server starts, and by prune. Default: never.",
    )
    tools: Annotated[tuple[str, ...], _separated(",")] = Field(
        default=("research",), description="The enabled sets of tools, separated by commas."
    )
    documents: Annotated[tuple[Path, ...], _separated(os.pathsep)] = Field(
        default=(),
        description="Files, folders and patterns that the local provider answers from, separated by : (Windows: ;).",
    )
    documents_model: str | None = Field(
        default=None,
        description="Model that writes answers from the passages of the local provider, which are sent to it; named as "
        "in DEFAULT_MODEL; auto prefers a model on this machine. Default: none; passages are quoted and stay here.",
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
        default=(), description="Models that auto prefers to all others, in this order, separated by commas."
    )
    disabled_models: Names = Field(
        default=(), description="Models that are never asked, by name or provider:model, separated by commas."
    )
    fallback_models: Names = Field(
        default=(),
        description="Models that are asked, in this order, if the chosen one did not accept the question and nothing "
        "was billed; the result names the change. Default: none.",
    )
    sharing: Literal["named", "always"] = Field(
        default="named",
        description="When words that were only on this machine may leave it: named, if the call names the model or "
        "provider that gets them; always, whenever an outside provider is chosen.",
    )
    provider_order: Annotated[tuple[Kind, ...], _separated(",")] = Field(
        default=get_args(Kind),
        description="The kinds of providers in the order in which they are searched for a model's name, separated by "
        "commas.",
    )
    search_preset: str = Field(default="fast", description="Preset of search, if the provider has presets.")
    search_followup_preset: str = Field(
        default="low", description="Preset of search_followup, if the provider has presets."
    )
    deep_research_preset: str = Field(
        default="high", description="Preset of deep_research, if the provider has presets."
    )
    deep_research_followup_preset: str = Field(
        default="high", description="Preset of deep_research_followup, if the provider has presets."
    )
    answer_wait_seconds: float = Field(
        default=50,
        ge=0,
        le=3600,
        description="How long a tool waits for its answer before it returns with status running. The turn continues.",
    )
    lock_wait_seconds: float = Field(
        default=45, ge=0, le=3600, description="How long a follow-up waits for another one in its conversation."
    )
    ending_grace_seconds: float = Field(
        default=4, ge=0, le=60, description="How long an ending server waits for answers that would otherwise be lost."
    )
    retries: int = Field(
        default=2, ge=0, le=10, description="The most repetitions of a call that cannot have been billed."
    )
    max_question_chars: int = Field(default=500_000, ge=1, description="The longest question that is accepted.")
    max_result_chars: int = Field(
        default=60_000, ge=1_000, description="The longest answer in a result; the file always has all of it."
    )
    max_cost_usd_per_day: float | None = Field(
        default=None,
        ge=0,
        description="Refuse questions once the cost of the day (UTC), reported or estimated, reaches this. Default: no "
        "limit.",
    )
    log_level: str = Field(
        default="WARNING",
        pattern="^(DEBUG|INFO|WARNING|ERROR)$",
        description="DEBUG, INFO, WARNING or ERROR; the log goes to stderr.",
    )

    @model_validator(mode="before")
    @classmethod
    def _fold(cls, values: object) -> object:
        """Move `openai_api_key` to the `api_key` of the provider `openai`."""
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
        """Return the settings of a provider."""
        return self.providers.get(name) or ProviderSettings()


class LoadedSettings(NamedTuple):
    """The settings, the origin of each, and warnings about their sources."""

    settings: Settings
    origins: Mapping[str, str]
    warnings: tuple[str, ...]


def load_settings(
    options: Mapping[str, object], environment: Mapping[str, str], config: Path, working_folder: Path
) -> LoadedSettings:
    """Merge command-line options, environment, TOML file and defaults.

    Raises:
        InvalidInputError: a value or name is not valid; the message names its variable, key or option.
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
    unread = (*unread_lists(environment, of_providers.values()), *unread_variables(environment))
    warnings = [*_unknown_variables(environment), *unread]
    for name, setting in of_providers.items():
        # A key left over from an example would be refused with every call; without it, another provider may answer.
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


def _sentence(error: ValidationError, origins: Mapping[str, str], config: Path) -> str:
    problem = error.errors(include_url=False)[0]
    place = [str(part) for part in problem["loc"]]
    name = "_".join(place[1:3]) if place[0] == "providers" else place[0]
    origin = origins.get(name, str(config) if place[0] in TABLES else name)
    where = f"{config}: {'.'.join(place)}" if origin == str(config) else origin
    # A key is never shown, not even one that was put where a table belongs.
    is_misplaced = place[0] in TABLES and not place[2:] and isinstance(problem["input"], str)
    shown = "" if "api_key" in place or is_misplaced else f"; got {presentable(repr(problem['input']))}"
    return f"{where}: {requirement(problem)}{shown}."
