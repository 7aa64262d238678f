"""How many of the rarest words of a text are enough to find every other one that shares a part of its words."""

from itertools import combinations

import pytest

from conversation_mcp.searching.likeness import coverage, rarest_needed


@pytest.mark.parametrize("share", [0.1, 0.3, 3 / 7, 0.6, 1.0])
def test_so_many_of_the_rarest_words_are_just_enough(share: float) -> None:
    for count in range(1, 9):
        words = frozenset(map(str, range(count)))
        alike = [
            frozenset(some) for size in range(1, count + 1) for some in combinations(words, size)
            if coverage(words, frozenset(some)) >= share
        ]  # fmt: skip
        rarest = sorted(words)[: rarest_needed(count, share)]
        assert all(other.intersection(rarest) for other in alike)
        assert not all(other.intersection(rarest[:-1]) for other in alike)


def test_a_share_that_comes_out_whole_is_not_taken_for_more() -> None:
    assert [rarest_needed(count, 3 / 7) for count in (7, 14, 21, 70)] == [5, 9, 13, 41]
