"""What was asked and what it took, summed up."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot
from tests.fixtures.cli import Here, on_terminal, put_conversation
from tests.fixtures.folders import ID

from conversation_mcp.conversations.prices import Prices
from conversation_mcp.conversations.statistics import turns_of
from conversation_mcp.providers.model_facts import Catalogue
from conversation_mcp.records.costs import total_cost

PRICES = Prices(Catalogue({}).load())
OTHER, THIRD = "20260201-1769904000000", "20260202-1769990400000"
USAGE = {"inputTokens": 4000, "outputTokens": 300, "costUsd": 0.25}


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Here:
    return Here(capsys, monkeypatch, tmp_path)


@pytest.fixture
def library(tmp_path: Path) -> Path:
    asked = {"provider": "perplexity", "model": "sonar", "usage": USAGE}
    day = "2026-02-01T23:59:59.999Z"
    put_conversation(tmp_path, ID)
    put_conversation(
        tmp_path,
        OTHER,
        archived=True,
        messages=[
            {"role": "user", "content": "q", "tool": "deep_research"},
            {"role": "assistant", "content": "a", "createdAt": day, **asked},
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": "a", "createdAt": "2026-02-02T01:00:00+02:00", **asked},
        ],
        pendingTurn={"question": "q", "tool": "search_followup", "status": "failed", "startedAt": day, **asked},
        unansweredTurns=[{"question": "q", "status": "interrupted", "startedAt": "2026-02-02T00:00:00.000Z"}],
    )
    put_conversation(tmp_path, THIRD).write_text("{", encoding="utf-8")
    return tmp_path


def test_days_are_those_of_utc_and_questions_that_were_charged_in_vain_count(here: Here, library: Path) -> None:
    ended = here("stats")
    assert ended.out == snapshot("""\
2026-01-31	1	0	0	0	$0.0031
2026-02-01	2	1	12000	900	$0.75
2026-02-02	0	1	0	0	$0.00
""")
    assert ended.err.startswith("Notice: a conversation that cannot be read was skipped: ")
    assert here("stats", "--since", "2026-02-02").out == snapshot("2026-02-02\t0\t1\t0\t0\t$0.00\n")


@pytest.mark.parametrize("by", ["tool", "provider", "model"])
def test_other_rows_are_the_most_expensive_first(here: Here, library: Path, by: str) -> None:
    assert library
    assert (
        here("stats", "--by", by).out
        == {
            "tool": snapshot("""\
(unknown)	1	1	4000	300	$0.25
deep_research	1	0	4000	300	$0.25
search_followup	0	1	4000	300	$0.25
search	1	0	0	0	$0.0031
"""),
            "provider": snapshot("""\
perplexity	2	1	12000	900	$0.75
(unknown)	1	1	0	0	$0.0031
"""),
            "model": snapshot("""\
sonar	2	1	12000	900	$0.75
(unknown)	1	1	0	0	$0.0031
"""),
        }[by]
    )


def test_json_has_the_rows_and_the_total(here: Here, library: Path) -> None:
    assert library
    assert json.loads(here("stats", "--by", "provider", "--json").out) == snapshot(
        {
            "by": "provider",
            "rows": [
                {
                    "provider": "perplexity",
                    "turns": 2,
                    "unanswered": 1,
                    "inputTokens": 12000,
                    "outputTokens": 900,
                    "costUsd": 0.75,
                },
                {"provider": None, "turns": 1, "unanswered": 1, "inputTokens": 0, "outputTokens": 0, "costUsd": 0.0031},
            ],
            "total": {"turns": 3, "unanswered": 2, "inputTokens": 12000, "outputTokens": 900, "costUsd": 0.7531},
            "conversationCount": 2,
            "unreadableCount": 1,
        }
    )


@pytest.mark.slow
def test_nothing_asked_is_no_error(here: Here, tmp_path: Path) -> None:
    assert (here("stats").code, here("stats").out) == (0, "")
    assert on_terminal(tmp_path, "stats").out == "Nothing was asked."


@pytest.mark.slow
def test_a_terminal_gets_a_table_with_small_bars(library: Path) -> None:
    assert on_terminal(library, "stats", columns=100).out.partition("\n")[2] == snapshot("""\
