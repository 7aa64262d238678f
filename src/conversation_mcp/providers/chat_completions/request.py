"""The body of a chat completion: the conversation, and only those options that were set."""

from dataclasses import dataclass, field

from conversation_mcp.providers.base import Request
from conversation_mcp.providers.definitions import Configured
from conversation_mcp.providers.wire.names import model_of
from conversation_mcp.providers.wire.option_notices import option_notices
from conversation_mcp.providers.wire.roles import sent_messages
from conversation_mcp.records.options import Options

EFFORT = "reasoning_effort"


@dataclass(frozen=True)
class Draft:
    """A request before the server's habits (`Habits`) are applied."""

    model: str
    body: dict[str, object] = field(repr=False)
    effort: dict[str, object] = field(default_factory=dict[str, object])
    """The field of the reasoning effort, which some models refuse."""
    notices: tuple[str, ...] = ()


def draft(request: Request, configured: Configured) -> Draft:
    """Translate a request; raises as `model_of`."""
    quirks = configured.definition.quirks
    model = model_of(request, configured)
    body: dict[str, object] = {
        "model": model,
        "messages": sent_messages(request.messages, quirks.system_role, alternate=quirks.alternate),
        **quirks.body,
        **(quirks.search if request.mode == "search" else {}),
    }
    effort = _effort(request.options, quirks.effort_field or EFFORT)
    honoured = frozenset({EFFORT} if effort else ())
    return Draft(model, body, effort, option_notices(configured.definition.title, request.options, honoured))


def _effort(options: Options, name: str) -> dict[str, object]:
    if options.reasoning_effort is None or name == "none":
        return {}
    return {name: {"effort": options.reasoning_effort} if name == "reasoning" else options.reasoning_effort}
