"""How much may be sent to a model: shares by the size of the window, and a reserve."""

import pytest

from conversation_mcp.prompting.budget import Shares, budget_of
from conversation_mcp.providers.model_facts import ModelFacts


@pytest.mark.parametrize(
    ("window", "content", "answer", "files", "history"),
    [
        (32_000, 19_200, 12_800, 5_760, 9_600),
        (128_000, 76_800, 51_200, 23_040, 38_400),
        (200_000, 120_000, 80_000, 36_000, 60_000),
        (400_000, 320_000, 80_000, 128_000, 128_000),
        (1_000_000, 800_000, 200_000, 320_000, 320_000),
    ],
)
def test_the_size_of_the_window_decides_the_shares(
    window: int, content: int, answer: int, files: int, history: int
) -> None:
    budget = budget_of(ModelFacts("m", context=window))
    assert budget.answer_tokens == answer
    assert budget.input_tokens == content * 9 // 10  # the reserve
    assert round(content * budget.files) == files
    assert round(content * budget.history) == history


def test_the_answer_is_held_no_more_than_the_model_can_write() -> None:
    budget = budget_of(ModelFacts("m", context=200_000, output=8_000))
    assert (budget.answer_tokens, budget.input_tokens) == (8_000, 192_000 * 9 // 10)


def test_a_limit_of_the_input_counts_besides_the_window() -> None:
    assert budget_of(ModelFacts("m", context=400_000, input=100_000)).input_tokens == 90_000
    assert budget_of(ModelFacts("m", input=100_000)).input_tokens == 90_000


def test_without_a_known_window_there_is_no_limit() -> None:
    assert budget_of(ModelFacts("m")).input_tokens is None
    assert budget_of(ModelFacts("m")).corrected(2).input_tokens is None


def test_the_users_shares_take_the_place_of_the_usual_ones() -> None:
    budget = budget_of(ModelFacts("m", context=100_000), Shares(answer=0.1, files=0.0, history=0.7))
    assert (budget.answer_tokens, budget.files, budget.history) == (10_000, 0.0, 0.7)


def test_a_model_that_counts_more_tokens_gets_less_text() -> None:
    budget = budget_of(ModelFacts("m", context=100_000)).corrected(1.25)
    assert budget.input_tokens == 60_000 * 0.9 / 1.25
    assert budget.shown(1000) == 1250
