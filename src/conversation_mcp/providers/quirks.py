"""The differences of a provider from its family, as data."""

from typing import Literal

from pydantic import Field, JsonValue

from conversation_mcp.providers.data import Data
from conversation_mcp.providers.efforts import EffortWords

TokenField = Literal["max_tokens", "max_completion_tokens"]


class Quirks(Data):
    """The differences of a provider from its family. Tables of fields are copied into the body of a request."""

    key_header: str | None = Field(default=None, pattern=r"^[A-Za-z][A-Za-z0-9-]{0,63}$")
    """The header with the bare key; if unset, the key is a bearer token."""
    headers: dict[str, str] = Field(default_factory=dict)
    """Headers sent with every call."""
    body: dict[str, JsonValue] = Field(default_factory=dict)
    """Fields sent with every request."""
    search: dict[str, JsonValue] = Field(default_factory=dict)
    """More fields for a search; they make a provider search that would not do so by itself."""
    research: dict[str, JsonValue] = Field(default_factory=dict)
    """More fields for a deep research."""
    agents: tuple[str, ...] = ()
    """Patterns of the names that are agents, no models; an agent only does research, with the fields in `agent`."""
    agent: dict[str, JsonValue] = Field(default_factory=dict)
    domain_filters: frozenset[Literal["allowed_domains", "excluded_domains", "blocked_domains"]] = frozenset()
    """The filters that its search tool accepts: in Responses under `filters`, in Messages as fields of their own."""
    max_domains: int = Field(default=20, ge=1)
    """The most domains in such a filter."""
    effort_field: Literal["reasoning", "reasoning_effort", "none"] | None = None
    """The field of the reasoning effort; by default the field of the family."""
    efforts: tuple[EffortWords, ...] = ()
    """The words for efforts; the first for the model counts. For other models minimal is low and max is high."""
    store: bool | None = None
    """The value of `store`. A run can be found by its id only if this is true, or if it runs in the background."""
    redirect_hosts: frozenset[str] = frozenset()
    """The hosts whose addresses in sources only lead on to pages; the pages are looked up and kept in their place."""
    output_limit_tokens: int | None = Field(default=None, ge=1)
    """The most tokens of an answer; not sent if unset."""
    fits_answer: bool = False
    """Whether each request limits its answer to what the window has left, because the server fails beyond that."""
    token_field: TokenField | None = None
    """The field of that limit in chat completions; if unset, it is learnt from the first refusal."""
    stream_usage: bool = True
    """Whether chat completions ask for the usage of a stream."""
    path: str | None = None
    """The endpoint of chat completions if it is not the usual one; `{model}` in it stands for the model's name."""
    models_path: str = "models"
    """The endpoint of its list of models."""
    lists_system: bool = False
    """Whether its list says which models take no system message; for these, its text begins the first question."""
    system_role: Literal["system", "developer", "user"] = "system"
    """The role of the system message; `user` puts its text before the first question."""
    alternate: bool = True
    """Whether it may require user and assistant to alternate, so that adjacent messages of one role are merged."""
    silence_seconds: float | None = Field(default=None, gt=0)
    """How long a stream may be silent, if the usual time is too short."""
