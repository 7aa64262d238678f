"""The body of a create call: only required fields and options that were set."""

from typing import Any, cast

from conversation_mcp.providers.base import Request
from conversation_mcp.providers.definitions import Configured, Definition
from conversation_mcp.providers.efforts import effort_sent
from conversation_mcp.providers.quirks import Quirks
from conversation_mcp.providers.wire.inquiry import Inquiry
from conversation_mcp.providers.wire.names import model_of
from conversation_mcp.providers.wire.option_notices import option_notices
from conversation_mcp.providers.wire.output_limits import optional_limit
from conversation_mcp.providers.wire.parts import form_of, require_sight
from conversation_mcp.providers.wire.roles import sent_messages
from conversation_mcp.records.options import Options

SEARCH_TOOL = "web_search"


def draft(request: Request, configured: Configured) -> tuple[Inquiry, dict[str, object]]:
    """Translate a request into the facts that its answer needs, and the body.

    Raises:
        InvalidInputError: no model is named and none is set.
        BlindModelError: the provider takes no images.
    """
    definition, quirks = configured.definition, configured.definition.quirks
    model = model_of(request, configured)
    in_background = request.mode == "deep_research"
    body: dict[str, Any] = {"model": model, "input": _input(request, definition), **quirks.body}
    if request.mode != "chat":
        body |= quirks.research if in_background else quirks.search
    honoured = _filter(body, request.options, quirks) if request.mode != "chat" else set[str]()
    changed: tuple[str, ...] = ()
    if request.options.reasoning_effort and quirks.effort_field != "none":
        word, changed = effort_sent(request.options.reasoning_effort, quirks.efforts, definition.title, model)
        body |= _effort(word, quirks)
        honoured.add("reasoning_effort")
    limit_tokens = optional_limit(request, quirks)
    if limit_tokens:
        body["max_output_tokens"] = limit_tokens
    if in_background:
        # A run that is not stored could not be found by its id.
        body |= {"background": True, "store": True}
    else:
        body["stream"] = True
        if quirks.store is not None:
            body["store"] = quirks.store
    inquiry = Inquiry(
        definition.title,
        model=model,
        related=False,
        notices=(*changed, *option_notices(definition.title, request.options, frozenset(honoured))),
        is_kept=in_background or quirks.store is True,
        wants_sources=request.mode != "chat",
        output_limit_tokens=limit_tokens,
    )
    return inquiry, body


def _input(request: Request, definition: Definition) -> list[dict[str, object]]:
    require_sight(request.messages, definition)
    role, alternate = definition.quirks.system_role, definition.quirks.alternate
    messages = sent_messages(request.messages, role, alternate=alternate, form=form_of(definition))
    return [{"type": "message", **message} for message in messages]


def _effort(effort: str, quirks: Quirks) -> dict[str, object]:
    return (
        {"reasoning_effort": effort} if quirks.effort_field == "reasoning_effort" else {"reasoning": {"effort": effort}}
    )


def _filter(body: dict[str, Any], options: Options, quirks: Quirks) -> set[str]:
    """Put the domains into the search tool if it accepts them; return the options that this honours.

    Other tools are then left out, because they would search elsewhere without the filter.
    """
    domains = options.search_domain_filter or ()
    denied = [domain[1:] for domain in domains if domain.startswith("-")]
    fields = ("excluded_domains", "blocked_domains") if denied else ("allowed_domains",)
    field = next((name for name in fields if name in quirks.domain_filters), None)
    tools = cast("list[dict[str, object]]", body.get("tools", []))
    if not domains or field is None or len(domains) > quirks.max_domains:
        return set()
    filters = {"filters": {field: denied or list(domains)}}
    body["tools"] = [{**tool, **filters} for tool in tools if tool.get("type") == SEARCH_TOOL]
    return {"search_domain_filter"}
