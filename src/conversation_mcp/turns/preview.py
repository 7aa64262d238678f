"""What the next question of a conversation would carry, to which model, and at what price, without asking it."""

from dataclasses import replace

from conversation_mcp.conversations.recipients import whereabouts_of
from conversation_mcp.prompting.budget import Shares, budget_of
from conversation_mcp.prompting.composed import Composition, FilePart, Part
from conversation_mcp.prompting.summaries import StandingSummary
from conversation_mcp.providers.choosing.choice import Choice
from conversation_mcp.providers.choosing.providers import Providers
from conversation_mcp.records.attached import SentAs
from conversation_mcp.records.ids import check_id
from conversation_mcp.records.modes import ModeOf
from conversation_mcp.records.record import Record
from conversation_mcp.stores.base import Store
from conversation_mcp.turns.chains import chain_of
from conversation_mcp.turns.composer import Composer
from conversation_mcp.turns.kept import kept
from conversation_mcp.turns.vendor_count import VendorCount

TOKENS_PER_PRICE = 10**6


class FileInContext(Record):
    """A file or image of a message, as the next request carries it."""

    path: str
    """Its path when it was named."""
    sent: SentAs
    """`whole`, `diff`, `known` (it stands at another place of the request) or `skipped`."""
    tokens: int
    """What it takes there, estimated."""
    as_pdf: bool | None = None
    """Whether the PDF itself is sent, and not its text."""
    reason: str | None = None
    """Why it is not sent."""


class MessageInContext(Record):
    """A message, as the next request carries it or not."""

    conversation_id: str | None = None
    """Its conversation, if that is an earlier one, which this one continues."""
    number: int | None = None
    """Its number there; absent for the system text."""
    role: str
    """The author of the message."""
    tokens: int
    """What it takes, with its files, estimated; 0 if it is left out."""
    is_sent: bool
    """Whether the next request carries it."""
    files: tuple[FileInContext, ...] | None = None
    """Its files and images."""


class SummaryInContext(Record):
    """A summary that stands for messages that are left out."""

    conversation_id: str | None = None
    """The conversation of these messages, if that is an earlier one, which this one continues."""
    first_message: int
    """The number of the first of them."""
    last_message: int
    """The number of the last of them."""
    tokens: int
    """What it takes, estimated; part of what the first message that is sent takes."""


class ShownContext(Record):
    """What the next question of a conversation would carry."""

    conversation_id: str
    """The id of the conversation."""
    provider: str
    """The provider that would be asked."""
    model: str | None = None
    """The model that would be asked; absent if the provider chooses it."""
    window_tokens: int | None = None
    """The window of the model, for the request and the answer; absent if it is unknown."""
    answer_tokens: int | None = None
    """What is kept of it for the answer."""
    limit_tokens: int | None = None
    """The largest request that would be sent; absent if the window is unknown, so that everything is sent."""
    tokens: int
    """What the request takes before a question is added, estimated."""
    counted_tokens: int | None = None
    """What it takes as the provider counts it, with a question of one character; only if that was asked for."""
    cost_usd: float | None = None
    """What that costs as input; absent if the price is unknown. What the provider reads from a cache costs less."""
    messages: tuple[MessageInContext, ...]
    """The messages in their order, those that are left out first."""
    summaries: tuple[SummaryInContext, ...] | None = None
    """The summaries that stand for messages that are left out."""
    notices: tuple[str, ...] | None = None
    """What is left out, and why."""


class Preview:
    """Shows contexts."""

    def __init__(self, store: Store, providers: Providers, composer: Composer, shares: Shares, mode_of: ModeOf) -> None:
        self._store = store
        self._providers = providers
        self._composer = composer
        self._shares = shares
        self._mode_of = mode_of
        self._vendor_count = VendorCount(providers)

    async def show(self, conversation_id: str, model: str | None, *, is_exact: bool = False) -> ShownContext:
        """Return what the next question would carry to this model, or to the one that a follow-up would stay with.

        With `is_exact`, the provider counts it, too, and gets the words for that; else nobody is asked.

        Raises:
            ConversationNotFoundError, ConversationCorruptedError: the conversation cannot be read.
            InvalidInputError: the provider cannot count.
            WordsStayError: counting would take words off this machine, and the call does not name the provider.
            ProviderError: the model cannot be asked, or not even the last exchange fits into its window.
        """
        conversation = await self._store.load(check_id(conversation_id))
        await self._providers.all()
        choice = await self._providers.choose(
            "chat",
            model,
            preset="",
            kept=kept(conversation, "chat", self._mode_of),
            whereabouts=whereabouts_of(conversation, self._providers.sides),
        )
        if is_exact:
            await self._vendor_count.require_counter(choice.provider)
        composition = await self._composer.shown(conversation, choice)
        if not is_exact:
            return self._context(conversation.conversation_id, choice, composition)
        holder = (await chain_of(self._store, conversation)).holder(self._providers.sides)
        counted, shared = await self._vendor_count.count(holder, choice, model, composition)
        composition = replace(composition, notices=(*shared, *composition.notices))
        return self._context(conversation.conversation_id, choice, composition, counted)

    def _context(
        self, conversation_id: str, choice: Choice, composition: Composition, counted: int | None = None
    ) -> ShownContext:
        tokens = round(composition.tokens) if counted is None else counted
        facts, budget = choice.facts.for_prompt(tokens), budget_of(choice.facts, self._shares)
        return ShownContext.of(
            conversation_id=conversation_id,
            provider=choice.provider.name,
            model=choice.name,
            window_tokens=facts.context,
            answer_tokens=budget.answer_tokens,
            limit_tokens=budget.input_tokens,
            tokens=round(composition.tokens),
            counted_tokens=counted,
            cost_usd=None if facts.price_in is None else facts.price_in * tokens / TOKENS_PER_PRICE,
            messages=tuple(_message(part, conversation_id) for part in composition.parts),
            summaries=tuple(_summary(one, conversation_id) for one in composition.standing) or None,
            notices=composition.notices or None,
        )


def _message(part: Part, conversation_id: str) -> MessageInContext:
    return MessageInContext.of(
        conversation_id=None if part.conversation_id == conversation_id else part.conversation_id,
        number=part.number,
        role=part.role,
        tokens=part.tokens,
        is_sent=part.is_sent,
        files=tuple(map(_file, part.files)) or None,
    )


def _summary(standing: StandingSummary, conversation_id: str) -> SummaryInContext:
    summary = standing.summary
    return SummaryInContext.of(
        conversation_id=None if standing.conversation_id == conversation_id else standing.conversation_id,
        first_message=summary.first_message,
        last_message=summary.last_message,
        tokens=standing.tokens,
    )


def _file(part: FilePart) -> FileInContext:
    return FileInContext.of(
        path=part.path, sent=part.sent, tokens=part.tokens, as_pdf=part.as_pdf or None, reason=part.why
    )
