"""How many tokens a model counts for one that is estimated, by what its answers reported."""

import math
from collections.abc import Iterable, Iterator, Sequence

from conversation_mcp.prompting.measure import Measure
from conversation_mcp.prompting.transcript import said_in, system_text
from conversation_mcp.providers.estimate import TOKENS_PER_MESSAGE
from conversation_mcp.records.models import Conversation, Message
from conversation_mcp.records.modes import ModeOf

TRUSTED_RATIOS = (0.5, 2.0)
"""How far reported numbers of tokens may correct the estimate, down and up."""
MOST_WEIGHED = 8
"""How many answers the running ratio is about."""
STEPS_PER_UNIT = 8
"""The correction changes in steps of an eighth, so that it does not move the selection with each answer."""
TOLERATED = 1 / 32
"""How far the ratio may be above the correction; the reserve holds more than this."""
SLACK = 3 / 16
"""How far the ratio must fall below the correction before that follows."""


def correction_of(chain: Sequence[Conversation], provider: str, model: str, mode_of: ModeOf, measure: Measure) -> float:
    """Return the factor that corrects the estimate for the provider's model; 1 before its first plain answer.

    `chain` are the parents, oldest first, and the conversation itself: what the model counted in them holds here, too.
    """
    ends = range(1, len(chain) + 1)
    return settled(ratio for end in ends for ratio in _ratios(chain[:end], provider, model, mode_of, measure))


def settled(ratios: Iterable[float]) -> float:
    """Return the correction after these ratios of reported to estimated tokens, oldest first."""
    running, correction = 0.0, 1.0
    for count, ratio in enumerate(ratios, 1):
        trusted = min(max(ratio, TRUSTED_RATIOS[0]), TRUSTED_RATIOS[1])
        running += (trusted - running) / min(count, MOST_WEIGHED)
        if running > correction + TOLERATED or running < correction - SLACK:
            correction = math.ceil((running - TOLERATED) * STEPS_PER_UNIT) / STEPS_PER_UNIT
    return min(max(correction, TRUSTED_RATIOS[0]), TRUSTED_RATIOS[1])


def _ratios(
    chain: Sequence[Conversation], provider: str, model: str, mode_of: ModeOf, measure: Measure
) -> Iterator[float]:
    """Yield the ratios of the model's plain answers in the last conversation of the chain.

    An answer says what its request was estimated at, if that was counted. Without that, only requests without files
    and images tell, as long as nothing is known to have been left out of them.
    """
    conversation, said = chain[-1], said_in(chain)
    before = measure.tokens(system_text(conversation)) + TOKENS_PER_MESSAGE
    has_attached = False
    for place, one in enumerate(said):
        has_attached = has_attached or bool(one.files or one.images)
        if one.is_own and place and said[place - 1].is_own:
            message = conversation.messages[one.number - 1]
            asked = conversation.messages[said[place - 1].number - 1]
            reported = message.usage.input_tokens if message.usage else None
            # In other modes, the provider also counts what it has found.
            if reported and _is_of(message, provider, model) and mode_of(asked.tool) == "chat":
                if message.estimated_tokens:
                    yield reported / message.estimated_tokens
                elif not has_attached and not message.notices:
                    yield reported / max(1, before)
        before += measure.tokens(one.text) + TOKENS_PER_MESSAGE


def _is_of(message: Message, provider: str, model: str) -> bool:
    """Tell whether the model of this provider gave an answer; two providers count alike named models differently."""
    return message.provider == provider and model in (message.model, message.requested_model)
