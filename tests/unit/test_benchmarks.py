"""The table of the benchmarks: its arithmetic, its verdicts, and which rows a name stands for."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot
from tests.benchmarks.__main__ import BENCHMARKS
from tests.benchmarks.load_client import Answered
from tests.benchmarks.measuring import alternate, is_named
from tests.benchmarks.refusals import distance, largest_by_chance
from tests.benchmarks.retrieval.corpora import write_corpora
from tests.benchmarks.retrieval.labels import Labelled, Quality, answer_to, load_questions, quality, shared_share
from tests.benchmarks.retrieval.methods import passages_below
from tests.benchmarks.stopwatch import HERE, TEXT
from tests.benchmarks.table import Budget, Row, exit_code, render, summary

from conversation_mcp.documents.passages import Passage

AT_MOST = Budget(1.15)
FEWER = Budget(1, below=True)
MEASURED = Row("start", "process start", "ms", "a bare server", ours=1020.4, theirs=1000, budget=AT_MOST)
OVER = replace(MEASURED, name="slow", ours=1160)
UNBOUND = replace(MEASURED, name="free", budget=None)
MISSING = Row("tokens", "tools", "tokens", "the peer", 1138, None, FEWER, "the peer is not installed")


def test_the_ratio_is_ours_over_theirs() -> None:
    assert replace(MEASURED, ours=50, theirs=200).ratio == 0.25


@pytest.mark.parametrize(
    ("budget", "ours", "verdict"),
    [
        (AT_MOST, 1149, "ok"),
        (AT_MOST, 1150, "ok"),
        (AT_MOST, 1160, "over"),
        (FEWER, 999, "ok"),
        (FEWER, 1000, "over"),
        (None, 9999, "-"),
    ],
)
def test_a_limit_may_be_reached_unless_the_ratio_must_stay_below_it(
    budget: Budget | None, ours: float, verdict: str
) -> None:
    assert replace(MEASURED, ours=ours, budget=budget).verdict == verdict


@given(st.floats(0.001, 1e6), st.floats(0.001, 1e6), st.floats(0.01, 100))
def test_the_verdict_follows_from_the_ratio_as_it_is_printed(ours: float, theirs: float, limit: float) -> None:
    row = replace(MEASURED, ours=ours, theirs=theirs, budget=Budget(limit))
    printed = float(row.cells()[4].removesuffix(" ×"))
    assert (row.verdict == "ok") == (printed <= limit)


def test_a_side_that_is_missing_or_took_nothing_is_no_ratio() -> None:
    assert [replace(MEASURED, **{side: None}).verdict for side in ("ours", "theirs")] == ["not measured"] * 2
    assert replace(MEASURED, theirs=0).verdict == "not measured"


def test_only_a_row_over_its_budget_fails_the_run() -> None:
    assert exit_code([MEASURED, UNBOUND, MISSING]) == 0
    assert exit_code([MEASURED, OVER, MISSING]) == 1
    assert exit_code([]) == 0


def test_the_summary_counts_every_row_once() -> None:
    assert summary([MEASURED, OVER, UNBOUND, MISSING]) == snapshot(
        "1 within budget, 1 over budget, 1 without a budget, 1 not measured"
    )
    assert summary([]) == snapshot("nothing was measured")


def test_the_table_lines_up_and_is_markdown() -> None:
    assert render([MEASURED, OVER, UNBOUND, MISSING]) == snapshot("""\
| row    | what          | ours         | theirs                   | ratio  | budget   |                                         |
|--------|---------------|--------------|--------------------------|--------|----------|-----------------------------------------|
| start  | process start | 1,020 ms     | 1,000 ms (a bare server) | 1.02 × | ≤ 1.15 × | ok                                      |
| slow   | process start | 1,160 ms     | 1,000 ms (a bare server) | 1.16 × | ≤ 1.15 × | over                                    |
| free   | process start | 1,020 ms     | 1,000 ms (a bare server) | 1.02 × | -        | -                                       |
| tokens | tools         | 1,138 tokens | the peer                 | -      | < 1 ×    | not measured: the peer is not installed |\
""")


def test_a_name_stands_for_the_rows_that_begin_with_it_as_whole_words() -> None:
    assert is_named("append-10-sqlite", ["append"])
    assert is_named("append-10-sqlite", ["start", "append-10"])
    assert not is_named("append-100-sqlite", ["append-10"])
    assert is_named("append-100-sqlite", [])


def test_each_row_has_a_name_of_its_own() -> None:
    names = [name for benchmark in BENCHMARKS for name in benchmark.names]
    assert len(set(names)) == len(names)


def test_the_sides_take_turns_and_the_first_turns_do_not_count() -> None:
    calls: list[str] = []

    def side(name: str, values: list[float]) -> float:
        calls.append(name)
        return values.pop(0)

    ours, theirs = [100.0, 1.0, 9.0, 2.0], [100.0, 5.0, 3.0, 4.0]
    assert alternate(3, [lambda: side("a", ours), lambda: side("b", theirs)]) == [2.0, 4.0]
    assert "".join(calls) == "abababab"


def test_a_message_is_two_kilobytes_of_plain_ascii() -> None:
    assert len(TEXT.encode("ascii")) == 2048


def test_every_peer_is_pinned_to_one_version() -> None:
    lines = [line.split("#")[0].strip() for line in (HERE / "peers.txt").read_text().splitlines()]
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in lines if line)


@pytest.mark.slow
def test_the_labelled_questions_have_answers_and_half_of_them_are_asked_in_other_words(tmp_path: Path) -> None:
    write_corpora(tmp_path)
    passages = passages_below(tmp_path)
    answers = [(asked, answer_to(asked, passages, tmp_path)) for asked in load_questions()]
    answered = [(asked, passage) for asked, passage in answers if passage]
    others = [(asked, passage) for asked, passage in answered if asked.kind != "same"]

    assert len(answered) >= 120
    assert len(others) * 2 >= len(answered)
    assert [asked.question for asked, passage in others if shared_share(asked.question, passage) > 0.5] == []


def test_what_is_found_is_counted_up_to_the_fifth_and_weighed_by_its_place(tmp_path: Path) -> None:
    passages = [Passage(tmp_path / "a.md", "T", (), number, number, f"word{number} x") for number in range(20)]
    questions = [Labelled("same", "a.md", f"word{number}", "?") for number in (0, 3, 7, 15)]

    assert quality(lambda _question, limit: passages[:limit], questions, tmp_path) == Quality(
        4, recall_at_5=0.5, mean_reciprocal_rank=(1 + 1 / 4 + 1 / 8) / 4
    )


def test_two_samples_are_as_far_apart_as_their_shares_below_a_value() -> None:
    assert distance([1, 2, 3], [3, 1, 2]) == 0
    assert distance([1, 2], [3, 4]) == 1
    assert distance([1, 2, 3, 4], [3, 4, 5, 6]) == 0.5
    assert largest_by_chance(1_000, 1_000) == pytest.approx(0.0872, abs=0.0001)


def test_errors_count_against_none_at_all() -> None:
    asked = replace(MEASURED, theirs=40_000, budget=Budget(0), unit="requests")
    assert [replace(asked, ours=errors).verdict for errors in (0, 1)] == ["ok", "over"]


def test_a_quantile_is_the_time_within_which_that_share_was_answered() -> None:
    answered = Answered(seconds=[number / 1_000 for number in range(100, 0, -1)])
    assert [answered.quantile(share) for share in (0.5, 0.99, 1.0)] == [51, 100, 100]
