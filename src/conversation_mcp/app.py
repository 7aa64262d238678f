"""The services of a running program."""

from dataclasses import dataclass, field

from anyio.abc import TaskGroup

from conversation_mcp.conversations.library import Library
from conversation_mcp.conversations.pruner import Pruner
from conversation_mcp.conversations.tidier import Tidier
from conversation_mcp.conversations.trash_can import TrashCan
from conversation_mcp.errors import Step, Steps
from conversation_mcp.providers.base import Mode, ModeOf
from conversation_mcp.providers.choosing.choice import Providers
from conversation_mcp.settings import Settings
from conversation_mcp.stores.base import Store
from conversation_mcp.turns.engine import Turns
from conversation_mcp.turns.running import RunningTurns
from conversation_mcp.turns.watch import Watch


@dataclass(frozen=True, kw_only=True)
class ToolFacts:
    """What is known of a tool before it is called."""

    name: str
    mode: Mode | None = None
    """What it asks for; None where it asks nothing."""
    opens: bool = False
    """Whether its question can open a conversation."""
    follows: bool = False
    """Whether its question can be the next one of a conversation."""
    steps: Steps = field(default_factory=dict[Step, str])
    """What it is called where somebody is advised to use it."""


@dataclass(frozen=True)
class App:
    """What tools and commands work with. `tools` are those that are switched on; `mode_of` knows any by its name.

    What is begun in `tasks` goes on until the program ends, which cancels it.
    """

    settings: Settings
    store: Store
    providers: Providers
    turns: Turns
    watch: Watch
    running: RunningTurns
    library: Library
    tidier: Tidier
    trash: TrashCan
    pruner: Pruner
    tools: tuple[ToolFacts, ...]
    mode_of: ModeOf
    tasks: TaskGroup
