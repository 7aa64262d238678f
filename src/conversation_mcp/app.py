"""The services of a running program."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from anyio.abc import TaskGroup

from conversation_mcp.conversations.library import Library
from conversation_mcp.conversations.pruner import Pruner
from conversation_mcp.conversations.tidier import Tidier
from conversation_mcp.conversations.trash_can import TrashCan
from conversation_mcp.errors import Step, Steps
from conversation_mcp.providers.choosing.providers import Providers
from conversation_mcp.records.modes import Mode, ModeOf
from conversation_mcp.settings import Settings
from conversation_mcp.stores.base import Store
from conversation_mcp.turns.engine import TurnEngine
from conversation_mcp.turns.preview import Preview
from conversation_mcp.turns.roster import RunningTurns
from conversation_mcp.turns.watch import Watch

if TYPE_CHECKING:
    from conversation_mcp.consulting.service import Consulting


@dataclass(frozen=True, kw_only=True)
class ToolFacts:
    """The facts about a tool that other parts need."""

    name: str
    mode: Mode | None = None
    """What it asks for; None if it asks nothing."""
    opens: bool = False
    """Whether its question can open a conversation."""
    follows: bool = False
    """Whether its question can be the next one of a conversation."""
    steps: Steps = field(default_factory=dict[Step, str])
    """The steps that errors advise and that this tool takes, with its name in them."""


class App(NamedTuple):
    """The services for tools and commands. `tools` are the enabled ones; `mode_of` knows every tool by its name.

    Tasks started in `tasks` run until the program ends, which cancels them.
    """

    settings: Settings
    store: Store
    providers: Providers
    turns: TurnEngine
    watch: Watch
    preview: Preview
    open_consulting: "Callable[[], Consulting]"
    """Returns the service of workflows; the first call imports it, which takes long."""
    running: RunningTurns
    library: Library
    tidier: Tidier
    trash: TrashCan
    pruner: Pruner
    tools: tuple[ToolFacts, ...]
    mode_of: ModeOf
    tasks: TaskGroup
