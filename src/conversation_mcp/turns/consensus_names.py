"""The names of a consensus, all looked up before anybody is asked."""

from collections.abc import Awaitable, Callable

from conversation_mcp.errors import ConversationMCPError, InvalidInputError, WordsStayError
from conversation_mcp.providers.choosing.choice import Choice
from conversation_mcp.turns.ask import Ask
from conversation_mcp.turns.consensus_session import Panel

FEWEST_MODELS, MOST_MODELS = 2, 10

Choose = Callable[[str], Awaitable[Choice]]


async def panel_of(ask: Ask, choose: Choose) -> Panel:
    """Return the models of a consensus.

    Raises:
        InvalidInputError: every name that is wrong or given twice, with the reason.
        WordsStayError: the words would leave this machine, and the call does not name who gets them.
    """
    count = len(ask.seats)
    if not FEWEST_MODELS <= count <= MOST_MODELS:
        raise InvalidInputError(
            f"a consensus asks {FEWEST_MODELS} to {MOST_MODELS} models; got {count}.", field="models"
        )
    problems: list[str] = []
    seen: set[tuple[str, str | None, str, str | None]] = set()
    found: list[Choice] = []
    for seat in ask.seats:
        if choice := await _found(seat.model, choose, problems):
            found.append(choice)
            one = (choice.provider.name, choice.model, seat.stance, seat.stance_prompt)
            if one in seen:
                problems.append(f"{choice.shown} is there twice with the same stance; give each another stance.")
            seen.add(one)
    synthesizer = await _found(ask.synthesis, choose, problems) if ask.synthesis else None
    if problems:
        raise InvalidInputError(" ".join(dict.fromkeys(problems)), field="models")
    return Panel(tuple(found), synthesizer)


async def _found(model: str, choose: Choose, problems: list[str]) -> Choice | None:
    try:
        return await choose(model)
    except WordsStayError:
        raise
    except ConversationMCPError as error:
        problems.append(f"{model!r}: {error.message}")
        return None
