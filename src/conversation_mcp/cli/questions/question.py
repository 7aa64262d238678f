"""One question, asked through the turn engine as the server does it, but awaited without a limit."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import anyio

from conversation_mcp.bootstrap import open_app
from conversation_mcp.cli.exit_codes import FAILED
from conversation_mcp.cli.output.answer import next_step, put_answer
from conversation_mcp.cli.output.terminal import is_anybody_reading, put, put_json, say
from conversation_mcp.cli.questions.display import Display
from conversation_mcp.cli.questions.interrupts import Interrupt, interrupts
from conversation_mcp.cli.questions.sent_along import NOTHING, SentAlong
from conversation_mcp.cli.selection.ids import resolve
from conversation_mcp.cli.setup import finder_of
from conversation_mcp.errors import ConversationMCPError, InvalidInputError
from conversation_mcp.records.codec import decode
from conversation_mcp.records.ids import SHAPE
from conversation_mcp.records.models import Conversation, ConversationId
from conversation_mcp.records.modes import Mode
from conversation_mcp.settings import Settings
from conversation_mcp.tooling.arguments import parse
from conversation_mcp.tools.catalog import AnyTool, asking_tool, tool_of
from conversation_mcp.turns.ask import Caller, Note
from conversation_mcp.turns.result import TurnResult

Kind = Literal["search", "research", "chat", "consensus"]
MODE_OF: Mapping[Kind, Mode] = {"search": "search", "research": "deep_research", "chat": "chat", "consensus": "chat"}
HOW: Mapping[Kind, str] = {
    "search": "without --deep",
    "research": "with --deep",
    "chat": "with --chat",
    "consensus": "here",
}
OPTION_OF = {
    "query": "the question",
    "prompt": "the question",
    "show_thinking": "--show-thinking",
    "search_recency_filter": "--recency",
    "search_domain_filter": "--domain",
    "search_after_date_filter": "--after",
    "search_before_date_filter": "--before",
    "search_mode": "--academic",
    "return_related_questions": "--related",
    "reasoning_effort": "--effort",
    "files": "-f",
    "images": "--image",
    "models": "-m",
    "synthesis": "--synthesis",
    "continueFrom": "--continue-from",
}
STOPPING = "Stopping."


@dataclass(frozen=True)
class TypedQuestion:
    """A question as it was typed; `arguments` are those of the tool that asks it, by their names in its input."""

    text: str
    conversation: str | None
    kind: Kind
    arguments: Mapping[str, Any]
    system: str | None = None
    """The system text of the new conversation, in place of the default one."""
    sent: SentAlong = NOTHING
    """The files and images that go with it."""
    continue_from: str | None = None
    """The conversation that the new one continues."""


@dataclass(frozen=True)
class Conclusion:
    """The exit code of a question, and the conversation if one was opened or found."""

    code: int
    conversation_id: str | None


def named(settings: Settings, question: TypedQuestion) -> TypedQuestion:
    """Return the question with the ids of its conversation, and of the one that it continues, resolved.

    Raises:
        InvalidInputError: the conversation cannot be told, or the question has a system text that it cannot have.
    """
    if question.system is not None and not question.system.strip():
        raise InvalidInputError("the system text is empty.")
    if question.continue_from is not None:
        if question.conversation is not None:
            raise InvalidInputError("-c asks in a conversation, --continue-from opens one that continues it; give one.")
        question = replace(question, continue_from=resolve(finder_of(settings), question.continue_from))
    if question.conversation is None:
        return question
    if question.system is not None:
        raise InvalidInputError("--system is for a new conversation; the one that -c names has its system text.")
    return replace(question, conversation=resolve(finder_of(settings), question.conversation))


def tool_for(question: TypedQuestion) -> AnyTool:
    """Return the tool that asks the question."""
    if question.kind == "consensus":
        return tool_of("consensus")
    return asking_tool(MODE_OF[question.kind], follows=question.conversation is not None)


def ask_and_show(
    settings: Settings, question: TypedQuestion, *, as_json: bool = False, display: Display | None = None
) -> Conclusion:
    """Ask the question, show the answer and return the outcome; pass a `display` to read from it afterwards.

    Raises:
        InvalidInputError: an option has a wrong value, or cannot be used with another.
        ConversationMCPError: there is no answer.
    """
    tool = tool_for(question)
    given = _parsed(tool, question)
    display = display or Display(streams=not as_json)
    notes: list[Note] = []
    with interrupts(STOPPING) as interrupt:
        try:
            result = anyio.run(_ask, settings, tool, given, question, display, interrupt, notes)
        except InvalidInputError as error:
            display.finish()
            _note_all(notes)
            raise InvalidInputError(error.message_with(OPTION_OF)) from None
        except Exception:
            display.finish()
            _note_all(notes)
            raise
    if result is None:  # a signal has cancelled it
        display.finish()
        say(_left(settings, display.conversation_id, question.text))
        return Conclusion(interrupt.exit_code, display.conversation_id)
    if as_json:
        put_json(result.model_copy(update={"next_step": next_step(result, MODE_OF[question.kind])}).data())
    elif question.kind == "consensus":
        display.finish()
        put(tool.render(result.model_copy(update={"next_step": next_step(result, "chat")})))
    else:
        put_answer(result, display.finish(result.raw_result_text or ""), MODE_OF[question.kind])
    # Without a reader nothing is noted as delivered, so the same question again returns this answer.
    if not is_anybody_reading():
        say(f"stdout is closed. The answer is saved:  conversation-mcp show {result.conversation_id}")
        return Conclusion(FAILED, result.conversation_id)
    _note_all(notes)
    return Conclusion(0, result.conversation_id)


def _note_all(notes: Iterable[Note]) -> None:
    """Record that the outcome was delivered; called only after it was printed."""
    for note in notes:
        anyio.run(note)


def _parsed(tool: AnyTool, question: TypedQuestion) -> Any:  # noqa: ANN401 -- the tool's own input
    for name in question.arguments:
        if name not in tool.input_model.model_fields:
            raise InvalidInputError(f"{OPTION_OF[name]} cannot be used {HOW[question.kind]}.")
    text = "query" if "query" in tool.input_model.model_fields else "prompt"
    arguments = {text: question.text, **question.arguments}
    if question.conversation is not None:
        arguments["conversation_id"] = question.conversation
    if question.continue_from is not None:
        arguments["continue_from"] = question.continue_from
    try:
        return parse(tool, arguments)
    except InvalidInputError as error:
        raise InvalidInputError(error.message_with(OPTION_OF)) from None


async def _ask(
    settings: Settings,
    tool: AnyTool,
    given: Any,  # noqa: ANN401 -- the tool's own input
    question: TypedQuestion,
    display: Display,
    interrupt: Interrupt,
    notes: list[Note],
) -> TurnResult | None:
    caller = caller_for(question, display, notes)
    result: TurnResult | None = None
    async with open_app(settings) as app:
        with interrupt.scope():
            async with display.open():
                result = await tool.run(given, app, caller)
    return result


def caller_for(question: TypedQuestion, display: Display, notes: list[Note]) -> Caller:
    """Return the asker of the question: the display, with what goes along with the question."""

    async def keep(note: Note) -> None:
        notes.append(note)  # written after the answer was printed; until then it is not delivered

    return Caller(
        math.inf,
        display.report,
        on_text=display.hear,
        on_result=keep,
        system=question.system,
        files=question.sent.files,
        images=question.sent.images,
        pipe=question.sent.pipe,
        roots=question.sent.get_roots,
    )


def _left(settings: Settings, conversation_id: str | None, question: str) -> str:
    """Return the state of an interrupted question, and the command that shows or fetches it."""
    conversation = stored(settings, conversation_id)
    pending = conversation.pending_turn if conversation else None
    if conversation is None:
        return "Nothing was asked."
    if pending is not None and pending.question == question:
        if pending.background and pending.status == "running":
            return (
                f"The run continues at {pending.provider}. Get the answer with:  "
                f"conversation-mcp resume {conversation_id}"
            )
        return (
            f"The question was interrupted; the call may have been billed. It is kept:  "
            f"conversation-mcp show {conversation_id}"
        )
    if any(message.role == "user" and message.content == question for message in conversation.messages[-2:]):
        return f"The answer had come and is saved:  conversation-mcp show {conversation_id}"
    return "Nothing was asked."


def stored(settings: Settings, conversation_id: str | None) -> Conversation | None:
    """Return the conversation if it exists and can be read."""
    if conversation_id is None or not SHAPE.fullmatch(conversation_id):
        return None
    finder, wanted = finder_of(settings), ConversationId(conversation_id)
    try:
        return decode(finder.read(wanted), finder.location(wanted), wanted)
    except ConversationMCPError:
        return None
