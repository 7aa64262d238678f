"""The body of a create call: only fields that the Agent API accepts, and only options that were set."""

import re
from dataclasses import dataclass, field
from datetime import date
from typing import Literal

from conversation_mcp.providers.base import Request
from conversation_mcp.providers.definitions import Definition
from conversation_mcp.providers.efforts import effort_sent
from conversation_mcp.providers.perplexity.facts import AgentFacts
from conversation_mcp.providers.wire.inquiry import Inquiry
from conversation_mcp.providers.wire.output_limits import at_most
from conversation_mcp.providers.wire.parts import require_sight
from conversation_mcp.providers.wire.roles import sent_messages
from conversation_mcp.records.options import Options

PresetField = Literal["preset", "effort"]

PINNED = re.compile(r"[a-z-]{1,40}(?:@[A-Za-z0-9][A-Za-z0-9._-]{0,60})?")
MODEL = re.compile(r"(?!local/)[A-Za-z0-9][A-Za-z0-9_.-]{0,60}(?:/[A-Za-z0-9][A-Za-z0-9_.:@-]{0,100}){1,3}")
ACADEMIC_NOTICE = "search_mode academic was applied as an instruction; the provider has no such filter."


@dataclass(frozen=True)
class AgentDraft:
    """A create call before the name of its preset field is known."""

    inquiry: Inquiry
    body: dict[str, object] = field(repr=False)

    def payload(self, preset_field: PresetField) -> dict[str, object]:
        """Return the body to send."""
        preset = {preset_field: self.inquiry.preset} if self.inquiry.preset else {}
        return {**preset, **self.body}


def is_preset(name: str, definition: Definition) -> bool:
    """Tell whether this is a preset of the API, pinned to a version or not."""
    return PINNED.fullmatch(name) is not None and definition.is_preset(name)


def is_model(name: str) -> bool:
    """Tell whether this has the form `provider/model`."""
    return MODEL.fullmatch(name) is not None


def draft(request: Request, facts: AgentFacts, definition: Definition) -> AgentDraft:
    """Translate a request; a preset searches by itself, while a model is sent together with a search tool."""
    require_sight(request.messages, definition)
    options = request.options
    # A preset or a model, never both: whether the API takes the two together is not documented.
    preset = request.preset if request.model is None else request.model
    model = None
    if request.model is not None and not is_preset(request.model, definition):
        preset, model = None, request.model
    body: dict[str, object] = {"model": model} if model else {}
    body["input"] = _input(request, facts)
    body |= _search(request, model)
    notices = (ACADEMIC_NOTICE,) if options.search_mode == "academic" else ()
    if options.reasoning_effort:
        words = definition.quirks.efforts
        word, changed = effort_sent(options.reasoning_effort, words, definition.title, model)
        body["reasoning"] = {"effort": word}
        notices += changed
    if model and model.partition("/")[0] in facts.output_limit_makers:
        body["max_output_tokens"] = at_most(facts.output_limit_tokens, request)
    body["background" if request.mode == "deep_research" else "stream"] = True
    # A run that is not stored cannot be fetched by its id.
    body["store"] = True
    inquiry = Inquiry(definition.title, preset, model, bool(options.return_related_questions), notices)
    return AgentDraft(inquiry, body)


def _input(request: Request, facts: AgentFacts) -> list[dict[str, object]]:
    # In the question, not in the system text: an instruction belongs to this turn alone.
    last = request.messages[-1]
    question = last._replace(content="\n\n".join([last.content, *_instructions(request.options, facts)]))
    return [{"type": "message", **message} for message in sent_messages((*request.messages[:-1], question))]


def _instructions(options: Options, facts: AgentFacts) -> list[str]:
    wanted = {
        facts.academic: options.search_mode == "academic",
        facts.related_questions: options.return_related_questions,
    }
    return [text for text, is_wanted in wanted.items() if is_wanted]


def _search(request: Request, model: str | None) -> dict[str, object]:
    filters = _filters(request.options)
    forced = model is not None and request.mode != "chat"
    if not filters and not forced:
        return {}
    tool: dict[str, object] = {"type": "web_search"}
    if filters:
        tool["filters"] = filters
    # A bare model does not search without the tool, and may pass over it unless it is chosen for it.
    return {"tools": [tool], "tool_choice": {"type": "web_search"}} if forced else {"tools": [tool]}


def _filters(options: Options) -> dict[str, object]:
    domains = options.search_domain_filter
    filters: dict[str, object] = {
        "search_recency_filter": options.search_recency_filter,
        "search_domain_filter": list(domains) if domains else None,
        "search_after_date_filter": _day(options.search_after_date_filter),
        "search_before_date_filter": _day(options.search_before_date_filter),
    }
    return {name: value for name, value in filters.items() if value is not None}


def _day(day: date | None) -> str | None:
    # The API takes dates in the American order.
    return None if day is None else f"{day.month:02}/{day.day:02}/{day.year:04}"
