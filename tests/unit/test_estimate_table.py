"""How far the estimate is from what a tokenizer counts, by kind of text."""

import pytest
from tests.fixtures.token_samples import MADE_UP, SAMPLES, Sample

from conversation_mcp.providers.estimate import estimated_tokens


def _error(sample: Sample) -> float:
    return 100 * (estimated_tokens(sample.text) / sample.tokens - 1)


@pytest.mark.parametrize("sample", SAMPLES, ids=[sample.name for sample in SAMPLES])
def test_the_error_of_the_estimate_is_known_for_each_kind_of_text(sample: Sample) -> None:
    assert _error(sample) == pytest.approx(sample.error, abs=1)


def test_the_estimate_is_near_on_the_whole_and_never_far_too_low() -> None:
    errors = [_error(sample) for sample in SAMPLES]
    assert sum(map(abs, errors)) / len(errors) <= 12
    assert min(errors) >= -30


FACTORS = {
    "one letter": 1.78, "spaces": 8.0, "line ends": 1.0, "digits": 1.0, "emoji": 1.2,
    "a letter, a digit, a letter": 0.69, "rare Han": 0.42,
}  # fmt: skip


@pytest.mark.parametrize("name", MADE_UP)
def test_the_error_of_the_estimate_is_known_for_texts_that_nobody_writes(name: str) -> None:
    text, tokens = MADE_UP[name]
    assert estimated_tokens(text) / tokens == pytest.approx(FACTORS[name], abs=0.01)


@pytest.mark.parametrize("name", ["spaces", "line ends", "one letter"])
def test_a_run_of_one_character_has_at_least_a_token_for_every_sixteen(name: str) -> None:
    text, _ = MADE_UP[name]
    assert estimated_tokens(text) >= len(text) / 16
