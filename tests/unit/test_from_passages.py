"""The numbers in an answer that a model wrote from passages: each must stand for one."""

import time

import pytest

from conversation_mcp.providers.choosing.writer.passages import checked
from conversation_mcp.records.models import Source

SOURCES = (Source(id=1), Source(id=2))


@pytest.mark.parametrize(
    ("text", "expected", "unknown"),
    [
        ("a [1][2] b [3][1].", "a [1][2] b[1].", ("3",)),
        ("a [1, 2] [2; 9] [8,7].", "a [1][2] [2].", ("9", "8", "7")),
        ("[2](https://example.org/) [0] [01] [99999999999999999999]", "[2](https://example.org/)", None),
        ("from [0, 1] on, note [^9], pages [9-10]", "from [0, 1] on, note [^9], pages [9-10]", ()),
        ("`a[9]` and ``b`[9]`` and ` alone [9]", "`a[9]` and ``b`[9]`` and ` alone", ("9",)),
        ("one ` tick [9]\n\nanother ` tick [9]", "one ` tick\n\nanother ` tick", ("9",)),
        ("````\n```\n[9]\n````\n[8]", "````\n```\n[9]\n````\n", ("8",)),
        ("cut:\n~~~py\na[9]\n\nb[9]", "cut:\n~~~py\na[9]\n\nb[9]", ()),
    ],
)
def test_numbers_of_no_source_are_taken_out_but_not_out_of_code(
    text: str, expected: str, unknown: tuple[str, ...] | None
) -> None:
    cleaned, removed = checked(text, SOURCES)
    assert cleaned == expected
    assert removed == (("0", "01", "9" * 20) if unknown is None else unknown)


@pytest.mark.parametrize(
    "text",
    [
        "".join("`" * size + " " for size in range(1, 500)),
        " " * 200_000,
        "[1," * 70_000,
        "```\n" * 50_001,
        "` x" * 60_000,
    ],
)
def test_the_time_is_in_proportion_to_the_length_whatever_the_text_holds(text: str) -> None:
    started = time.process_time()
    checked(text, SOURCES)
    assert time.process_time() - started < 10
