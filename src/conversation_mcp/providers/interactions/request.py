"""The body of a create call: the conversation as steps, and only those fields that the model or agent takes."""

from dataclasses import dataclass, field

from conversation_mcp.errors import InvalidInputError
from conversation_mcp.providers.base import Request
from conversation_mcp.providers.definitions import Configured, Definition
from conversation_mcp.providers.efforts import effort_sent
from conversation_mcp.providers.wire.inquiry import Inquiry
from conversation_mcp.providers.wire.names import model_of
from conversation_mcp.providers.wire.option_notices import option_notices
from conversation_mcp.providers.wire.output_limits import optional_limit
from conversation_mcp.providers.wire.parts import form_of, require_sight
from conversation_mcp.providers.wire.roles import sent_messages
from conversation_mcp.records.chat import ChatMessage

EFFORT = "reasoning_effort"
STEPS = {"user": "user_input", "assistant": "model_output"}


@dataclass(frozen=True)
class InteractionDraft:
    """A request before it is sent: the facts that its answer needs, and the body without the fields of thinking."""

    inquiry: Inquiry
    body: dict[str, object] = field(repr=False)
    model: str
    config: dict[str, object] = field(default_factory=dict[str, object])
    """The fields of `generation_config` that every model accepts."""
    thinking: dict[str, object] = field(default_factory=dict[str, object])
    """Those that only models that think accept."""

    def payload(self, without: frozenset[str] = frozenset()) -> dict[str, object]:
        """Return the body to send, without the fields of thinking that the model refuses."""
        thinking = {name: value for name, value in self.thinking.items() if name not in without}
        config = {**self.config, **thinking}
        return {**self.body, "generation_config": config} if config else self.body


def draft(request: Request, configured: Configured, *, thinks: bool | None) -> InteractionDraft:
    """Translate a request; `thinks` says whether the model does, as far as that is known.

    Raises:
        InvalidInputError: no model is named and none is set, or an agent is to do something other than research.
        BlindModelError: the provider takes no images.
    """
    definition = configured.definition
    require_sight(request.messages, definition)
    model = model_of(request, configured)
    if definition.is_agent(model):
        return _of_agent(request, model, definition)
    quirks = definition.quirks
    in_background = request.mode == "deep_research"
    body: dict[str, object] = {"model": model, "input": _steps(request.messages, definition), **quirks.body}
    if system := "\n\n".join(message.content for message in request.messages if message.role == "system"):
        body["system_instruction"] = system
    if request.mode != "chat":
        body |= quirks.research if in_background else quirks.search
    limit_tokens = optional_limit(request, quirks)
    config: dict[str, object] = {"max_output_tokens": limit_tokens} if limit_tokens else {}
    # Without the field, each interaction would be kept.
    body |= {"background": True, "store": True} if in_background else {"stream": True, "store": quirks.store is True}
    effort = request.options.reasoning_effort
    # Asked for even if nobody knows whether the model thinks: a refusal names the field and is free.
    thinking: dict[str, object] = {} if thinks is False else {"thinking_summaries": "auto"}
    changed: tuple[str, ...] = ()
    if effort and thinks is not False:
        thinking["thinking_level"], changed = effort_sent(effort, quirks.efforts, definition.title, model)
    honoured = frozenset({EFFORT} if "thinking_level" in thinking else ())
    inquiry = Inquiry(
        definition.title,
        model=model,
        related=False,
        notices=(*changed, *option_notices(definition.title, request.options, honoured)),
        is_kept=in_background or quirks.store is True,
        wants_sources=request.mode != "chat",
        output_limit_tokens=limit_tokens,
    )
    return InteractionDraft(inquiry, body, model, config, thinking)


def _of_agent(request: Request, agent: str, definition: Definition) -> InteractionDraft:
    if request.mode != "deep_research":
        raise InvalidInputError(
            f"{agent} is an agent of {definition.title} that does deep research only. Name a model instead.",
            field="model",
        )
    body: dict[str, object] = {
        "agent": agent,
        "input": _steps(request.messages, definition, keeps_system=True),
        "background": True,
        "store": True,
        **definition.quirks.agent,
    }
    notices = option_notices(definition.title, request.options)
    inquiry = Inquiry(definition.title, model=agent, related=False, notices=notices, wants_sources=True)
    return InteractionDraft(inquiry, body, agent)


def _steps(
    messages: tuple[ChatMessage, ...], definition: Definition, *, keeps_system: bool = False
) -> list[dict[str, object]]:
    """Return the messages as steps; a system message stands elsewhere, or begins the first question if it is kept."""
    kept = [message for message in messages if keeps_system or message.role != "system"]
    rows = sent_messages(kept, "user", alternate=definition.quirks.alternate, form=form_of(definition))
    return [{"type": STEPS[row["role"]], "content": _contents(row["content"])} for row in rows]


def _contents(content: str | list[dict[str, object]]) -> list[dict[str, object]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content
