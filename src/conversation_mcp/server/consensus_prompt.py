"""The prompt that begins a consensus, as a message to the model that will call the tool."""

from collections.abc import Mapping

from mcp.types import GetPromptResult, Prompt, PromptArgument, PromptMessage, TextContent

from conversation_mcp.server.prompts import CONVERSATION_ID, check_arguments

TOOL, LIST = "consensus", "list_models"
REQUEST, MODELS, FILES, SYNTHESIS = "request", "models", "files", "synthesis"
CONSENSUS = Prompt(
    name=TOOL,
    title="Consensus",
    description="Ask several models the same question side by side, and weigh their verdicts.",
    arguments=[
        PromptArgument(name=REQUEST, description="The proposal or question.", required=True),
        PromptArgument(
            name=MODELS, description="Two to ten models, each with for, against or neutral if you like.", required=False
        ),
        PromptArgument(name=FILES, description="The files that it is about.", required=False),
        PromptArgument(name=CONVERSATION_ID, description="A conversation that it continues.", required=False),
        PromptArgument(name=SYNTHESIS, description="A model that then sums up the verdicts.", required=False),
    ],
)
CALL = (
    "Ask several models about the request below: call the tool consensus once, with the request as prompt. "
    "Say in it all that they need to know, because they see nothing of this chat. {models}"
)
GIVEN = "Its models are: {models}."
CHOSEN = "{list} two or three able models of different providers, and give them the stances for, against and neutral."
WEIGH = (
    "Then weigh the verdicts: say what they agree on, where they differ and who has the better reasons, and what you "
    "advise. Name the models, and say which of them gave no answer."
)


def rendered_consensus(arguments: Mapping[str, str], tools: frozenset[str]) -> GetPromptResult:
    """Return the message.

    Raises:
        MCPError: an argument is missing or unknown.
    """
    check_arguments(CONSENSUS, arguments)
    given = {name: value.strip() for name, value in arguments.items() if value.strip()}
    choose = CHOSEN.format(list="Choose with list_models" if LIST in tools else "Choose")
    models = GIVEN.format(models=given[MODELS].rstrip(".")) if MODELS in given else choose
    more = "\n".join(f"- {name}: {given[name]}" for name in (FILES, CONVERSATION_ID, SYNTHESIS) if name in given)
    parts = (CALL.format(models=models), f"Send with it:\n{more}" if more else "", WEIGH, given[REQUEST])
    content = TextContent(text="\n\n".join(filter(None, parts)))
    return GetPromptResult(description=CONSENSUS.description, messages=[PromptMessage(role="user", content=content)])
