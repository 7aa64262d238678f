"""Prompts: each workflow, and a consensus, as a message to a model that begins it. In tools/list they cost nothing."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from mcp.types import GetPromptResult, Prompt, PromptArgument, PromptMessage, TextContent

from conversation_mcp.server.consensus_prompt import CONSENSUS, rendered_consensus
from conversation_mcp.server.prompts import CONVERSATION_ID, check_arguments
from conversation_mcp.workflows.names import SHIPPED

if TYPE_CHECKING:
    from conversation_mcp.workflows.definition import Workflow

REQUEST, FILES = "request", "files"
USUAL = (
    PromptArgument(name=FILES, description="The files that it is about.", required=False),
    PromptArgument(name=CONVERSATION_ID, description="A conversation that it continues.", required=False),
)
STEPS = (
    "Work on the request below with the workflow {name}, step by step: call the tool {call} with stepNumber 1, the "
    "request as step, and what you know so far as findings. Do what each answer says before you send the next step, "
    "and send next false with the last one."
)
CONSULT = "consult"


class WorkflowPrompts:
    """The prompts of workflows, if a tool that takes their steps is on, and that of the consensus, if its tool is."""

    def __init__(self, folder: Path, tools: frozenset[str]) -> None:
        self._folder = folder
        self._tools = tools

    @property
    def is_on(self) -> bool:
        """Whether there is any."""
        return not self._tools.isdisjoint((CONSULT, CONSENSUS.name, *SHIPPED))

    def listed(self) -> tuple[Prompt, ...]:
        """Return a prompt for each workflow whose file is valid; reads the files."""
        own = (CONSENSUS,) if CONSENSUS.name in self._tools else ()
        return (*own, *map(_prompt, self._usable())) if self.is_on else ()

    def rendered(self, name: str, arguments: Mapping[str, str]) -> GetPromptResult | None:
        """Return the message of a workflow or of the consensus; None if there is none of that name.

        Raises:
            MCPError: an argument is missing or unknown.
        """
        if name == CONSENSUS.name and name in self._tools:
            return rendered_consensus(arguments, self._tools)
        definition = next((each for each in self._usable() if each.name == name), None)
        if definition is None:
            return None
        prompt = _prompt(definition)
        check_arguments(prompt, arguments)
        content = TextContent(text=self._text(definition, arguments))
        return GetPromptResult(description=prompt.description, messages=[PromptMessage(role="user", content=content)])

    def _usable(self) -> Iterator["Workflow"]:
        from conversation_mcp.workflows.library import Workflows

        for file in Workflows(self._folder).all():
            is_hidden = file.name == CONSENSUS.name and file.name in self._tools
            if file.definition and not is_hidden and (CONSULT in self._tools or file.name in self._tools):
                yield file.definition

    def _text(self, definition: "Workflow", arguments: Mapping[str, str]) -> str:
        from conversation_mcp.workflows.message import answer_of

        request = arguments[REQUEST].strip()
        if definition.kind == "template":
            return answer_of(definition, request)
        call = definition.name if definition.name in self._tools else f"{CONSULT} with workflow {definition.name}"
        options = "\n".join(
            f"- {name}: {arguments[name].strip()}"
            for name in (FILES, CONVERSATION_ID, *(option.name for option in definition.options))
            if arguments.get(name, "").strip()
        )
        parts = (STEPS.format(name=definition.name, call=call), f"Send with it:\n{options}" if options else "", request)
        return "\n\n".join(filter(None, parts))


def _prompt(definition: "Workflow") -> Prompt:
    request = PromptArgument(name=REQUEST, description="What it is about.", required=True)
    options = [
        PromptArgument(name=option.name, description=option.about, required=False) for option in definition.options
    ]
    is_template = definition.kind == "template"
    arguments = [request] if is_template else [request, *USUAL, *options]
    return Prompt(name=definition.name, description=definition.summary, arguments=arguments)
