"""The arithmetic of what is left out: within the budget, in steps, and never more for a larger budget."""

from hypothesis import given, settings
from hypothesis import strategies as st

from conversation_mcp.prompting.selection import Omission, Sizes, cut_to_fit

SIZES = st.builds(
    Sizes,
    fixed=st.integers(0, 300),
    turns=st.lists(st.integers(1, 200), min_size=1, max_size=40).map(tuple),
    files=st.lists(st.integers(1, 300), max_size=20).map(tuple),
    summaries=st.integers(0, 50),
    newest=st.integers(0, 2),
)
SHARES = st.sampled_from([(0.5, 0.3), (0.4, 0.4), (0.9, 0.1), (0.2, 0.0), (0.0, 1.0), (0.8, 0.8)])


def _least(sizes: Sizes) -> int:
    return sizes.fixed + sizes.summaries + sizes.turns[-1]


def _kept(sizes: Sizes, cut: Omission) -> int:
    own = sum(size for place, size in enumerate(sizes.own) if place not in cut.own)
    return sizes.fixed + sum(sizes.turns[cut.turns :]) + sum(sizes.files[cut.files :]) + own


@given(SIZES, st.lists(st.integers(1, 400), max_size=4), st.integers(0, 3000), SHARES)
@settings(max_examples=500, deadline=None)
def test_what_is_kept_fits_into_the_budget(
    sizes: Sizes, own: list[int], more: int, shares: tuple[float, float]
) -> None:
    sizes = Sizes(sizes.fixed, sizes.turns, sizes.files, tuple(own), sizes.summaries, sizes.newest)
    budget = _least(sizes) + more
    cut = cut_to_fit(sizes, budget, *shares)
    assert _kept(sizes, cut) <= budget
    assert cut.turns < len(sizes.turns)


@given(SIZES, st.integers(0, 3000), st.integers(0, 800), SHARES)
@settings(max_examples=1000, deadline=None)
def test_a_larger_budget_never_leaves_out_more(
    sizes: Sizes, more: int, still_more: int, shares: tuple[float, float]
) -> None:
    budget = _least(sizes) + more
    small, large = (cut_to_fit(sizes, tokens, *shares) for tokens in (budget, budget + still_more))
    assert large.turns <= small.turns
    assert large.files <= small.files


@given(SIZES, st.lists(st.integers(1, 400), max_size=6), st.integers(0, 3000), st.integers(0, 800), SHARES)
@settings(max_examples=500, deadline=None)
def test_a_larger_budget_never_has_a_file_of_the_question_stand_back_for_one_named_after_it(
    sizes: Sizes, own: list[int], more: int, still_more: int, shares: tuple[float, float]
) -> None:
    sizes = Sizes(sizes.fixed, sizes.turns, sizes.files, tuple(own), sizes.summaries, sizes.newest)
    budget = _least(sizes) + more
    small, large = (cut_to_fit(sizes, tokens, *shares).own for tokens in (budget, budget + still_more))
    assert [place not in large for place in range(len(own))] >= [place not in small for place in range(len(own))]


def test_a_budget_just_above_that_of_smaller_steps_leaves_out_no_more() -> None:
    cuts = [cut_to_fit(Sizes(0, (10,) * 500, ()), budget, 0.5, 0.3).turns for budget in range(380, 400)]
    assert cuts == sorted(cuts, reverse=True)


def test_turns_are_left_out_in_steps_of_a_quarter_of_the_budget() -> None:
    cuts = [cut_to_fit(Sizes(0, (10,) * turns, ()), 1_000, 0.5, 0.3).turns for turns in range(100, 200)]
    steps = [later - former for former, later in zip([0, *cuts], cuts, strict=False) if later != former]
    assert steps == [26, 26, 25, 26]


def test_files_that_were_named_last_are_not_left_out_for_the_sake_of_a_step() -> None:
    sizes = Sizes(0, (10,), (100, 100, 900), newest=1)
    assert cut_to_fit(sizes, 1_000, 0.5, 0.3).files == 2
