"""The services of a running program."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

from anyio.abc import TaskGroup

from conversation_mcp.conversations.dialogue import Dialogues
from conversation_mcp.conversations.library import Library
from conversation_mcp.conversations.pruner import Pruner
from conversation_mcp.conversations.tidier import Tidier
from conversation_mcp.conversations.trash_can import TrashCan
from conversation_mcp.errors import Step, Steps
from conversation_mcp.providers.choosing.providers import Providers
from conversation_mcp.records.modes import Mode, ModeOf
from conversation_mcp.settings import Settings
from conversation_mcp.stores.base import Store
from conversation_mcp.turns.roster import RunningTurns

if TYPE_CHECKING:
    from conversation_mcp.consulting.service import Consulting
    from conversation_mcp.conversations.expiry import Expiries
    from conversation_mcp.conversations.remembering import Remembering
    from conversation_mcp.records.models import ConversationId
    from conversation_mcp.turns.composer import Composer
    from conversation_mcp.turns.decisions import Decisions
    from conversation_mcp.turns.dialogue_summaries import DialogueSummaries
    from conversation_mcp.turns.engine import TurnEngine
    from conversation_mcp.turns.preview import Preview
    from conversation_mcp.turns.watch import Watch


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


class Asking(NamedTuple):
    """The services of questions."""

    turns: "TurnEngine"
    watch: "Watch"
    preview: "Preview"
    composer: "Composer"
    expiries: "Expiries"
    open_summaries: "Callable[[], DialogueSummaries]"
    """Returns what has summaries of a chatbot's log written; the first call imports it."""
    open_decisions: "Callable[[], Decisions | None]"
    """Returns what looks for decisions, None if the settings name no model for it; the first call imports it."""


class UserHomes(Protocol):
    """The homes of a chatbot's users, for callers who may work in all of them."""

    def of(self, owner: str) -> "AbstractAsyncContextManager[App]":
        """Open the home of a user, which stays open for the length of the block."""
        ...

    async def note(self, owner: str, action: str, targets: Sequence[str]) -> None:
        """Note in the audit trail that something is done in the home of a user.

        Raises:
            FilesystemError: it cannot be noted, so it must not be done.
        """
        ...

    async def finish(self, grace_seconds: float) -> None:
        """Let running turns finish within that time, or interrupt them."""
        ...


class App(NamedTuple):
    """The services for tools and commands over the conversations of one owner.

    `tools` are the enabled ones; `mode_of` knows every tool by its name. Tasks started in `tasks` run until the program
    ends, which cancels them.
    """

    owner: str
    is_remote: bool
    """Whether the callers are on other machines, where paths of this one mean nothing."""
    settings: Settings
    store: Store
    providers: Providers
    open_asking: Callable[[], Asking]
    """Returns the services of questions; the first call imports them."""
    open_consulting: "Callable[[], Consulting]"
    """Returns the service of workflows; the first call imports it, which takes long."""
    open_remembering: "Callable[[], Remembering]"
    """Returns the services of memories; the first call imports them."""
    running: RunningTurns
    library: Library
    dialogues: Dialogues
    tidier: Tidier
    trash: TrashCan
    pruner: Pruner
    tools: tuple[ToolFacts, ...]
    mode_of: ModeOf
    tasks: TaskGroup
    holders: "Callable[[ConversationId], Awaitable[list[str]]]"
    """Returns all owners who have, or have reserved, that id."""
    homes: UserHomes | None
    """The homes of other owners; None where the caller may not enter them."""
    is_busy: Callable[[], bool]
    """Tells whether a turn runs, or an answer is in no file yet."""
    has_texts: Callable[[], Awaitable[None]]
    """To be called after texts were saved that have no vectors yet; the end of a turn does it itself."""

    @property
    def turns(self) -> "TurnEngine":
        """What asks questions."""
        return self.open_asking().turns

    @property
    def watch(self) -> "Watch":
        """What looks at turns, waits for them and stops them."""
        return self.open_asking().watch

    @property
    def preview(self) -> "Preview":
        """What shows the next request of a conversation."""
        return self.open_asking().preview

    @property
    def expiries(self) -> "Expiries":
        """What tells when a conversation is put away."""
        return self.open_asking().expiries

    @property
    def summaries(self) -> "DialogueSummaries":
        """What has summaries of a chatbot's log written."""
        return self.open_asking().open_summaries()

    @property
    def decisions(self) -> "Decisions | None":
        """What looks for the decisions of a conversation; None if the settings name no model for it."""
        return self.open_asking().open_decisions() if self.settings.decisions else None
