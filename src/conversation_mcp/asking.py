"""What asks questions, put together over the conversations of one owner. Imported with the first question."""

from collections.abc import Awaitable, Callable
from functools import cache, partial

from anyio.abc import TaskGroup

from conversation_mcp.app import Asking
from conversation_mcp.conversations.expiry import Expiries
from conversation_mcp.later import open_decisions, open_summaries, with_validations
from conversation_mcp.prompting.budget import Shares
from conversation_mcp.settings import Settings
from conversation_mcp.shared import SharedServices
from conversation_mcp.stores.base import Store
from conversation_mcp.stores.mirror import MirroredStore
from conversation_mcp.tools.catalog import mode_of
from conversation_mcp.turns.claims import Claims
from conversation_mcp.turns.composer import Composer
from conversation_mcp.turns.consensus import Consensus
from conversation_mcp.turns.consensus_opener import ConsensusOpener
from conversation_mcp.turns.daily_limit import DailyLimit
from conversation_mcp.turns.earlier_calls import EarlierCalls
from conversation_mcp.turns.engine import TurnEngine
from conversation_mcp.turns.owner_limits import OwnerLimits, OwnerRates
from conversation_mcp.turns.preview import Preview
from conversation_mcp.turns.receiver import AnswerReceiver
from conversation_mcp.turns.redaction import Redaction
from conversation_mcp.turns.resumer import Resumer
from conversation_mcp.turns.roster import RunningTurns
from conversation_mcp.turns.sender import TurnSender
from conversation_mcp.turns.settler import Settler
from conversation_mcp.turns.stop_watch import StopWatch
from conversation_mcp.turns.summarizer import Summarizer
from conversation_mcp.turns.summary_writer import SummaryWriter
from conversation_mcp.turns.unsaved import UnsavedAnswers
from conversation_mcp.turns.watch import Watch
from conversation_mcp.turns.worker import TurnLimits, TurnWorker


def asking_over(
    program: SharedServices,
    owner: str,
    store: Store,
    unsaved: UnsavedAnswers,
    running: RunningTurns,
    busy: set[str],
    redaction: Redaction,
    tasks: TaskGroup,
    has_texts: Callable[[], Awaitable[None]],
    *,
    is_remote: bool,
) -> Asking:
    """Return the services of questions; those of a remote caller are limited by rates.

    `busy` gets the conversations for which a summary is being written.
    """
    settings, now, chosen = program.settings, program.now, program.providers
    limits = TurnLimits(
        lock_wait_seconds=settings.lock_wait_seconds,
        max_question_chars=settings.max_question_chars,
        max_turns=settings.max_conversation_turns,
    )
    validated = partial(with_validations, settings.workflows_dir)
    expiries = Expiries(store, settings.conversation_timeout_hours)
    receiver = AnswerReceiver(store, unsaved, expiries, validated, redaction)
    settler = Settler(store, chosen, receiver, unsaved, now)
    shares = Shares(settings.answer_share, settings.files_share, settings.history_share)
    composer = Composer(
        store,
        chosen,
        program.files,
        shares,
        mode_of,
        summarises=settings.summaries is not None,
        redaction=redaction,
    )
    daily_limit = DailyLimit(store, settings.max_cost_usd_per_day, chosen.catalogue, now)
    owner_limits = OwnerLimits(owner, store, _rates_of(settings) if is_remote else None)
    writer = SummaryWriter(program.summary_prompt, shares, redaction.text)
    summarizer = Summarizer(store, chosen, receiver, composer, writer, daily_limit, settings.summaries, now)
    stop_watch = StopWatch(store, tasks)
    sender = TurnSender(store, chosen, receiver, composer, summarizer, stop_watch)
    worker = TurnWorker(store, chosen, receiver, sender, unsaved, settler, composer, program.prompts, limits)
    resumer = Resumer(worker, running)
    claims = Claims(store.calls, EarlierCalls(store, resumer, unsaved))
    opener = ConsensusOpener(store, worker, unsaved, composer, daily_limit)
    consensus = Consensus(store, worker, sender, unsaved, composer, opener, stop_watch)
    turns = TurnEngine(
        store,
        chosen,
        worker,
        consensus,
        running,
        claims,
        daily_limit,
        owner_limits,
        limits,
        composer,
        mode_of,
        now,
        store.trouble if isinstance(store, MirroredStore) else None,
    )
    preview = Preview(store, chosen, composer, shares, mode_of)
    watch = Watch(store, worker, running, resumer, unsaved, now)
    summaries = partial(open_summaries, store, chosen, writer, daily_limit, owner_limits, settings, now, tasks, busy)
    decisions = partial(
        open_decisions,
        store,
        chosen,
        shares,
        redaction.text,
        daily_limit,
        owner_limits,
        settings,
        now,
        tasks,
        busy,
        has_texts,
    )
    return Asking(turns, watch, preview, composer, expiries, cache(summaries), cache(decisions))


def _rates_of(settings: Settings) -> OwnerRates:
    return OwnerRates(
        settings.max_questions_per_minute,
        settings.max_conversations_per_minute,
        settings.max_running_turns,
        settings.max_stored_bytes,
    )
