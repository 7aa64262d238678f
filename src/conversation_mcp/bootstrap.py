"""The composition root: from settings to a program that all owners share, and to the services of one owner."""

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta
from functools import cache, partial
from typing import TYPE_CHECKING

import anyio

from conversation_mcp.app import App, Asking, UserHomes
from conversation_mcp.background import Background
from conversation_mcp.cancellation import finish, tasks_beside
from conversation_mcp.clock import utc_now
from conversation_mcp.conversations.dialogue import Dialogues
from conversation_mcp.conversations.library import Library
from conversation_mcp.conversations.pruner import Pruner
from conversation_mcp.conversations.retention import RetentionSweep
from conversation_mcp.conversations.tidier import Tidier
from conversation_mcp.conversations.trash_can import TrashCan
from conversation_mcp.conversations.turn_meaning import open_meaning
from conversation_mcp.embeddings.catalog import OFF
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.homes import Note, holders_of, open_all
from conversation_mcp.later import open_consulting, open_embedders, open_files, open_remembering
from conversation_mcp.prompting.prompts import load_prompts, load_summary_prompt
from conversation_mcp.providers.base import Provider
from conversation_mcp.providers.catalog import ProviderContext, build_providers
from conversation_mcp.providers.choosing.providers import Providers
from conversation_mcp.providers.client import LazyClient
from conversation_mcp.settings import Settings
from conversation_mcp.shared import SharedServices
from conversation_mcp.stores.catalog import (
    lifetime_in,
    open_audit,
    open_common,
    open_retention,
    open_store,
    require_mirrorable,
    without_meaning,
)
from conversation_mcp.threads import allow_threads
from conversation_mcp.tools.catalog import LOG, mode_of, tools_of
from conversation_mcp.turns.redaction import Redaction
from conversation_mcp.turns.roster import RunningTurns
from conversation_mcp.turns.unsaved import UnsavedAnswers

if TYPE_CHECKING:
    import httpx

    from conversation_mcp.stores.catalog import Common

logger = logging.getLogger(__name__)


@asynccontextmanager
async def open_providers(settings: Settings) -> AsyncGenerator[Providers]:
    """Open the providers without the rest of the program, such as to list their models."""
    client = LazyClient()
    try:
        yield Providers(partial(build_providers, ProviderContext(settings, client)), settings, utc_now)
    finally:
        await finish(client.aclose())


@asynccontextmanager
async def open_program(
    settings: Settings,
    *,
    now: Callable[[], datetime] = utc_now,
    transport: "httpx.AsyncBaseTransport | None" = None,
    providers: Iterable[Provider] | None = None,
    has_work: Callable[[str], object] | None = None,
) -> AsyncGenerator[SharedServices]:
    """Open what all homes share; it must be closed after them.

    Args:
        settings: the configuration of everything.
        now: the clock.
        transport: replaces the network of the providers.
        providers: replaces the configured providers.
        has_work: called with an owner for whom there may be work for the background.
    """
    if settings.mirror:
        require_mirrorable(settings.store_url)
    allow_threads()
    tools = await anyio.to_thread.run_sync(tools_of, settings.tools, settings.workflows_dir)
    prompts = await anyio.to_thread.run_sync(load_prompts, settings.prompts_dir)
    summary_prompt = await anyio.to_thread.run_sync(load_summary_prompt, settings.prompts_dir)
    client = LazyClient(transport)
    wake = partial(has_work, settings.owner) if has_work else lambda: None
    context = ProviderContext(settings, client, now=now, has_work=wake)
    build = partial(build_providers, context) if providers is None else lambda: providers
    common = await anyio.to_thread.run_sync(_common, settings.store_url)
    try:
        chosen = Providers(build, settings, now)
        embedders = cache(partial(open_embedders, settings))
        files = cache(partial(open_files, settings, now))
        yield SharedServices(settings, now, tools, prompts, summary_prompt, chosen, files, has_work, embedders, common)
    finally:
        if common:
            await finish(anyio.to_thread.run_sync(common.close))
        await finish(client.aclose())


@asynccontextmanager
async def open_app(
    settings: Settings,
    *,
    now: Callable[[], datetime] = utc_now,
    transport: "httpx.AsyncBaseTransport | None" = None,
    providers: Iterable[Provider] | None = None,
    work_aside: Callable[[str], Awaitable[object]] | None = None,
) -> AsyncGenerator[App]:
    """Open the services of the one owner whom the settings name, as stdio and commands use them.

    `work_aside` does the work of an owner for the background, such as vectors of texts. The others are the arguments of
    `open_program`. Where a chatbot's log is on, the homes of its users are open to it.
    """
    background = Background(work_aside) if work_aside else None
    wake = background.wake if background else None
    async with (
        open_program(settings, now=now, transport=transport, providers=providers, has_work=wake) as program,
        open_all(partial(open_home, program), settings.owner, _noting(settings.store_url, now))
        if LOG in settings.tools
        else open_home(program, settings.owner) as app,
    ):
        if background:
            app.tasks.start_soon(work_in_background, settings, background, now)
        yield app


