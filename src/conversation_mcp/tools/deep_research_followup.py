"""The tool `deep_research_followup`."""

from conversation_mcp.app import App
from conversation_mcp.tooling.questions import ConversationIdArgument, ResearchInput, ask_of, with_next_step
from conversation_mcp.tooling.rendering.turns import render_turn
from conversation_mcp.tooling.tool import ASKS, Tool
from conversation_mcp.turns.ask import Caller
from conversation_mcp.turns.result import TurnResult


class ResearchFollowupInput(ResearchInput):
    """A question for a research in a conversation."""

    conversation_id: ConversationIdArgument


async def deep_research_followup(given: ResearchFollowupInput, app: App, caller: Caller) -> TurnResult:
    """Continue a conversation with a thorough research."""
    ask = ask_of(
        given, tool="deep_research_followup", mode="deep_research", preset=app.settings.deep_research_followup_preset
    )
    return await with_next_step(
        await app.turns.follow_up(given.conversation_id, ask, caller), app, "deep_research_followup"
    )


DEEP_RESEARCH_FOLLOWUP = Tool(
    name="deep_research_followup",
    run=deep_research_followup,
    render=render_turn,
    input_model=ResearchFollowupInput,
    title="Deep research: follow up",
    description=(
        "Ask the next question of any stored conversation with a thorough research. All earlier questions and "
        "answers are sent along. Filters as in search."
    ),
    hints=ASKS,
)
