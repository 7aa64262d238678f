"""The services of a running program."""

from dataclasses import dataclass

from conversation_mcp.conversations.library import Library
from conversation_mcp.providers.choice import Providers
from conversation_mcp.settings import Settings
from conversation_mcp.stores.base import Store
from conversation_mcp.turns.engine import Turns
from conversation_mcp.turns.running import RunningTurns
from conversation_mcp.turns.watching import Watch


@dataclass(frozen=True)
class App:
    """What tools and commands work with. `tools` are the names that are switched on."""

    settings: Settings
    store: Store
    providers: Providers
    turns: Turns
    watch: Watch
    running: RunningTurns
    library: Library
    tools: frozenset[str]
