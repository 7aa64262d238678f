"""The optional fields that a server accepts, and their names there: learnt from its refusals, and remembered."""

import re
from dataclasses import dataclass, replace

from conversation_mcp.providers.chat_completions.request import Draft
from conversation_mcp.providers.quirks import Quirks, TokenField
from conversation_mcp.providers.wire.problems import WireProblem

NEEDED_LIMIT_TOKENS = 8192
"""The limit for servers that require one, if nothing is known of the model; others get none."""
# Mistral, and servers built on FastAPI, answer 422 to a field that they do not know.
REFUSING = frozenset({400, 422})
STREAM_OPTIONS = "stream_options"
# OpenAI's models that reason refuse the first name; Mistral and Ollama do not know the second.
OTHER_NAME: dict[TokenField, TokenField] = {
    "max_tokens": "max_completion_tokens",
    "max_completion_tokens": "max_tokens",
}
MISSING = re.compile("required|missing|must be (?:set|given|provided|specified)", re.IGNORECASE)
UNKNOWN = re.compile("unknown|unsupported|not supported|unrecogni[sz]ed|unexpected|extra|not permitted", re.IGNORECASE)


@dataclass(frozen=True)
class _Habit:
    token_field: TokenField
    needs_limit: bool = False
    takes_effort: bool = True


class Habits:
    """What one server accepts: the request for a stream's usage, and for each model its limit and effort."""

    def __init__(self, title: str, quirks: Quirks) -> None:
        self._title = title
        self._takes_stream_options = quirks.stream_usage
        self._usual = _Habit(quirks.token_field or "max_tokens")
        self._models: dict[str, _Habit] = {}

    def payload(self, draft: Draft) -> dict[str, object]:
        """Return the body to send."""
        habit = self._of(draft)
        body = {**draft.body, "stream": True}
        if self._takes_stream_options:
            body[STREAM_OPTIONS] = {"include_usage": True}
        if (limit_tokens := _limit(draft, habit)) is not None:
            body[habit.token_field] = limit_tokens
        return {**body, **draft.effort} if habit.takes_effort else body

    def notices(self, draft: Draft) -> tuple[str, ...]:
        """Return a notice for each requested field that is left out."""
        if self._of(draft).takes_effort:
            return ()
        return tuple(f"{name} was left out; {draft.model} refuses it." for name in draft.effort)

    def learn(self, draft: Draft, sent: dict[str, object], problem: WireProblem) -> str | None:
        """Learn from a refusal that names a field, and return the notice; None if there is nothing to learn.

        Such a refusal cannot have been billed. Each lesson changes the next body, so that the loop of retries ends.
        """
        # Another question may have taught the same lesson while this one was on its way.
        if problem.status in REFUSING and sent != self.payload(draft):
            return self._again("with the fields that it took of another question")
        if STREAM_OPTIONS in sent and problem.names(STREAM_OPTIONS):
            self._takes_stream_options = False
            return self._again(f"without {STREAM_OPTIONS}, which it refused")
        if how := self._learn_limit(draft, problem):
            return self._again(how)
        for name in draft.effort:
            if name in sent and problem.names(name):
                self._models[draft.model] = replace(self._of(draft), takes_effort=False)
                return self._again(f"without {name}, which it refused")
        return None

    def _learn_limit(self, draft: Draft, problem: WireProblem) -> str | None:
        habit = self._of(draft)
        name, other = habit.token_field, OTHER_NAME[habit.token_field]
        if _limit(draft, habit) is None:
            if not (problem.names(name) and MISSING.search(problem.cause)):
                return None
            taught = replace(habit, needs_limit=True)
            self._models[draft.model] = taught
            return f"with {name} {_limit(draft, taught):,}, because it insists on a limit"
        is_unknown = problem.names(name) and (problem.names(other) or UNKNOWN.search(problem.cause))
        # Changed once at most: a server that refuses both names would otherwise be asked for ever.
        if is_unknown and name == self._usual.token_field:
            self._models[draft.model] = replace(habit, token_field=other)
            return f"with {other} in place of {name}"
        return None

    def _of(self, draft: Draft) -> _Habit:
        return self._models.get(draft.model, self._usual)

    def _again(self, how: str) -> str:
        return f"{self._title} was asked again {how}; nothing was billed for the first try."


def _limit(draft: Draft, habit: _Habit) -> int | None:
    """Return the limit of this answer, if one is sent."""
    needed = (draft.longest_tokens or NEEDED_LIMIT_TOKENS) if habit.needs_limit else None
    return draft.limit_tokens or needed
