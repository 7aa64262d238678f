"""What a provider's cache lives on: each request begins with the one before it, but for the steps of the selection."""

import pytest
from tests.fixtures.composing import Talk, common_messages, file

from conversation_mcp.attaching.contents import FileContent
from conversation_mcp.prompting.budget import budget_of
from conversation_mcp.prompting.measure import Measure
from conversation_mcp.providers.model_facts import ModelFacts

TURNS = 12


def _source(name: str, edits: int = 0) -> FileContent:
    lines = [f"    {name}_{line} = price * {line}" for line in range(40)]
    for edit in range(edits):
        lines[10 + edit] = f"    {name} = {edit}"
    return file(f"/src/{name}.py", "\n".join(lines) + "\n")


def _asked_about(turn: int) -> list[FileContent]:
    """Return two files that are named again and again, of which one changes, and from time to time another."""
    return [_source("total"), _source("rate", turn // 3)] + [_source(f"part_{turn}")] * (turn in (4, 7))


@pytest.mark.parametrize(("window", "steps"), [(128_000, 0), (14_000, 1)])
def test_each_request_begins_with_all_of_the_one_before_it_but_for_the_step(window: int, steps: int) -> None:
    talk = Talk(budget_of(ModelFacts("m", context=window)), system="You review code. " * 20, measure=Measure())
    former, moved = talk.ask("Why?", *_asked_about(0)), 0
    for turn in range(1, TURNS):
        made = talk.ask(f"And {turn}? " * 20, *_asked_about(turn), answer="Because it is so. " * 100)
        moved += common_messages(former.messages, made.messages) < len(former.messages)
        former = made
    assert moved == steps
    assert former.tokens <= (talk.budget.input_tokens or 0)


def test_a_model_with_another_window_in_between_changes_nothing_for_the_first() -> None:
    talk = Talk(budget_of(ModelFacts("large", context=128_000)), measure=Measure())
    small = budget_of(ModelFacts("small", context=4_096))
    former = talk.ask("Why?", *_asked_about(0))
    for turn in range(1, TURNS):
        other = talk.composed("And?", budget=small)
        assert other.tokens <= (small.input_tokens or 0)
        made = talk.ask(f"And {turn}? " * 20, *_asked_about(turn), answer="Because it is so. " * 100)
        assert common_messages(former.messages, made.messages) == len(former.messages)
        former = made
