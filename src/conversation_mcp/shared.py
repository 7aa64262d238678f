"""What the homes of all owners share."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from conversation_mcp.app import ToolFacts
from conversation_mcp.providers.choosing.providers import Providers
from conversation_mcp.records.modes import Mode
from conversation_mcp.settings import Settings

if TYPE_CHECKING:
    from conversation_mcp.embeddings.catalog import Embedders
    from conversation_mcp.stores.catalog import Common
    from conversation_mcp.turns.composer import ReadFiles


class SharedServices(NamedTuple):
    """What the homes of all owners share: everything but conversations."""

    settings: Settings
    now: Callable[[], datetime]
    tools: tuple[ToolFacts, ...]
    prompts: Mapping[Mode, str]
    summary_prompt: str
    providers: Providers
    files: "Callable[[], ReadFiles]"
    """What reads the files that questions name, the same each time: it remembers them."""
    has_work: Callable[[str], object] | None
    """To be called with an owner for whom there may be work for the background; None if none is done."""
    embedders: "Callable[[], Embedders]"
    """The models that make vectors, the same ones each time: they take memory."""
    common: "Common | None"
    """What their stores have in common; None if nothing."""
