"""The correction of the estimate: by what a model's answers report, within what is trusted, and at rest."""

from hypothesis import given
from hypothesis import strategies as st
from tests.fixtures.composing import ID, PARENT_ID, Talk, by_words

from conversation_mcp.prompting.correction import MOST_WEIGHED, SLACK, TRUSTED_RATIOS, correction_of, settled
from conversation_mcp.providers.estimate import RESERVE
from conversation_mcp.records.attached import AttachedFile
from conversation_mcp.records.models import Message
from conversation_mcp.records.modes import Mode
from conversation_mcp.records.usage import Usage

SETTLING = 5 * MOST_WEIGHED
"""After so many answers, what was before has no weight."""
TRUSTED = st.floats(*TRUSTED_RATIOS)


def _answered(
    talk: Talk, tokens: int | None, estimated: int | None = None, tool: str = "chat", provider: str = "p"
) -> Talk:
    talk.messages += [
        Message(role="user", content="one two three four", tool=tool),
        Message.of(
            role="assistant",
            content="five",
            provider=provider,
            model="m",
            usage=Usage.of(input_tokens=tokens),
            estimated_tokens=estimated,
        ),
    ]
    return talk


def _mode_of(tool: str | None) -> Mode | None:
    return "chat" if tool == "chat" else "search"


def _correction(talk: Talk, model: str = "m", provider: str = "p") -> float:
    return correction_of((*talk.parents, talk.conversation), provider, model, _mode_of, by_words())


def test_it_follows_what_the_answers_of_the_model_report() -> None:
    assert _correction(_answered(_answered(Talk(), 150, 100), 150, 100)) == 1.5
    assert _correction(_answered(Talk(), 9_000, 100, "search")) == 1.0  # the pages of a search count as input, too
    assert _correction(_answered(Talk(), None, 100)) == 1.0


def test_it_is_that_of_one_model_of_one_provider() -> None:
    talk = _answered(_answered(Talk(), 150, 100), 80, 100, provider="other")
    assert _correction(talk) == 1.5
    assert _correction(talk, provider="other") == 0.875
    assert _correction(talk, model="another") == 1.0


def test_answers_without_an_estimate_are_counted_from_their_texts() -> None:
    estimated = 2 + 4 + 4 + 4  # two and four words, and two messages
    assert _correction(_answered(Talk(), estimated)) == 1.0
    assert _correction(_answered(Talk(), 2 * estimated)) == 2.0


def test_answers_without_an_estimate_tell_nothing_after_a_file_or_a_notice() -> None:
    with_file = _answered(Talk(), 9_000)
    file = AttachedFile.of(path="/a.py", sha256="a" * 64, bytes=1, sent="whole")
    with_file.messages[1] = with_file.messages[1].model_copy(update={"files": (file,)})
    with_notice = _answered(Talk(), 9_000)
    with_notice.messages[2] = with_notice.messages[2].model_copy(update={"notices": ("not sent: 2 earlier messages",)})
    assert (_correction(with_file), _correction(with_notice)) == (1.0, 1.0)


def _child(parent: Talk) -> Talk:
    conversations = (*parent.parents, parent.conversation)
    return Talk(parents=conversations, conversation_id=ID)


def test_a_conversation_that_continues_another_begins_with_the_correction_of_that() -> None:
    parent = Talk(conversation_id=PARENT_ID)
    for _ in range(8):
        _answered(parent, 150, 100)
    assert _correction(_child(parent)) == 1.5
    assert _correction(_child(parent), model="another") == 1.0


def test_the_messages_of_a_parent_count_in_what_a_child_has_sent() -> None:
    parent = Talk(conversation_id=PARENT_ID)
    for _ in range(20):
        _answered(parent, None)
    child = _answered(_child(parent), 2 + 4 + 20 * (4 + 4 + 1 + 4) + 4 + 4)
    assert _correction(child) == 1.0


def test_small_changes_of_the_ratio_do_not_change_it() -> None:
    ratios = [1.2, 1.24, 1.17, 1.22, 1.19, 1.23, 1.16, 1.2]
    assert {settled(ratios[:count]) for count in range(1, len(ratios) + 1)} == {1.25}


@given(st.lists(st.floats(0, 1e9)))
def test_it_is_in_eighths_and_never_beyond_what_is_trusted_whatever_is_reported(ratios: list[float]) -> None:
    correction = settled(ratios)
    assert TRUSTED_RATIOS[0] <= correction <= TRUSTED_RATIOS[1]
    assert (correction * 8).is_integer()


@given(TRUSTED, st.integers(1, 30))
def test_the_reserve_holds_what_it_leaves(ratio: float, count: int) -> None:
    assert settled([ratio] * count) / (1 - RESERVE) >= ratio


@given(st.lists(st.floats(0, 1e9), max_size=30), TRUSTED)
def test_it_comes_to_the_true_ratio_whatever_was_reported_before(before: list[float], ratio: float) -> None:
    correction = settled([*before, *[ratio] * SETTLING])
    assert correction / (1 - RESERVE) >= ratio
    assert correction <= max(1, ratio + SLACK + 1 / 8)


@given(st.lists(TRUSTED, min_size=1, max_size=30), st.floats(0, 1e9))
def test_a_single_lie_moves_it_by_no_more_than_its_weight(told: list[float], lie: float) -> None:
    honest = [sum(told) / len(told)] * SETTLING
    assert abs(settled([*honest, lie]) - settled(honest)) <= 1.5 / MOST_WEIGHED + SLACK + 1 / 8


@given(st.lists(st.tuples(TRUSTED, st.floats(0, 0.5)), max_size=30))
def test_more_tokens_reported_never_lower_it_by_more_than_its_rest(told: list[tuple[float, float]]) -> None:
    lower, higher = settled([ratio for ratio, _ in told]), settled([ratio + more for ratio, more in told])
    assert higher >= lower - SLACK - 1 / 8
