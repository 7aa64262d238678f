"""The body of a chat completion: the conversation, and only those options that were set."""

from dataclasses import dataclass, field

from conversation_mcp.providers.base import Request
from conversation_mcp.providers.definitions import Configured, Definition
from conversation_mcp.providers.efforts import effort_sent
from conversation_mcp.providers.wire.names import model_of
from conversation_mcp.providers.wire.option_notices import option_notices
from conversation_mcp.providers.wire.output_limits import optional_limit
from conversation_mcp.providers.wire.parts import form_of, require_sight
from conversation_mcp.providers.wire.roles import SystemRole, sent_messages
from conversation_mcp.records.options import Options

EFFORT = "reasoning_effort"


@dataclass(frozen=True)
class Draft:
    """A request before the server's habits (`Habits`) are applied."""

    model: str
    body: dict[str, object] = field(repr=False)
    limit_tokens: int | None = None
    """The limit of the answer's length that is sent in any case."""
    longest_tokens: int | None = None
    """How long the answer can be, for a server that turns out to insist on a limit."""
    effort: dict[str, object] = field(default_factory=dict[str, object])
    """The field of the reasoning effort, which some models refuse."""
    notices: tuple[str, ...] = ()


def draft(request: Request, configured: Configured, system_role: SystemRole | None = None) -> Draft:
    """Translate a request, with another role of the system message if one is given.

    Raises as `model_of` and `require_sight`.
    """
    definition, quirks = configured.definition, configured.definition.quirks
    require_sight(request.messages, definition)
    model = model_of(request, configured)
    body: dict[str, object] = {
        "model": model,
        "messages": sent_messages(
            request.messages, system_role or quirks.system_role, alternate=quirks.alternate, form=form_of(definition)
        ),
        **quirks.body,
        **(quirks.search if request.mode == "search" else {}),
    }
    effort, changed = _effort(request.options, definition, model)
    honoured = frozenset({EFFORT} if effort else ())
    return Draft(
        model,
        body,
        limit_tokens=optional_limit(request, quirks),
        longest_tokens=request.output_limit_tokens,
        effort=effort,
        notices=(*changed, *option_notices(definition.title, request.options, honoured)),
    )


def _effort(options: Options, definition: Definition, model: str) -> tuple[dict[str, object], tuple[str, ...]]:
    quirks = definition.quirks
    name = quirks.effort_field or EFFORT
    if options.reasoning_effort is None or name == "none":
        return {}, ()
    word, notices = effort_sent(options.reasoning_effort, quirks.efforts, definition.title, model)
    # OpenRouter takes an object here, all others a word.
    return {name: {"effort": word} if name == "reasoning" else word}, notices
