"""The definitions of providers: the address, the wire format, the abilities and the quirks of each, as data."""

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal, Self, cast, get_args
from urllib.parse import urlencode, urlsplit, urlunsplit

from pydantic import (
    Field,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)

from conversation_mcp.errors import InvalidInputError
from conversation_mcp.errors.validation import requirement
from conversation_mcp.providers.data import Data
from conversation_mcp.providers.images import Images
from conversation_mcp.providers.pdfs import Pdfs
from conversation_mcp.providers.quirks import Quirks
from conversation_mcp.records.modes import Mode
from conversation_mcp.settings import Kind
from conversation_mcp.sources import shipped_providers

Family = Literal["responses", "chat_completions", "messages", "interactions"]
Dialect = Literal["agent"]
BACKGROUND: tuple[Family, ...] = ("responses", "interactions")
"""The families that run a research in the background."""
PDF_FAMILIES: tuple[Family, ...] = ("messages", "interactions")
"""The families whose messages have a place for PDFs."""

NAME_PATTERN = r"^[a-z][a-z0-9_-]{0,31}$"
ENDPOINTS = ("/chat/completions", "/responses", "/agent", "/messages", "/interactions", "/models")
"""Endpoints that people often leave at the end of a base URL."""


class Definition(Data):
    """The definition of one provider. Users can change fields of the shipped ones and add their own."""

    name: str = Field(pattern=NAME_PATTERN)
    title: str = Field(min_length=1, max_length=60)
    family: Family = "chat_completions"
    dialect: Dialect | None = None
    """A variant of the family that differs by more than `quirks` can express."""
    kind: Kind = "custom"
    """Direct providers are searched for a model's name first, then unified, local and custom ones."""
    base_url: str | None = None
    """Its address, up to the endpoints of the family; None if only the user knows it."""
    base_url_variable: str | None = None
    compatible_ending: str | None = None
    """The end of an address at which it speaks chat completions instead, and can do nothing but chat."""
    base_path: str = ""
    """The path of an address that was given without one, where `base_url` does not say it."""
    key_variables: tuple[str, ...] = ()
    """Environment variables of its key; the first one that is set counts. Empty if it needs no key."""
    is_key_optional: bool = False
    model_variable: str | None = None
    api_version_variable: str | None = None
    """The variable of the version that is sent as `api-version` in the address of each call, if it is set."""
    abilities: Annotated[frozenset[Mode], Field(min_length=1)] = frozenset({"chat"})
    accepts_any_model: bool = True
    """Whether an unknown model's name is sent all the same."""
    presets: tuple[str, ...] = ()
    """Names that it accepts in place of a model, to choose one itself. A model that it names is another maker's."""
    other_presets: tuple[str, ...] = ()
    """Presets that are accepted but not offered."""
    suggested_for: frozenset[Mode] = frozenset()
    """The modes for which it is suggested if no provider can be asked; one for searches is shown before it is set."""
    models: tuple[str, ...] = ()
    """Names of its models that are not in the catalogue."""
    remote_models: tuple[str, ...] = ()
    """Patterns, in lower case, of models that a server on this machine runs elsewhere, so that words leave it."""
    allowed_models_variables: tuple[str, ...] = ()
    """Environment variables of the allowed models, if they differ from NAME_ALLOWED_MODELS."""
    default_model: str | None = None
    research_model: str | None = None
    """The model of a deep research if none is named, in place of `default_model`."""
    default_window_tokens: int | None = Field(default=None, ge=256)
    """The assumed window of a model whose window is unknown."""
    embeddings: Literal["embeddings", "embed"] = "embeddings"
    """How it makes vectors of texts: at `/v1/embeddings`, or at `/api/embed`, which says if a text is too long."""
    quirks: Quirks = Field(default_factory=Quirks)
    images: Images = Field(default_factory=Images)
    pdfs: Pdfs = Field(default_factory=Pdfs)

    @field_validator("base_url")
    @classmethod
    def _is_address(cls, value: str | None) -> str | None:
        if value is not None and not is_web_address(value):
            message = "must be an address such as http://localhost:8080/v1"
            raise ValueError(message)
        return value

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if "deep_research" in self.abilities and self.family not in BACKGROUND:
            message = f"abilities: deep_research needs family {' or '.join(map(repr, BACKGROUND))}, for background runs"
            raise ValueError(message)
        if self.pdfs.accepted and self.family not in PDF_FAMILIES:
            message = f"pdfs: accepted needs family {' or '.join(map(repr, PDF_FAMILIES))}"
            raise ValueError(message)
        if self.presets and self.dialect is None:
            message = "presets: no family accepts presets, only dialect 'agent' does"
            raise ValueError(message)
        return self

    def at(self, base_url: str) -> Self:
        """Return the definition that is true of the provider at this address."""
        if self.compatible_ending is None or not urlsplit(base_url).path.endswith(self.compatible_ending):
            return self
        only_chat = {"abilities": frozenset({"chat"}), "quirks": Quirks(), "research_model": None, "pdfs": Pdfs()}
        return self.model_copy(update={"family": "chat_completions", **only_chat})

    def is_preset(self, name: str) -> bool:
        """Tell whether this is one of its presets; it may end with a version, as in `fast@2026-10-16.0`."""
        return name.partition("@")[0] in (*self.presets, *self.other_presets)

    def is_agent(self, name: str) -> bool:
        """Tell whether this is the name of an agent, which does research only."""
        return any(fnmatchcase(name.casefold(), pattern) for pattern in self.quirks.agents)

    @property
    def needs_key(self) -> bool:
        """Whether it cannot be asked without a key."""
        return bool(self.key_variables) and not self.is_key_optional

    @property
    def needed_setting(self) -> str:
        """The setting that configures it."""
        if self.needs_key and self.base_url is None:
            return f"{self.key_variable} and {self.base_url_name}"
        return self.key_variable if self.needs_key else self.base_url_name

    @property
    def base_url_name(self) -> str:
        """The name of the setting of its address."""
        return self.base_url_variable or f"base_url of [providers.{self.name}]"

    @property
    def key_variable(self) -> str:
        """The variable to name if the key is refused or missing."""
        return self.key_variables[0] if self.key_variables else f"{self.name.upper().replace('-', '_')}_API_KEY"