async def work_in_background(settings: Settings, background: Background, now: Callable[[], datetime] = utc_now) -> None:
    """Do what a server does for all owners while it runs, until cancelled."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(background.run)
        tasks.start_soon(retention_of(settings, now).run)
        if settings.embeddings != OFF:
            say = partial(anyio.to_thread.run_sync, _say_without_meaning, abandon_on_cancel=True)
            tasks.start_soon(say, settings.store_url)


def _say_without_meaning(url: str) -> None:
    if missing := without_meaning(url):
        logger.warning("%s", missing)


def retention_of(settings: Settings, now: Callable[[], datetime]) -> RetentionSweep:
    """Return what deletes old conversations of owners who do not keep them forever."""
    url, hours = settings.store_url, settings.conversation_timeout_hours

    def note(owner: str, age: str, ids: Sequence[str]) -> None:
        from conversation_mcp.records.audit import AuditEvent, account

        open_audit(url, now).add(AuditEvent(account(), "server", owner, f"retention {age}", ids))

    store_of = partial(
        open_store, url, now, encryption=settings.encryption, timeout_hours=hours, mirror=settings.mirror
    )
    return RetentionSweep(lambda: open_retention(url).ages(), store_of, note, now)


def _noting(url: str, now: Callable[[], datetime]) -> Note:
    """Return what notes in the audit trail what this server does for a user over stdio."""
    trail = cache(partial(open_audit, url, now))

    def note(owner: str, action: str, targets: Sequence[str]) -> None:
        from conversation_mcp.records.audit import AuditEvent, account

        trail().add(AuditEvent(account(), "stdio", owner, action, targets), is_durable=False)

    return note


class _SavedTexts:
    """Has the vectors of an owner's texts made that were just saved, where there is a model for it."""

    def __init__(self, program: SharedServices, owner: str) -> None:
        self._program = program
        self._owner = owner
        self._has_model: bool | None = None

    async def __call__(self, *_: object) -> None:
        if not (has_work := self._program.has_work):
            return
        if self._has_model is None:  # in a thread, because it is imported; it never changes
            embedders = self._program.embedders
            self._has_model = await anyio.to_thread.run_sync(lambda: embedders().chosen is not None)
        if self._has_model:
            has_work(self._owner)


@asynccontextmanager
async def open_home(
    program: SharedServices, owner: str, *, is_remote: bool = False, homes: UserHomes | None = None
) -> AsyncGenerator[App]:
    """Open the services over the conversations of one owner, which reach those of others only through `homes`.

    Turns that still run at the end are interrupted, and their files say so.
    """
    settings, now, hours = program.settings, program.now, program.settings.conversation_timeout_hours
    store = await anyio.to_thread.run_sync(
        partial(
            open_store,
            settings.store_url,
            now,
            owner,
            encryption=settings.encryption,
            timeout_hours=hours,
            common=program.common,
            mirror=settings.mirror,
        )
    )
    unsaved = UnsavedAnswers(store)
    try:
        async with tasks_beside() as tasks:
            tasks.start_soon(store.run)
            running = RunningTurns(tasks)
            redaction, busy = Redaction(settings.redact), set[str]()

            def open_asking() -> Asking:
                from conversation_mcp.asking import (
                    asking_over,
                )  # takes long to import, and the first question waits for it

                return asking_over(
                    program, owner, store, unsaved, running, busy, redaction, tasks, has_texts, is_remote=is_remote
                )

            asking = cache(open_asking)
            meaning = cache(lambda: open_meaning(program.embedders, store.finder.turns))
            wake, has_texts = partial(program.has_work or _nothing, owner), _SavedTexts(program, owner)
            running.on_end.append(has_texts)
            library, trash = Library(store, open_meaning=meaning, has_work=wake), TrashCan(store)
            tidier = Tidier(store, unsaved.require_saved, settings.lock_wait_seconds, redaction)
            pruner = Pruner(store, tidier, now)
            if hours is not None and lifetime_in(settings.store_url, hours) is None:
                tasks.start_soon(pruner.archive_idle, timedelta(hours=hours))
            try:
                yield App(
                    owner,
                    is_remote,
                    settings,
                    store,
                    program.providers,
                    asking,
                    cache(partial(open_consulting, program, store, asking, unsaved.require_saved)),
                    cache(partial(open_remembering, store, library, now, redaction, program.embedders, has_texts)),
                    running,
                    library,
                    Dialogues(owner, store, settings, redaction),
                    tidier,
                    trash,
                    pruner,
                    program.tools,
                    mode_of,
                    tasks,
                    partial(holders_of, settings.store_url),
                    homes,
                    lambda: bool(len(running) or len(unsaved) or busy),
                    has_texts,
                )
            finally:
                await running.finish(settings.ending_grace_seconds)
    finally:
        # The last chance of answers that could not be saved: they are only in memory. No turn runs any more.
        await finish(unsaved.retry_all())


def _common(url: str) -> "Common | None":
    """Return what all stores have in common; whoever opens one is told what is wrong with the URL."""
    with suppress(InvalidInputError):
        return open_common(url)
    return None


def _nothing(_owner: str) -> None:
    """Do nothing, where no work is done aside."""
