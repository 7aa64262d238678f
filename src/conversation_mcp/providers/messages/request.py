"""The body of a call of the Messages API: only required fields, and options that were set."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, cast

from conversation_mcp.errors import ProviderRejectedError
from conversation_mcp.providers.base import Request
from conversation_mcp.providers.definitions import Configured, Definition
from conversation_mcp.providers.messages.abilities import ModelAbilities
from conversation_mcp.providers.wire.json_values import JsonObject
from conversation_mcp.providers.wire.option_notices import option_notices
from conversation_mcp.providers.wire.parts import form_of, require_sight
from conversation_mcp.providers.wire.roles import merged, sent_messages
from conversation_mcp.records.options import Options

OUTPUT_TOKENS = 16_384
"""The limit of an answer, which the wire requires, if nothing is known of the model: enough to think and to answer."""
CITATIONS = (
    files("conversation_mcp.providers.messages").joinpath("instructions/citations.md").read_text("utf-8").strip()
)
"""Read on import, like code: once, and never while an event loop waits for the file."""
EFFORT, DOMAINS = "reasoning_effort", "search_domain_filter"
UNCOUNTED = frozenset({"max_tokens", "stream", "cache_control"})
"""Fields of a question that the endpoint for counting does not need."""


@dataclass(frozen=True)
class MessageDraft:
    """A question as it is sent first."""

    model: str
    body: dict[str, Any] = field(repr=False)
    notices: tuple[str, ...] = ()
    searches: bool = False

    def continued(self, blocks: Sequence[JsonObject]) -> dict[str, Any]:
        """Return the body that lets a paused answer go on; `blocks` are what came of it, unchanged."""
        return {**self.body, "messages": [*self.body["messages"], {"role": "assistant", "content": list(blocks)}]}

    @property
    def countable(self) -> dict[str, Any]:
        """The body of a call that only counts its tokens."""
        return {name: value for name, value in self.body.items() if name not in UNCOUNTED}


def draft(request: Request, configured: Configured, model: str, abilities: ModelAbilities) -> MessageDraft:
    """Translate a request.

    Raises:
        BlindModelError: the provider takes no images.
        ProviderRejectedError: the model cannot search; nothing was sent.
    """
    definition = configured.definition
    require_sight(request.messages, definition)
    is_search = request.mode == "search"
    if is_search and abilities.searches is False:
        raise ProviderRejectedError(
            f"{model} of {definition.title} cannot search. Nothing was sent.", "Name another model."
        )
    body: dict[str, Any] = {"model": model, "max_tokens": _limit(request, definition, abilities)}
    if system := _system(request, is_search=is_search):
        body["system"] = system
    # The first message must be a question, and a message without a text is refused.
    spoken = [
        message
        for message in request.messages
        if message.role != "system" and (message.content.strip() or message.images or message.pdfs)
    ]
    body["messages"] = sent_messages(spoken, form=form_of(definition))
    body |= definition.quirks.body
    honoured, remarks = _add_effort(body, request.options, abilities, model)
    if is_search:
        body |= definition.quirks.search
        honoured |= _add_filter(body, request.options, definition)
    body["stream"] = True
    notices = (*_ending(model, abilities), *remarks, *option_notices(definition.title, request.options, honoured))
    return MessageDraft(model, body, notices, is_search)


def _limit(request: Request, definition: Definition, abilities: ModelAbilities) -> int:
    told = (definition.quirks.output_limit_tokens, abilities.output_tokens, request.output_limit_tokens)
    return min((limit for limit in told if limit is not None), default=OUTPUT_TOKENS)


def _system(request: Request, *, is_search: bool) -> str:
    texts = [message.content for message in merged(request.messages) if message.role == "system"]
    return "\n\n".join((*texts, *([CITATIONS] if is_search else [])))


def _ending(model: str, abilities: ModelAbilities) -> tuple[str, ...]:
    if not abilities.is_deprecated:
        return ()
    when = f" and ends on {abilities.ends}" if abilities.ends else ""
    return (f"{model} is deprecated{when}; choose a newer model",)


def _add_effort(
    body: dict[str, Any], options: Options, abilities: ModelAbilities, model: str
) -> tuple[frozenset[str], tuple[str, ...]]:
    """Add the effort if the model accepts one; return the options that this honours, and notices."""
    wanted = options.reasoning_effort
    if wanted is None:
        return frozenset(), ()
    # Only with levels that the list names: for a model that has none, the field is an error.
    level = abilities.effort_like(wanted)
    if level is None:
        return frozenset({EFFORT}), (f"{EFFORT} was not applied; {model} has no levels of effort that are known.",)
    body["output_config"] = {"effort": level}
    if abilities.adapts_thinking:
        # Newer models keep their thoughts to themselves unless a summary is asked for.
        body["thinking"] = {"type": "adaptive", "display": "summarized"}
    changed = () if level == wanted else (f"{EFFORT} {wanted} was sent as {level}, the nearest that {model} has.",)
    return frozenset({EFFORT}), changed


def _add_filter(body: dict[str, Any], options: Options, definition: Definition) -> frozenset[str]:
    """Put the domains into the search tool; return the options that this honours."""
    domains, quirks = options.search_domain_filter or (), definition.quirks
    denied = [domain[1:] for domain in domains if domain.startswith("-")]
    name = "blocked_domains" if denied else "allowed_domains"
    if not domains or name not in quirks.domain_filters or len(domains) > quirks.max_domains:
        return frozenset()
    tools = cast("list[dict[str, object]]", body.get("tools", []))
    body["tools"] = [{**tool, name: denied or list(domains)} for tool in tools]
    return frozenset({DOMAINS})
