import pytest

from conversation_mcp.providers.wire.related_questions import split_related


@pytest.mark.parametrize(
    "section",
    [
        "Related questions:\n- What came first?\n- Who says so?",
        "related questions\n\n* What came first?\n\n* Who says so?\n",
        "## Related Questions\n1. What came first?\n2. Who says so?",
        "### **Related questions:**\n1) **What came first?**\n2) _Who says so?_",
        "**Related questions**:\nWhat came first?\nWho says so?",
        "---\n\n**Related questions:**\n• What came first? [1][2]\n• Who says so?[web:3]",
        "Related questions: What came first? Who says so?",
        'Related questions:\n- "What came first?"\n- \u201cWho says so?\u201d',
        "2. Related questions:\r\n- What came first?\r\n- Who says so?",
    ],
)
def test_the_section_is_split_off_however_it_is_written(section: str) -> None:
    assert split_related(f"One.[1]\n\nTwo.\n\n{section}") == ("One.[1]\n\nTwo.", ("What came first?", "Who says so?"))


def test_questions_of_other_scripts_are_questions() -> None:
    assert split_related("答。\n\nRelated questions:\n何ですか\uff1f\n- なぜ")[1] == ("何ですか\uff1f", "なぜ")


def test_text_after_the_section_stays_in_the_answer() -> None:
    answer = "One.\n\nRelated questions:\n- What came first?\n\nSources\n[1] A page"
    assert split_related(answer) == ("One.\n\nSources\n[1] A page", ("What came first?",))


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "One.",
        "There are related questions: none was answered.",
        "One.\n\nRelated questions:",
        "One.\n\nRelated questions:\n\nThere are none.",
        "Related questions to ask your doctor are listed by the clinic.",
    ],
)
def test_an_answer_without_the_section_is_left_as_it_is(answer: str) -> None:
    assert split_related(answer) == (answer, ())


def test_only_the_last_section_counts() -> None:
    answer = "Related questions:\n- Old?\n\nSo far.\n\nRelated questions:\n- New?"
    assert split_related(answer) == ("Related questions:\n- Old?\n\nSo far.", ("New?",))
