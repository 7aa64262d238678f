"""How much may be sent to a model: shares by the size of the window, a reserve, and a correction that rests."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fixtures.composing import Talk, by_words

from conversation_mcp.prompting.budget import Shares, budget_of
from conversation_mcp.prompting.correction import TRUSTED_RATIOS, correction_of, settled
from conversation_mcp.providers.model_facts import ModelFacts
from conversation_mcp.records.models import Message
from conversation_mcp.records.modes import Mode
from conversation_mcp.records.usage import Usage


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


def _talk_with(*reported: tuple[int | None, int | None, str]) -> Talk:
    talk = Talk()
    for tokens, estimated, tool in reported:
        usage = Usage.of(input_tokens=tokens)
        talk.messages += [
            Message(role="user", content="one two three four", tool=tool),
            Message.of(role="assistant", content="five", model="m", usage=usage, estimated_tokens=estimated),
        ]
    return talk


def _mode_of(tool: str | None) -> Mode | None:
    return "chat" if tool == "chat" else "search"


def _correction(*reported: tuple[int | None, int | None, str], model: str = "m") -> float:
    return correction_of(_talk_with(*reported).conversation, model, _mode_of, by_words())


def test_the_correction_follows_what_the_answers_of_the_model_report() -> None:
    assert _correction((150, 100, "chat"), (150, 100, "chat")) == 1.5
    assert _correction((150, 100, "chat"), model="other") == 1.0
    assert _correction((9_000, 100, "search")) == 1.0  # the pages of a search count as input, too
    assert _correction((None, 100, "chat")) == 1.0


def test_answers_without_an_estimate_are_counted_from_their_texts() -> None:
    estimated = 2 + 4 + 4 + 4  # two and four words, and two messages
    assert _correction((estimated, None, "chat")) == 1.0
    assert _correction((2 * estimated, None, "chat")) == 2.0


def test_small_changes_of_the_ratio_do_not_change_the_correction() -> None:
    ratios = [1.2, 1.24, 1.17, 1.22, 1.19, 1.23, 1.16, 1.2]
    assert {settled(ratios[:count]) for count in range(1, len(ratios) + 1)} == {1.25}


@given(st.lists(st.floats(0.01, 50)))
def test_the_correction_is_in_eighths_and_never_far_from_what_is_trusted(ratios: list[float]) -> None:
    correction = settled(ratios)
    assert TRUSTED_RATIOS[0] <= correction <= TRUSTED_RATIOS[1]
    assert (correction * 8).is_integer()


@given(st.floats(0.5, 2.0), st.integers(1, 30))
def test_the_reserve_holds_what_the_correction_leaves(ratio: float, count: int) -> None:
    assert settled([ratio] * count) * (1 / 0.9) >= ratio
