"""The words by which a provider's models know how hard they are to think."""

from conversation_mcp.providers.data import ForModels
from conversation_mcp.records.options import Effort


class EffortWords(ForModels):
    """The words for each effort at some models. Everybody knows the three in the middle."""

    minimal: str = "low"
    low: str = "low"
    medium: str = "medium"
    high: str = "high"
    max: str = "high"

    def word(self, effort: Effort) -> str:
        """Return the word for an effort."""
        return {"minimal": self.minimal, "low": self.low, "medium": self.medium, "high": self.high, "max": self.max}[
            effort
        ]


def effort_sent(
    effort: Effort, words: tuple[EffortWords, ...], title: str, model: str | None
) -> tuple[str, tuple[str, ...]]:
    """Return the word that is sent for an effort, and a notice if it is the word for another one."""
    known = next((one for one in words if one.is_for(model or "")), EffortWords())
    word = known.word(effort)
    if word == effort or word not in EffortWords.model_fields:
        return word, ()
    where = f"{model} at {title}" if model else title
    return word, (f"reasoning_effort {effort} was sent as {word}, the nearest that {where} is known to take.",)