day         turns  unanswered  tokens in  tokens out     cost
2026-01-31      1           0          0           0  $0.0031
2026-02-01      2           1     12,000         900    $0.75  ████████████████████
2026-02-02      0           1          0           0    $0.00
total           3           2     12,000         900  $0.7531\
""")


@pytest.mark.slow
@pytest.mark.parametrize("columns", [30, 60, 83, 200])
def test_no_row_is_wider_than_the_terminal(library: Path, columns: int) -> None:
    ended = on_terminal(library, "stats", "--by", "tool", columns=columns)
    assert ended.code == 0
    assert max(map(len, ended.out.splitlines()[1:])) <= columns


@pytest.mark.parametrize(
    "odd", [{"model": 5}, {"usage": {"inputTokens": "many"}}, {"usage": {"costUsd": "free"}}, {"tool": ["search"]}]
)
def test_a_field_that_is_not_what_it_must_be_leaves_the_file_out(
    here: Here, tmp_path: Path, odd: dict[str, object]
) -> None:
    messages = [{"role": role, "content": "text", **odd} for role in ("user", "assistant")]
    put_conversation(tmp_path, ID, messages=messages)
    ended = here("stats")
    assert (ended.code, ended.out) == (0, "")
    assert ended.err.startswith("Notice: a conversation that cannot be read was skipped: ")


USED = st.fixed_dictionaries({}, optional={"costUsd": st.none() | st.integers(0, 9), "inputTokens": st.integers(0, 9)})
FACTS = {"usage": st.none() | USED, "createdAt": st.sampled_from(["once", "2026-01-31"])}
TURN = st.fixed_dictionaries({}, optional=FACTS)
MESSAGE = st.fixed_dictionaries({"role": st.sampled_from(["system", "user", "assistant"])}, optional=FACTS)


@given(st.lists(MESSAGE, max_size=6), st.none() | TURN, st.none() | st.lists(TURN, max_size=3))
def test_the_costs_of_turns_are_the_cost_of_their_conversation(
    messages: list[object], pending: object, unanswered: object
) -> None:
    data = {
        "createdAt": "2026-01-31T00:00:00Z",
        "messages": messages,
        "pendingTurn": pending,
        "unansweredTurns": unanswered,
    }
    assert sum(turn.cost_usd for turn in turns_of(data, PRICES)) == (total_cost(data) or 0)


ESTIMATED = [
    {"role": "user", "content": "q", "tool": "chat"},
    {
        "role": "assistant",
        "content": "a",
        "createdAt": "2026-02-01T00:00:00Z",
        "provider": "openai",
        "model": "gpt-5-2026-01-01",
        "requestedModel": "openai:gpt-5",
        "usage": {"inputTokens": 1_000_000, "outputTokens": 100_000},
    },
]


def test_what_went_to_the_trash_counts_as_it_does_for_the_daily_limit(here: Here, library: Path) -> None:
    whole = here("stats", "--json").out
    assert here("delete", OTHER).code == 0
    assert json.loads(here("stats", "--json").out) == json.loads(whole)


def test_a_cost_that_no_provider_reported_is_estimated_and_said_to_be(here: Here, tmp_path: Path) -> None:
    put_conversation(tmp_path, OTHER, messages=ESTIMATED)
    put_conversation(tmp_path, ID)
    ended = here("stats", "--by", "provider")
    assert ended.out == "openai\t1\t0\t1000000\t100000\t~$2.25\n(unknown)\t1\t0\t0\t0\t$0.0031\n"
    assert ended.err.startswith("Notice: $2.25 of the cost is an estimate (~): where a provider reports none, ")
    total = json.loads(here("stats", "--json").out)["total"]
    assert (total["costUsd"], total["estimatedCostUsd"]) == (2.2531, 2.25)


def test_no_price_and_no_tokens_are_no_estimate(here: Here, tmp_path: Path) -> None:
    question, answer = ESTIMATED
    unknown: tuple[dict[str, object], ...] = (
        {"usage": {}},
        {"model": "own", "requestedModel": None},
        {"provider": "x"},
    )
    for number, facts in enumerate(unknown):
        put_conversation(tmp_path, f"20260201-176990400000{number}", messages=[question, {**answer, **facts}])
    assert "estimatedCostUsd" not in json.loads(here("stats", "--json").out)["total"]


def test_rows_of_conversations_have_their_tokens_and_titles(here: Here, library: Path) -> None:
    assert library
    assert here("stats", "--by", "conversation").out == snapshot("""\
20260201-1769904000000	2	2	12000	900	$0.75	q
20260131-1769817600000	1	0	0	0	$0.0031	What is a B-tree?
""")
    row = json.loads(here("stats", "--by", "conversation", "--json").out)["rows"][0]
    assert (row["conversation"], row["title"], row["inputTokens"]) == (OTHER, "q", 12000)
