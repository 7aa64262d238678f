"""Who can be asked, as data: where a provider is, which wire it speaks, what it can do and what bites there."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit, urlunsplit

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)

from conversation_mcp.errors import InvalidInputError
from conversation_mcp.errors.validation import requirement
from conversation_mcp.providers.base import Mode

Family = Literal["responses", "chat_completions"]
Kind = Literal["direct", "unified", "local", "custom"]
TokenField = Literal["max_tokens", "max_completion_tokens"]

NAME_PATTERN = r"^[a-z][a-z0-9_-]{0,31}$"
ENDPOINTS = ("/chat/completions", "/responses", "/agent", "/models")
"""What people paste behind a base URL."""


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Quirks(_Data):
    """Where a provider differs from its family. Tables of fields go into the body of a request as they are."""

    body: dict[str, JsonValue] = Field(default_factory=dict)
    """Sent with every request."""
    search: dict[str, JsonValue] = Field(default_factory=dict)
    """Sent as well when the question is a search: this is what makes a provider search that would not by itself."""
    research: dict[str, JsonValue] = Field(default_factory=dict)
    """Sent as well when the question is a deep research."""
    domain_filters: frozenset[Literal["allowed_domains", "excluded_domains", "blocked_domains"]] = frozenset()
    """Which filters its search tool takes under `filters`."""
    max_domains: int = Field(default=20, ge=1)
    """How many domains such a filter takes."""
    effort_field: Literal["reasoning", "reasoning_effort", "none"] | None = None
    """Where the reasoning effort goes; by default where the family has it."""
    store: bool | None = None
    """What is sent as `store`. A run can be found by its id only where this is true, or in the background."""
    output_limit_tokens: int | None = Field(default=None, ge=1)
    """The most tokens of an answer; not sent when it is not set."""
    token_field: TokenField | None = None
    """What that limit is called by chat completions; learnt from the first refusal when it is not set."""
    stream_usage: bool = True
    """Whether chat completions are asked for the usage of a stream."""
    system_role: Literal["system", "developer", "user"] = "system"
    """How the system message is sent; `user` puts it before the first question."""
    alternate: bool = True
    """Whether it may insist on user and assistant in turn, so that neighbours of one role are sent as one message."""
    silence_seconds: float | None = Field(default=None, gt=0)
    """How long a stream may be silent, where the usual time is too short."""


class Definition(_Data):
    """One provider. Users can change fields of the known ones, and add their own."""

    name: str = Field(pattern=NAME_PATTERN)
    title: str = Field(min_length=1, max_length=60)
    family: Family = "chat_completions"
    kind: Kind = "custom"
    """Names of models are looked for at direct ones first, then at unified, local and custom ones."""
    base_url: str | None = None
    """Its address up to where the endpoints of the family begin; None when only the user knows it."""
    base_url_variable: str | None = None
    key_variables: tuple[str, ...] = ()
    """Environment variables of its key; the first that is set counts. Empty when it needs none."""
    is_key_optional: bool = False
    model_variable: str | None = None
    abilities: Annotated[frozenset[Mode], Field(min_length=1)] = frozenset({"chat"})
    accepts_any_model: bool = True
    """Whether a name that nobody knows is sent all the same."""
    models: tuple[str, ...] = ()
    """Names that are known to be this provider's beside those of the catalogue."""
    remote_models: tuple[str, ...] = ()
    """Patterns, in small letters, of models that a server of this machine has others run, so that words leave it."""
    allowed_models_variables: tuple[str, ...] = ()
    """Environment variables of the models that may be asked, where there are others than NAME_ALLOWED_MODELS."""
    default_model: str | None = None
    research_model: str | None = None
    """The model of a deep research when none is named; else `default_model`."""
    default_window_tokens: int | None = Field(default=None, ge=256)
    """The window that a model is taken to have when nobody knows it."""
    quirks: Quirks = Field(default_factory=Quirks)

    @field_validator("base_url")
    @classmethod
    def _is_address(cls, value: str | None) -> str | None:
        if value is not None and not is_web_address(value):
            message = "must be an address such as http://localhost:8080/v1"
            raise ValueError(message)
        return value

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if "deep_research" in self.abilities and self.family != "responses":
            message = "abilities: deep_research needs family 'responses'; it is a background run there"
            raise ValueError(message)
        return self

    @property
    def needs_key(self) -> bool:
        """Whether it cannot be asked without a key."""
        return bool(self.key_variables) and not self.is_key_optional

    @property
    def base_url_name(self) -> str:
        """What its address is called where users set it."""
        return self.base_url_variable or f"base_url of [providers.{self.name}]"

    @property
    def key_variable(self) -> str:
        """The variable that is named when the key is refused or missing."""
        return self.key_variables[0] if self.key_variables else f"{self.name.upper().replace('-', '_')}_API_KEY"


