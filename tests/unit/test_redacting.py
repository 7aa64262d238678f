"""What redaction finds in texts, and what it leaves alone."""

import time

import pytest
from tests.fixtures.sensitive import SECRETS, Labelled, corpus, drawn

from conversation_mcp.redacting.kinds import SensitiveKind
from conversation_mcp.redacting.redactor import Redactor, redaction_notices

KINDS: tuple[SensitiveKind, ...] = ("keys", "cards", "ibans", "emails", "phones")
ALL = Redactor(KINDS)
MOST_SECONDS = 30.0
"""For a text of a megabyte, on a slow machine; a pattern that backtracks takes hours."""


@pytest.mark.parametrize("one", corpus(), ids=lambda one: one.text[:40])
def test_what_is_secret_is_found_and_nothing_else_is(one: Labelled) -> None:
    redacted = ALL.redact(one.text)
    assert dict(redacted.counts) == ({one.kind: 1} if one.kind else {})
    assert not one.secret or one.secret.strip(".") not in redacted.text


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_replaced_alone_and_counted(kind: SensitiveKind) -> None:
    text = " and ".join(each[0] for each in SECRETS.values())
    redacted = Redactor((kind,)).redact(text)
    assert redacted.counts == {kind: 1}
    assert SECRETS[kind][0] not in redacted.text
    assert all(each[0] in redacted.text for name, each in SECRETS.items() if name != kind)


def test_words_around_a_number_stay() -> None:
    text = "Pay DE89 3704 0044 0532 0130 00 TODAY, 12 4111 1111 1111 1111."
    assert ALL.redact(text).text == "Pay [iban] TODAY, 12 [card]."


def test_what_was_redacted_stays_as_it_is() -> None:
    once = ALL.redact(" ".join(one.text for one in corpus()))
    again = ALL.redact(once.text)
    assert (again.text, sum(again.counts.values())) == (once.text, 0)


def test_a_notice_counts_each_kind() -> None:
    text = f"{SECRETS['keys'][0]} {SECRETS['keys'][1]} {SECRETS['cards'][0]}"
    notices = tuple(redaction_notices(ALL.redact(text).counts, where="the question"))
    assert notices == ("redacted in the question: 2 keys and 1 card number",)
    assert tuple(redaction_notices({}, where="the question")) == ()


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    ["a", "1", "1 ", "a@", "+1 ", "a.", "-----BEGIN A ", "://a:", "password = ", "key-", "DE89 ", "(0", "\n", "eyJ", "tel ", "\u0130"],
)  # fmt: skip
def test_no_text_of_a_megabyte_takes_long(piece: str) -> None:
    text = (piece * (1_000_000 // len(piece)))[:1_000_000]
    start = time.process_time()
    ALL.redact(text)
    assert time.process_time() - start < MOST_SECONDS


def test_random_text_is_rarely_taken_for_anything() -> None:
    words = [drawn(8, seed, "abcdefghijklmnopqrstuvwxyz") for seed in range(5_000)]
    assert sum(ALL.redact(" ".join(words)).counts.values()) == 0
