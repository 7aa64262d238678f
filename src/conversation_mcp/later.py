"""Services that are imported with their first use, to keep the start fast."""

import logging
import os
from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from conversation_mcp.app import Asking
from conversation_mcp.conversations.library import Library
from conversation_mcp.disk.files import home_folder
from conversation_mcp.providers.choosing.providers import Providers
from conversation_mcp.providers.choosing.ranking import AUTO
from conversation_mcp.records.models import Conversation, ConversationId
from conversation_mcp.settings import Settings
from conversation_mcp.shared import SharedServices
from conversation_mcp.stores.base import Store
from conversation_mcp.turns.redaction import Redaction

if TYPE_CHECKING:
    from anyio.abc import TaskGroup

    from conversation_mcp.consulting.service import Consulting
    from conversation_mcp.conversations.remembering import Remembering
    from conversation_mcp.embeddings.catalog import Embedders
    from conversation_mcp.prompting.budget import Shares
    from conversation_mcp.turns.composer import ReadFiles
    from conversation_mcp.turns.daily_limit import DailyLimit
    from conversation_mcp.turns.decisions import Decisions
    from conversation_mcp.turns.dialogue_summaries import DialogueSummaries
    from conversation_mcp.turns.owner_limits import OwnerLimits
    from conversation_mcp.turns.summary_writer import SummaryWriter

logger = logging.getLogger(__name__)


def open_files(settings: Settings, now: Callable[[], datetime]) -> "ReadFiles":
    """Return what reads the files that questions name."""
    from conversation_mcp.attaching.cache import FileCache
    from conversation_mcp.attaching.files import FileReader

    reader = FileReader(settings, FileCache(), now, environment=os.environ)
    return partial(reader.read, working_folder=Path.cwd(), home=home_folder())


def open_embedders(settings: Settings) -> "Embedders":
    """Return the models that make vectors."""
    from conversation_mcp.providers.embedders import embedders_in

    return embedders_in(settings)


def open_remembering(
    store: Store,
    library: Library,
    now: Callable[[], datetime],
    redaction: Redaction,
    embedders: "Callable[[], Embedders]",
    has_texts: Callable[[], Awaitable[None]],
) -> "Remembering":
    """Return the services of memories."""
    from conversation_mcp.conversations.remembering import Remembering
    from conversation_mcp.providers.estimate import estimated_tokens

    return Remembering(store, library, estimated_tokens, now, redaction, embedders, has_texts)


def open_summaries(
    store: Store,
    providers: Providers,
    writer: "SummaryWriter",
    daily_limit: "DailyLimit",
    owner_limits: "OwnerLimits",
    settings: Settings,
    now: Callable[[], datetime],
    tasks: "TaskGroup",
    busy: set[str],
) -> "DialogueSummaries":
    """Return what has summaries of a chatbot's log written; `busy` has the conversations for which it does."""
    from conversation_mcp.turns.dialogue_summaries import DialogueSummaries

    return DialogueSummaries(
        store,
        providers,
        writer,
        daily_limit,
        owner_limits,
        settings.summaries,
        settings.lock_wait_seconds,
        now,
        tasks,
        busy,
    )


def open_decisions(
    store: Store,
    providers: Providers,
    shares: "Shares",
    clean: Callable[[str], str],
    daily_limit: "DailyLimit",
    owner_limits: "OwnerLimits",
    settings: Settings,
    now: Callable[[], datetime],
    tasks: "TaskGroup",
    busy: set[str],
    has_texts: Callable[[], Awaitable[None]],
) -> "Decisions | None":
    """Return what looks for decisions, as `open_summaries` does for summaries; None if no model is named for it."""
    if settings.decisions is None:
        return None
    from conversation_mcp.prompting.prompts import load_decisions_prompt
    from conversation_mcp.turns.decisions import Decisions

    return Decisions(
        store,
        providers,
        partial(load_decisions_prompt, settings.prompts_dir),
        shares,
        clean,
        daily_limit,
        owner_limits,
        settings.decisions,
        settings.lock_wait_seconds,
        now,
        tasks,
        busy,
        has_texts,
    )


def open_consulting(
    program: SharedServices,
    store: Store,
    open_asking: Callable[[], Asking],
    save: Callable[[ConversationId], Awaitable[None]],
) -> "Consulting":
    """Return what takes the steps of workflows."""
    from conversation_mcp.consulting.service import Consulting
    from conversation_mcp.workflows.library import Workflows

    asking, settings = open_asking(), program.settings
    workflows = Workflows(settings.workflows_dir)
    usual = None if settings.default_model == AUTO else settings.default_model
    prompt = program.prompts["chat"]
    return Consulting(store, asking.turns, asking.composer, workflows, prompt, save, program.now, default_model=usual)


def with_validations(folder: Path, conversation: Conversation) -> Conversation:
    """Return the conversation with the outcome of a validation that was just answered in its step."""
    if not conversation.workflow_steps:
        return conversation
    from conversation_mcp.consulting import answers
    from conversation_mcp.workflows.library import Workflows

    try:
        return answers.with_validations(Workflows(folder), conversation)
    except Exception:
        logger.exception("the outcome of a validation could not be recorded")  # the answer itself must not be lost
        return conversation
