"""Defects of another server of conversations, by their numbers in a list of them: each has tests that carry its number."""

import re
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
DEFECTS = {
    1: "each follow-up stores all that was sent before it",
    2: "beyond the limit of turns it still asks, and records nothing",
    3: "an accepted file is silently not sent",
    4: "files push out the history",
    5: "nothing checks the whole of what is sent",
    6: "a conversation is stuck once it moves to a smaller model",
    7: "images are sent again every turn",
    8: "answers in JSON vanish from the history",
    9: "the first block of code takes the place of the answer",
    10: "verdicts of a consensus vanish",
    11: "names with a colon cannot be used, and are suggested",
    12: "retries multiply",
    13: "cut and empty answers pass for whole ones",
    14: "a failed first question returns no id",
    15: "reading a folder stops the loop",
    16: "secrets leave, and files can forge their frames",
    17: "two follow-ups at once are mixed up",
    18: "a long answer comes back whole",
    19: "no cache of prefixes can serve what is sent",
    20: "what is unknown is accepted",
    21: "a deleted file vanishes while answers about it stay",
    22: "no model was asked, and it says that all was sufficient",
    23: "the last state of a finished review says that it goes on",
    24: "an answer may be longer than what is held for it",
    25: "one word costs thousands of tokens",
}
COMMENT = re.compile(r"# defects? (\d+)(?: and (\d+))?$", re.MULTILINE)
NAME = re.compile(r"def test_defects?_(\d+)_(?:and_(\d+)_)?")


@cache
def numbered() -> set[int]:
    """Return the numbers that tests carry."""
    texts = [path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py")]
    found = (numbers for text in texts for form in (COMMENT, NAME) for numbers in form.findall(text))
    return {int(number) for numbers in found for number in numbers if number}


@pytest.mark.parametrize("number", DEFECTS, ids=DEFECTS.get)
def test_each_defect_of_the_list_has_a_test(number: int) -> None:
    assert number in numbered()


def test_no_test_carries_the_number_of_another_defect() -> None:
    assert numbered() <= set(DEFECTS)