@dataclass(frozen=True)
class Configured:
    """A provider that can be asked: its definition together with what the user set."""

    definition: Definition
    base_url: str
    """Joined right: no slash at its end, the endpoints follow."""
    key: SecretStr | None = None
    default_model: str | None = None
    is_base_url_set: bool = False
    """Whether the user named the address. A local one whose address nobody named may not be there at all."""

    def url(self, path: str) -> str:
        """Return the address of an endpoint, such as `models`; a query of the base URL stays at the end."""
        parts = urlsplit(self.base_url)
        return urlunsplit(parts._replace(path=f"{parts.path}/{path}"))

    def model(self, mode: Mode) -> str | None:
        """Return the model that is asked when none is named."""
        research = self.definition.research_model if mode == "deep_research" else None
        return research or self.default_model or self.definition.default_model


@dataclass(frozen=True)
class Given:
    """What a user set for a provider beside the fields of its definition."""

    api_key: SecretStr | None = None
    base_url: str | None = None
    default_model: str | None = None


def is_web_address(text: str) -> bool:
    """Tell whether this is a web address with a host."""
    try:
        parts = urlsplit(text.strip())
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        return False


def joined_base_url(given: str, usual: str | None) -> str:
    """Return a base URL without what people paste behind it; one without a path gets the path of the usual one."""
    if not is_web_address(given):
        return given.strip()
    parts = urlsplit(given.strip())
    path = parts.path.rstrip("/")
    for endpoint in ENDPOINTS:
        path = path.removesuffix(endpoint).rstrip("/")
    if not path and usual is not None:
        path = urlsplit(usual).path.rstrip("/")
    return urlunsplit(parts._replace(path=path, fragment=""))


def resolved(definition: Definition, given: Given) -> Configured | None:
    """Return the provider as it can be asked, or None when it is not configured.

    Configured is one whose key is set, or that needs none and whose address is known. A local one at its usual
    address counts as configured; whether it is there shows when it is asked. So does an address that is none.
    """
    key = given.api_key if given.api_key and given.api_key.get_secret_value() else None
    if definition.needs_key and key is None:
        return None
    address = given.base_url or definition.base_url
    if address is None:
        return None
    return Configured(
        definition=definition,
        base_url=joined_base_url(address, definition.base_url),
        key=key,
        default_model=given.default_model,
        is_base_url_set=given.base_url is not None,
    )


def _shipped() -> dict[str, dict[str, Any]]:
    return tomllib.loads(files("conversation_mcp.providers").joinpath("definitions.toml").read_text(encoding="utf-8"))


SHIPPED = _shipped()
"""Read while this module is imported, like code: that happens once, and never while an event loop waits for a file."""


def load_definitions(given: Mapping[str, Mapping[str, object]] | None = None) -> dict[str, Definition]:
    """Return all definitions by name, in the order in which they are resolved.

    Args:
        given: fields that users set, by the name of the provider: changes of a known one, or a new one.

    Raises:
        InvalidInputError: a field is not what it must be; the message names it.
    """
    tables: dict[str, dict[str, Any]] = {name: dict(table) for name, table in SHIPPED.items()}
    for name, fields in (given or {}).items():
        tables[name] = _merged(tables.get(name) or {"title": name, "accepts_any_model": True}, fields)
    known = {name: _definition(name, table, is_own=name in (given or {})) for name, table in tables.items()}
    order = ("direct", "unified", "local", "custom")
    return dict(sorted(known.items(), key=lambda item: order.index(item[1].kind)))


def _merged(table: Mapping[str, Any], fields: Mapping[str, object]) -> dict[str, Any]:
    quirks = fields.get("quirks")
    if isinstance(quirks, Mapping):
        return {**table, **fields, "quirks": {**table.get("quirks", {}), **quirks}}
    return {**table, **fields}


def _definition(name: str, table: Mapping[str, Any], *, is_own: bool) -> Definition:
    try:
        return Definition.model_validate({**table, "name": name})
    except ValidationError as error:
        if not is_own:
            raise
        problem = error.errors(include_url=False)[0]
        places = [str(part) for part in problem["loc"] if part != "name"]
        what = requirement(problem)
        if problem["type"] == "extra_forbidden":
            what = "there is no such field"
        if problem["loc"] == ("name",):
            what = "the name of a provider has small letters, digits, - and _, at most 32"
        where = " ".join(filter(None, (f"[providers.{name}]", ".".join(places))))
        raise InvalidInputError(f"{where}: {what}.") from None