@dataclass(frozen=True)
class Configured:
    """A provider that can be asked: its definition and the user's settings."""

    definition: Definition
    base_url: str
    """The address without a slash at its end; the endpoints follow."""
    key: SecretStr | None = None
    default_model: str | None = None
    api_version: str | None = None
    """The value of `api-version` in the address of each call; not sent if unset."""
    is_base_url_set: bool = False
    """Whether the user set the address."""

    @property
    def is_certain(self) -> bool:
        """Whether it surely exists; a local server at its usual address may not be running."""
        return self.definition.kind != "local" or self.is_base_url_set

    def url(self, path: str) -> str:
        """Return the address of an endpoint, such as `models`; a query of the base URL stays behind the path."""
        parts = urlsplit(self.base_url)
        version = urlencode({"api-version": self.api_version}) if self.api_version else ""
        query = "&".join(filter(None, (parts.query, version)))
        return urlunsplit(parts._replace(path=f"{parts.path}/{path}", query=query))

    @property
    def own_models(self) -> frozenset[str]:
        """The models that its definition or the user's settings name."""
        definition = self.definition
        named = (self.default_model, definition.default_model, definition.research_model)
        return frozenset((*definition.models, *filter(None, named)))

    def model(self, mode: Mode) -> str | None:
        """Return the model to ask if none is named."""
        research = self.definition.research_model if mode == "deep_research" else None
        return research or self.default_model or self.definition.default_model


@dataclass(frozen=True)
class Given:
    """The user's settings of a provider, apart from changes of its definition."""

    api_key: SecretStr | None = None
    base_url: str | None = None
    default_model: str | None = None
    api_version: str | None = None


def is_web_address(text: str) -> bool:
    """Tell whether this is a web address with a host."""
    try:
        parts = urlsplit(text.strip())
        # A port that is no number, or too large, raises here.
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        return False


def joined_base_url(given: str, usual: str | None, usual_path: str = "") -> str:
    """Return a base URL without endpoints that were pasted with it; one without a path gets the usual path."""
    if not is_web_address(given):
        return given.strip()
    parts = urlsplit(given.strip())
    path = parts.path.rstrip("/")
    for endpoint in ENDPOINTS:
        path = path.removesuffix(endpoint).rstrip("/")
    if not path:
        path = usual_path if usual is None else urlsplit(usual).path.rstrip("/")
    return urlunsplit(parts._replace(path=path, fragment=""))


def resolved(definition: Definition, given: Given) -> Configured | None:
    """Return the provider as it can be asked, or None if it is not configured.

    A provider is configured if its key is set or not needed, and its address is known. A local one at its usual address
    counts, too: whether it runs, and whether the address is valid, shows when it is asked.
    """
    key = given.api_key if given.api_key and given.api_key.get_secret_value() else None
    if definition.needs_key and key is None:
        return None
    address = given.base_url or definition.base_url
    if address is None:
        return None
    base_url = joined_base_url(address, definition.base_url, definition.base_path)
    return Configured(
        definition=definition.at(base_url),
        base_url=base_url,
        key=key,
        default_model=given.default_model,
        api_version=given.api_version,
        is_base_url_set=given.base_url is not None,
    )


SHIPPED = shipped_providers()
"""Read on import, like code: once, and never while an event loop waits for the file."""


def load_definitions(given: Mapping[str, Mapping[str, object]] | None = None) -> dict[str, Definition]:
    """Return all definitions by name, in the order in which they are searched for a model's name.

    Args:
        given: the user's fields by the name of the provider; they change a shipped definition or make a new one.

    Raises:
        InvalidInputError: a field is not valid; the message names it.
    """
    tables: dict[str, dict[str, Any]] = {name: dict(table) for name, table in SHIPPED.items()}
    for name, fields in (given or {}).items():
        tables[name] = _merged(tables.get(name) or {"title": name}, fields)
    known = {name: _definition(name, table, is_own=name in (given or {})) for name, table in tables.items()}
    return dict(sorted(known.items(), key=lambda item: get_args(Kind).index(item[1].kind)))


def _merged(table: Mapping[str, Any], fields: Mapping[str, object]) -> dict[str, Any]:
    merged = {**table, **fields}
    # One level deeper, so that a user can change one quirk or limit and keep the others.
    for name in ("quirks", "images", "pdfs"):
        given = fields.get(name)
        if isinstance(given, Mapping):
            merged[name] = {**table.get(name, {}), **cast("Mapping[str, object]", given)}
    return merged


def _definition(name: str, table: Mapping[str, Any], *, is_own: bool) -> Definition:
    try:
        return Definition.model_validate({**table, "name": name})
    except ValidationError as error:
        if not is_own:  # a bug in the package's own data, not a mistake of the user
            raise
        problem = error.errors(include_url=False)[0]
        places = [str(part) for part in problem["loc"] if part != "name"]
        what = requirement(problem)
        if problem["type"] == "extra_forbidden":
            what = "there is no such field"
        if problem["loc"] == ("name",):
            what = "the name of a provider has lower-case letters, digits, - and _, at most 32"
        where = " ".join(filter(None, (f"[providers.{name}]", ".".join(places))))
        raise InvalidInputError(f"{where}: {what}.") from None
