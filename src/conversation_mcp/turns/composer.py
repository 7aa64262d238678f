"""The composition of requests: what was read for a question, what its conversation keeps, and what of it is sent."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from anyio import to_thread

from conversation_mcp.attaching.contents import FilesRead
from conversation_mcp.attaching.files import Files
from conversation_mcp.errors import ConversationMCPError, ConversationTooLongError
from conversation_mcp.prompting.budget import Shares, budget_of
from conversation_mcp.prompting.composition import Composition, Kept, compose, hashes_needed
from conversation_mcp.providers.choosing.choice import Choice
from conversation_mcp.providers.choosing.providers import Providers
from conversation_mcp.records.ids import check_id
from conversation_mcp.records.models import Conversation, ConversationId
from conversation_mcp.stores.base import Store
from conversation_mcp.turns.ask import Ask, Caller
from conversation_mcp.turns.chains import Chain, chain_of
from conversation_mcp.turns.disclosure import withheld_from

NO_CHAIN = Chain(())


@dataclass
class Material:
    """What a request is made of beside the conversation that it continues; written by the composer."""

    ask: Ask
    caller: Caller
    before: Chain
    """The conversations before the one that holds the question."""
    read: FilesRead | None = None
    """What the paths of the question lead to, once it was read."""
    kept: dict[str, bytes] = field(default_factory=dict[str, bytes])
    """The files and images of earlier questions, by hash."""
    sought: set[str] = field(default_factory=set[str])
    """The hashes of those that were looked for, whether or not they are there."""

    @property
    def continued(self) -> Conversation | None:
        """Of a question that opens a conversation: the one that it continues."""
        return self.before.conversations[-1] if self.before.conversations else None

    def holder(self, stored: Conversation | None, sides: Recipients) -> Conversation | None:
        """Return the conversation that tells who has the words so far; None if there are none."""
        chain = (*self.before.conversations, *([stored] if stored else []))
        return Chain(chain).holder(sides) if chain else None


class LackingError(Exception):
    """The conversation has changed since the material was gathered, and needs more of it."""

    def __init__(self, conversation: Conversation) -> None:
        super().__init__()
        self.conversation = conversation


class Composer:
    """Gathers the material of a question and composes requests from it; one composition is one question to one model."""

    def __init__(self, store: Store, providers: Providers, files: Files, shares: Shares) -> None:
        self._store = store
        self._providers = providers
        self._files = files
        self._shares = shares

    async def begin(self, ask: Ask, caller: Caller, stored: Conversation | None) -> Material:
        """Return the material of a question with the conversations before it, but without files yet.

        Raises:
            ConversationNotFoundError, ConversationCorruptedError: the conversation to be continued cannot be read.
        """
        if stored is not None:
            chain = await chain_of(self._store, stored)
            return Material(ask, caller, Chain(chain.conversations[:-1], chain.notices))
        if ask.continue_from is None:
            return Material(ask, caller, NO_CHAIN)
        return Material(
            ask, caller, await chain_of(self._store, await self._store.load(check_id(ask.continue_from)))
        )

    async def read(self, material: Material) -> FilesRead:
        """Read what the question names, once.

        Raises:
            InvalidInputError: nothing of it can be sent; each path has its reason.
        """
        if material.read is None:
            ask, caller = material.ask, material.caller
            material.read = await self._files.read(ask.files, ask.images, await caller.roots(), caller.pipe)
        return material.read

    async def fetch(self, material: Material, conversation: Conversation) -> None:
        """Get the files and images that requests of this conversation need."""
        for each in (*material.before.conversations, conversation):
            if lacking := hashes_needed((each,)) - material.sought:
                material.kept |= await self._store.attachments.get(ConversationId(each.conversation_id), lacking)
                material.sought |= lacking

    def compose(self, material: Material, conversation: Conversation, question: str, choice: Choice) -> Composition:
        """Compose the request of a question to one model; blocks for a moment if the conversation is long.

        Raises:
            LackingError: `fetch` must be called before.
            ConversationTooLongError: not even the last exchange fits.
        """
        chain = (*material.before.conversations, conversation)
        if hashes_needed(chain) - material.sought:
            raise LackingError(conversation)
        return compose(
            chain,
            question,
            material.read or FilesRead(),
            Kept(material.kept),
            budget_of(choice, self._shares, chain),
            withheld=withheld_from(chain, choice, self._providers.sides),
        )
