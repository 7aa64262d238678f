"""The composition root: from settings to a running program."""

import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from conversation_mcp.app import App
from conversation_mcp.cancellation import finish
from conversation_mcp.clock import utc_now
from conversation_mcp.conversations.library import Library
from conversation_mcp.conversations.pruner import Pruner
from conversation_mcp.conversations.tidier import Tidier
from conversation_mcp.conversations.trash_can import TrashCan
from conversation_mcp.disk.files import home_folder
from conversation_mcp.prompting.budget import Shares
from conversation_mcp.prompting.prompts import load_prompts, load_summary_prompt
from conversation_mcp.providers.base import Provider
from conversation_mcp.providers.catalog import ProviderContext, build_providers
from conversation_mcp.providers.choosing.providers import Providers
from conversation_mcp.providers.client import LazyClient
from conversation_mcp.records.models import ConversationId
from conversation_mcp.records.modes import Mode
from conversation_mcp.settings import Settings
from conversation_mcp.stores.base import Store
from conversation_mcp.stores.catalog import open_store
from conversation_mcp.tools.catalog import mode_of, tools_of
from conversation_mcp.turns.claims import Claims
from conversation_mcp.turns.composer import Composer, ReadFiles
from conversation_mcp.turns.consensus import Consensus
from conversation_mcp.turns.consensus_opener import ConsensusOpener
from conversation_mcp.turns.daily_limit import DailyLimit
from conversation_mcp.turns.earlier_calls import EarlierCalls
from conversation_mcp.turns.engine import TurnEngine
from conversation_mcp.turns.preview import Preview
from conversation_mcp.turns.receiver import AnswerReceiver
from conversation_mcp.turns.resumer import Resumer
from conversation_mcp.turns.roster import RunningTurns
from conversation_mcp.turns.sender import TurnSender
from conversation_mcp.turns.settler import Settler
from conversation_mcp.turns.summarizer import Summarizer
from conversation_mcp.turns.summary_writer import SummaryWriter
from conversation_mcp.turns.unsaved import UnsavedAnswers
from conversation_mcp.turns.watch import Watch
from conversation_mcp.turns.worker import TurnLimits, TurnWorker

if TYPE_CHECKING:
    import httpx

    from conversation_mcp.consulting.service import Consulting


@asynccontextmanager
async def open_providers(settings: Settings) -> AsyncGenerator[Providers]:
    """Open the providers without the rest of the program, such as to list their models."""
    client = LazyClient()
    try:
        yield Providers(partial(build_providers, ProviderContext(settings, client)), settings, utc_now)
    finally:
        await finish(client.aclose())


def open_files(settings: Settings, now: Callable[[], datetime]) -> ReadFiles:
    """Return what reads the files that questions name; imported with the first one, to keep the start fast."""
    from conversation_mcp.attaching.cache import FileCache
    from conversation_mcp.attaching.files import FileReader

    reader = FileReader(settings, FileCache(), now, environment=os.environ)
    return partial(reader.read, working_folder=Path.cwd(), home=home_folder())


def open_consulting(
    settings: Settings,
    store: Store,
    turns: TurnEngine,
    composer: Composer,
    prompts: Mapping[Mode, str],
    save: Callable[[ConversationId], Awaitable[None]],
    now: Callable[[], datetime],
) -> "Consulting":
    """Return what takes the steps of workflows; imported with the first one, to keep the start fast."""
    from conversation_mcp.consulting.service import Consulting
    from conversation_mcp.workflows.library import Workflows

    workflows, usual = Workflows(settings.workflows_dir), settings.default_model
    return Consulting(store, turns, composer, workflows, prompts["chat"], save, now, default_model=usual)


@asynccontextmanager
async def open_app(
    settings: Settings,
    *,
    now: Callable[[], datetime] = utc_now,
    transport: "httpx.AsyncBaseTransport | None" = None,
    providers: Iterable[Provider] | None = None,
) -> AsyncGenerator[App]:
    """Open the program's services; turns that still run at the end are interrupted, and their files say so.

    Args:
        settings: the configuration of everything.
        now: the clock.
        transport: replaces the network of the providers.
        providers: replaces the configured providers.
    """
    tools = await anyio.to_thread.run_sync(tools_of, settings.tools, settings.workflows_dir)
    prompts = await anyio.to_thread.run_sync(load_prompts, settings.prompts_dir)
    summary_prompt = await anyio.to_thread.run_sync(load_summary_prompt, settings.prompts_dir)
    store = open_store(settings.store_url, now)
    client = LazyClient(transport)
    build = (
        partial(build_providers, ProviderContext(settings, client, now=now)) if providers is None else lambda: providers
    )
    limits = TurnLimits(
        lock_wait_seconds=settings.lock_wait_seconds,
        max_question_chars=settings.max_question_chars,
        max_turns=settings.max_conversation_turns,
    )
    unsaved = UnsavedAnswers(store)
    failure: Exception | None = None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(store.run)
        running = RunningTurns(tasks)
        chosen = Providers(build, settings, now)
        receiver = AnswerReceiver(store, unsaved, settings.conversation_timeout_hours)
        settler = Settler(store, chosen, receiver, unsaved, now)
        shares = Shares(settings.answer_share, settings.files_share, settings.history_share)
        composer = Composer(
            store,
            chosen,
            partial(open_files, settings, now),
            shares,
            mode_of,
            summarises=settings.summaries is not None,
        )
        daily_limit = DailyLimit(store, settings.max_cost_usd_per_day, chosen.catalogue, now)
        writer = SummaryWriter(summary_prompt, shares, receiver)
        summarizer = Summarizer(store, chosen, receiver, composer, writer, daily_limit, settings.summaries, now)
        sender = TurnSender(store, chosen, receiver, composer, summarizer, tasks)
        worker = TurnWorker(store, chosen, receiver, sender, unsaved, settler, composer, prompts, limits)
        resumer = Resumer(worker, running)
        claims = Claims(store.calls, EarlierCalls(store, resumer, unsaved))
        opener = ConsensusOpener(store, worker, unsaved, composer, daily_limit)
        consensus = Consensus(store, worker, sender, unsaved, composer, opener, tasks)
        turns = TurnEngine(
            store, chosen, worker, consensus, running, claims, daily_limit, limits, composer, mode_of, now
        )
        preview = Preview(store, chosen, composer, shares, mode_of)
        watch = Watch(store, worker, running, resumer, unsaved, now)
        library, trash = Library(store), TrashCan(store)
        tidier = Tidier(store, unsaved.require_saved, settings.lock_wait_seconds)
        pruner = Pruner(store, tidier, now)
        if settings.conversation_timeout_hours is not None:
            tasks.start_soon(pruner.archive_idle, timedelta(hours=settings.conversation_timeout_hours))
        try:
            yield App(
                settings,
                store,
                chosen,
                turns,
                watch,
                preview,
                cache(partial(open_consulting, settings, store, turns, composer, prompts, unsaved.require_saved, now)),
                running,
                library,
                tidier,
                trash,
                pruner,
                tools,
                mode_of,
                tasks,
            )
        except Exception as error:  # noqa: BLE001 -- raised below, as it came and not in a group
            failure = error
        finally:
            await running.finish(settings.ending_grace_seconds)
            tasks.cancel_scope.cancel()
    # The last chance of answers that could not be saved: they are only in memory. No turn runs any more.
    await finish(unsaved.retry_all())
    await finish(client.aclose())
    if failure is not None:
        raise failure
