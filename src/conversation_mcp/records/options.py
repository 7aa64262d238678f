"""The options of a question, in the spelling of the provider's API."""

import json
import re
from datetime import date, datetime
from typing import Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from conversation_mcp.errors import Argument, InvalidInputError

Recency = Literal["hour", "day", "week", "month", "year"]
Effort = Literal["minimal", "low", "medium", "high", "max"]

RECENCY, DOMAINS = Argument("search_recency_filter"), Argument("search_domain_filter")
AFTER, BEFORE = Argument("search_after_date_filter"), Argument("search_before_date_filter")
TIME = re.compile(r"(?<=[0-9])[T ][0-9:.]{4,20}(?:Z|[+-][0-9:]{2,6})?\Z")
"""The time of a day, which some models add to a date."""
MAX_DOMAINS = 20
MAX_NAME_CHARS = 1_000
DOMAIN = re.compile(r"-?(?=.{1,253}\Z)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}", re.IGNORECASE)


def _date(value: object) -> object:
    day = TIME.sub("", value.strip()) if isinstance(value, str) else ""
    for form in ("%Y-%m-%d", "%m/%d/%Y", "%Y/%m/%d") if day else ():
        try:
            return datetime.strptime(day, form).date()  # noqa: DTZ007 -- a day has no zone
        except ValueError:
            continue
    raise ValueError("must be a date such as 2026-01-31 or 01/31/2026")


def text_list(value: object, of_what: str, separator: str | None = None) -> list[str]:
    """Return the texts of a list, which may be JSON text, or a single text; without members that say nothing.

    Raises:
        ValueError: it is no list of texts.
    """
    try:
        given = _listed(value.strip(), separator) if isinstance(value, str) else value
        members = TypeAdapter(list[str | None]).validate_python(given, strict=True)
    except (ValidationError, ValueError, RecursionError):
        raise ValueError(f"must be a list of {of_what}") from None
    return [member for member in members if member and member.strip()]


def _listed(text: str, separator: str | None) -> object:
    if not text.startswith(("[", "{", '"')):
        return [part.strip() for part in text.split(separator)] if separator else [text]
    # Some models write a list as Python shows it.
    given = json.loads(text.replace("'", '"') if text.startswith("['") else text)
    return [given] if isinstance(given, str) else given


def _domains(value: object) -> object:
    names = text_list(value, 'domains such as ["example.org", "docs.python.org"]', ",")
    if not 1 <= len(names) <= MAX_DOMAINS:
        raise ValueError(f"accepts 1 to {MAX_DOMAINS} domains; got {len(names)}")
    for name in names:
        if "://" in name or len(name) > MAX_NAME_CHARS or not name.strip("- "):
            raise ValueError(_no_domain(name))
    if len({name.startswith("-") for name in names}) > 1:
        raise ValueError("accepts domains to allow or, with a leading -, domains to deny, but not both")
    return tuple(names)


def _no_domain(name: str) -> str:
    return f"accepts bare domains such as example.org or -example.org, not URLs; got {name[:80]!r}"


Day = Annotated[date, BeforeValidator(_date)]


class SearchFilters(BaseModel):
    """Which pages a search may use."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    search_recency_filter: Recency | None = Field(default=None, description="Only pages this recent.")
    search_domain_filter: Annotated[tuple[str, ...] | None, BeforeValidator(_domains)] = Field(
        default=None,
        description="Up to 20 domains (of local documents: paths, globs) to allow, or to deny with a leading -.",
    )
    search_after_date_filter: Day | None = Field(default=None, description="YYYY-MM-DD or MM/DD/YYYY.")
    search_before_date_filter: Day | None = Field(default=None, description="YYYY-MM-DD or MM/DD/YYYY.")
    search_mode: Literal["web", "academic"] | None = None
    """Where to search; `academic` prefers papers."""
    return_related_questions: bool | None = Field(default=None, strict=True)
    """Also return questions that could come next."""

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        # Not ValueErrors: pydantic would wrap those, and lose which fields are meant.
        after, before = self.search_after_date_filter, self.search_before_date_filter
        if self.search_recency_filter and (after or before):
            raise InvalidInputError(RECENCY, " cannot be combined with dates: give one or the other.")
        if after and before and after > before:
            raise InvalidInputError(AFTER, " lies after ", BEFORE, ".")
        return self


class ResearchOptions(BaseModel):
    """How hard a research tries."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    reasoning_effort: Effort | None = None
    """How hard the provider thinks; more takes longer and costs more."""


class Options(SearchFilters, ResearchOptions):
    """Every option a question can carry."""


NO_OPTIONS = Options.model_construct()


def refuse_paths(options: Options, reader: str) -> None:
    """Accept only domains in the filter; paths are for the `reader` of files.

    Raises:
        InvalidInputError: the filter names something other than a domain.
    """
    for name in options.search_domain_filter or ():
        if not DOMAIN.fullmatch(name):
            raise InvalidInputError(DOMAINS, f" {_no_domain(name)}. Paths are for model {reader!r}.")
