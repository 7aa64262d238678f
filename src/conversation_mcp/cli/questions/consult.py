"""A workflow from a terminal: the request and its files are its only step, and a model judges them."""

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import anyio

from conversation_mcp.bootstrap import open_app
from conversation_mcp.cli.output.answer import put_answer
from conversation_mcp.cli.output.terminal import put, put_json, say
from conversation_mcp.cli.questions.display import Display
from conversation_mcp.cli.questions.interrupts import Interrupt, interrupts
from conversation_mcp.cli.questions.sent_along import sent_along
from conversation_mcp.cli.selection.ids import resolve
from conversation_mcp.cli.setup import finder_of
from conversation_mcp.consulting.wanted import Consulted, WantedStep
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.records.options import Effort
from conversation_mcp.settings import Settings
from conversation_mcp.tooling.consults import ConsultResult, result_of
from conversation_mcp.turns.ask import Caller, Note
from conversation_mcp.workflows.definition import Workflow
from conversation_mcp.workflows.given import GivenStep
from conversation_mcp.workflows.library import Workflows

FINDINGS = "No agent has looked at this yet: the request and what is sent with it are all there is."
STOPPING = "Stopping."
NAMES = {
    "files": "-f", "images": "--image", "step": "the request", "options": "--option", "conversationId": "-c",
    "model": "-m",
}  # fmt: skip


@dataclass(frozen=True)
class TypedConsult:
    """A workflow as it was typed."""

    workflow: str
    request: str
    conversation: str | None
    files: tuple[str, ...]
    images: tuple[str, ...]
    folder: Path
    model: str | None
    effort: Effort | None
    options: Mapping[str, str]


def consult_and_show(settings: Settings, typed: TypedConsult, *, as_json: bool) -> int:
    """Take the step, have it judged, show the answer, and return the exit code.

    Raises:
        InvalidInputError: the workflow asks no model, or an argument is wrong.
        ConversationMCPError: there is no answer.
    """
    definition = Workflows(settings.workflows_dir).find(typed.workflow)
    if definition.kind == "steps" and definition.validation.ask == "never":
        raise InvalidInputError(
            f"{definition.name} asks no model: an agent takes its steps, with the tool consult of the server."
        )
    if not typed.request.strip():
        raise InvalidInputError("the request is empty.")
    display, notes = Display(streams=not as_json), list[Note]()
    with interrupts(STOPPING) as interrupt:
        try:
            found = anyio.run(_consult, settings, definition, typed, display, interrupt, notes)
        except InvalidInputError as error:
            display.finish()
            raise InvalidInputError(error.message_with(NAMES)) from None
        except Exception:
            display.finish()
            raise
    if found is None:
        display.finish()
        say("Stopped. What was stored is in the conversation; the same command continues there.")
        return interrupt.exit_code
    done, result = found
    if as_json:
        put_json(result.data())
    else:
        _show(done, result, display)
    for note in notes:
        anyio.run(note)
    return 0


async def _consult(
    settings: Settings,
    definition: Workflow,
    typed: TypedConsult,
    display: Display,
    interrupt: Interrupt,
    notes: list[Note],
) -> tuple[Consulted, ConsultResult] | None:
    files = typed.files or _change(definition, typed.folder)
    sent = sent_along(files, typed.images, typed.folder)

    async def keep(note: Note) -> None:
        notes.append(note)  # written after the answer was printed

    caller = Caller(
        math.inf, display.report, on_text=display.hear, on_result=keep, pipe=sent.pipe, roots=sent.get_roots
    )
    given = GivenStep(
        step=typed.request,
        step_number=1,
        total_steps=1,
        next=False,
        findings=FINDINGS,
        files=sent.files,
        images=sent.images,
        options=_options(definition, typed.options),
        has_agent=False,
    )
    found: tuple[Consulted, ConsultResult] | None = None
    own = resolve(finder_of(settings), typed.conversation) if typed.conversation else None
    async with open_app(settings) as app:
        with interrupt.scope():
            async with display.open():
                wanted = WantedStep(definition.name, given, own, typed.model, typed.effort)
                done = await app.open_consulting().step(wanted, caller)
                found = done, await result_of(done, app, "consult")
    return found


def _change(definition: Workflow, folder: Path) -> tuple[str, ...]:
    """Return the change that the workflow looks at, if the folder is in a repository."""
    is_repository = any(os.path.lexists(each / ".git") for each in (folder, *folder.parents))
    return (definition.change,) if definition.change and is_repository else ()


def _options(definition: Workflow, typed: Mapping[str, str]) -> dict[str, object]:
    """Return the options in the types that the definition names."""
    return {name: _typed(definition, name, text) for name, text in typed.items()}


def _typed(definition: Workflow, name: str, text: str) -> object:
    option = definition.option(name)
    match option.type if option else "string":
        case "integer":
            return int(text) if text.strip().isdecimal() else text
        case "boolean":
            return {"true": True, "false": False}.get(text.strip().lower(), text)
        case "list":
            return [part.strip() for part in text.split(",") if part.strip()]
        case _:
            return text


def _show(done: Consulted, result: ConsultResult, display: Display) -> None:
    for notice in done.notices:
        say(f"Notice: {notice}")
    if done.turn is None:
        display.finish()
        put(result.form if result.state == "template" and result.form else result.guidance)
        return
    put_answer(done.turn, display.finish(done.turn.raw_result_text or ""), "chat")
    if result.outcome:
        say(f"Outcome: {result.outcome}{': ' + ', '.join(result.needs) if result.needs else ''}")
