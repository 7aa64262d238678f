"""Prompts: a stored conversation as a message to a model, with the tool to call next."""

import tomllib
from collections.abc import Iterable, Mapping
from importlib.resources import files
from string import Template

from anyio import to_thread
from mcp import MCPError
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    GetPromptResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    TextContent,
)

from conversation_mcp.app import App, ToolFacts
from conversation_mcp.errors import ConversationMCPError, ConversationNotFoundError, InvalidInputError, Steps
from conversation_mcp.records.ids import check_id
from conversation_mcp.server.calls import ToolCalls
from conversation_mcp.server.transcript import read_transcript
from conversation_mcp.text import shorten
from conversation_mcp.tooling.steps import steps_of
from conversation_mcp.tooling.way_on import Way, way_on_in

CONVERSATION_ID = "conversationId"
STYLE = "style"

CONTINUE = Prompt(
    name="continue_conversation",
    title="Continue a conversation",
    description="Bring a stored conversation into this chat and ask its next question.",
    arguments=[
        PromptArgument(name=CONVERSATION_ID, description="Which conversation.", required=True),
        PromptArgument(name="question", description="What to ask next; default: agree on it first.", required=False),
    ],
)
SUMMARIZE = Prompt(
    name="summarize_conversation",
    title="Summarize a conversation",
    description="Summarize a stored conversation with its sources.",
    arguments=[
        PromptArgument(name=CONVERSATION_ID, description="Which conversation.", required=True),
        PromptArgument(name=STYLE, description="short, bullets, detailed or decisions.", required=False),
    ],
)


def prompts_of(tools: Iterable[ToolFacts]) -> dict[str, Prompt]:
    """Return the prompts by name; the one that continues a conversation needs a tool that can."""
    chosen = (CONTINUE, SUMMARIZE) if any(tool.follows for tool in tools) else (SUMMARIZE,)
    return {prompt.name: prompt for prompt in chosen}


async def render_prompt(prompt: Prompt, arguments: Mapping[str, str], app: App, calls: ToolCalls) -> GetPromptResult:
    """Return the prompt's message with the transcript in it.

    Raises:
        MCPError: an argument is missing, unknown or wrong, or the conversation cannot be read.
    """
    check_arguments(prompt, arguments)
    template, values = await to_thread.run_sync(_template, prompt.name, arguments)
    steps = steps_of(app.tools)
    try:
        transcript = calls.seen(await read_transcript(arguments[CONVERSATION_ID], app))
        way = await way_on_in(await app.store.load(check_id(arguments[CONVERSATION_ID])), app)
    except (ConversationNotFoundError, InvalidInputError) as error:
        raise _refusal(calls.told(error), data=error.code) from None
    except ConversationMCPError as error:
        raise _refusal(calls.told(error), INTERNAL_ERROR, error.code) from None
    values |= {"tools": way.names, "naming": way.naming, "more": " ".join(_next_steps(values["id"], way, steps))}
    content = TextContent(text=template.substitute(values, transcript=transcript).rstrip())
    return GetPromptResult(description=prompt.description, messages=[PromptMessage(role="user", content=content)])


def load_styles() -> Mapping[str, str]:
    """Return the styles of a summary, each with its instruction."""
    return tomllib.loads(_file("styles.toml"))


def check_arguments(prompt: Prompt, arguments: Mapping[str, str]) -> None:
    """Raise MCPError if an argument is unknown or missing."""
    known = {argument.name: argument for argument in prompt.arguments or ()}
    if unknown := [name for name in arguments if name not in known]:
        raise _refusal(f"{prompt.name} has no argument {shorten(unknown[0], 60)!r}; it takes {', '.join(known)}.")
    for name, argument in known.items():
        if argument.required and not arguments.get(name, "").strip():
            raise _refusal(f"{prompt.name} needs {name}.")


def _template(name: str, arguments: Mapping[str, str]) -> tuple[Template, dict[str, str]]:
    """Return the template of the prompt and the values that the arguments give it."""
    values = {"id": arguments[CONVERSATION_ID]}
    if name == CONTINUE.name:
        values["question"] = arguments.get("question", "").strip()
        return Template(_file("continue_with_question.md" if values["question"] else f"{name}.md")), values
    styles = load_styles()
    style = arguments.get(STYLE, "").strip() or next(iter(styles))
    if style not in styles:
        raise _refusal(f"{STYLE} must be one of {', '.join(styles)}; got {shorten(style, 60)!r}.")
    values["style"] = styles[style]
    return Template(_file(f"{name}.md")), values


def _next_steps(conversation_id: str, way: Way, steps: Steps) -> Iterable[str]:
    if "read" in steps:
        yield f"What is cut here, {steps['read']} shows with conversationId {conversation_id} and offset."
    if way.tools:
        yield f"Further questions go to {way.names} with the same conversationId{way.naming}."


def _file(name: str) -> str:
    return files("conversation_mcp.server").joinpath("prompts", name).read_text("utf-8")


def _refusal(sentence: str, code: int = INVALID_PARAMS, data: str = "VALIDATION_ERROR") -> MCPError:
    return MCPError(code=code, message=sentence, data={"code": data})
