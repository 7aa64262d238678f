"""Facts about the Agent API, read from the data files beside this module."""

import tomllib
from importlib.resources import files

from conversation_mcp.providers.data import Data


class Retired(Data):
    """The signs of a refusal by the retired endpoint."""

    since: str
    types: frozenset[str]
    phrases: tuple[str, ...]


class AgentFacts(Data):
    """The facts about the API that may change without a change of the code."""

    output_limit_makers: frozenset[str]
    output_limit_tokens: int
    retired: Retired
    academic: str
    related_questions: str


def _load() -> AgentFacts:
    folder = files("conversation_mcp.providers.perplexity")
    data = tomllib.loads(folder.joinpath("facts.toml").read_text(encoding="utf-8"))
    texts = {
        name: folder.joinpath("instructions", f"{name}.md").read_text(encoding="utf-8").strip()
        for name in ("academic", "related_questions")
    }
    return AgentFacts.model_validate({**data, **texts})


FACTS = _load()
"""Read on import, like code: once, and never while an event loop waits for the files."""
