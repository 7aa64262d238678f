"""The services of a running program."""

from dataclasses import dataclass

from anyio.abc import TaskGroup

from conversation_mcp.conversations.library import Library
from conversation_mcp.conversations.pruner import Pruner
from conversation_mcp.conversations.tidier import Tidier
from conversation_mcp.conversations.trash_can import TrashCan
from conversation_mcp.providers.choosing.choice import Providers
from conversation_mcp.settings import Settings
from conversation_mcp.stores.base import Store
from conversation_mcp.turns.engine import TurnEngine
from conversation_mcp.turns.roster import RunningTurns
from conversation_mcp.turns.watch import Watch


@dataclass(frozen=True)
class App:
    """What tools and commands work with. `tools` are the names that are switched on.

    What is begun in `tasks` goes on until the program ends, which cancels it.
    """

    settings: Settings
    store: Store
    providers: Providers
    turns: TurnEngine
    watch: Watch
    running: RunningTurns
    library: Library
    tidier: Tidier
    trash: TrashCan
    pruner: Pruner
    tools: frozenset[str]
    tasks: TaskGroup
