from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fixtures.documents import found_in

from conversation_mcp.documents.kinds.markdown import markdown
from conversation_mcp.documents.passages import Passage
from conversation_mcp.documents.passages import cut as cut_outline
from conversation_mcp.documents.question import MAX_QUESTION_CHARS, Question
from conversation_mcp.documents.selection import Findings
from conversation_mcp.records.chat import ChatMessage

LETTERS = "".join(
    chr(code)
    for first, last in [
        (0x61, 0x7A), (0xE0, 0xF6), (0x3B1, 0x3C1), (0x430, 0x44F), (0x5D0, 0x5EA), (0x621, 0x63A), (0x905, 0x939),
        (0xE01, 0xE2E), (0x3041, 0x3093), (0x4E00, 0x4F00), (0xAC00, 0xAD00), (0x1F600, 0x1F610),
    ]
    for code in range(first, last + 1)
)  # fmt: skip


def cut(text: str, path: Path) -> list[Passage]:
    return cut_outline(markdown(text), path)


def documents(*texts: str) -> list[Passage]:
    return [passage for number, text in enumerate(texts) for passage in cut(text, Path(f"/docs/{number}.md"))]


def question(*turns: str, stopwords: Iterable[str] = ()) -> Question:
    messages = [ChatMessage("assistant" if number % 2 else "user", text) for number, text in enumerate(turns)]
    return Question.of(messages, frozenset(stopwords))


def found(passages: list[Passage], *turns: str, limit: int = 4) -> list[str]:
    return [passage.text for passage in found_in(passages, question(*turns), limit).passages]


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("如何保存会话的历史记录\uff1f", "会话的历史保存在文件里。"),
        ("会话", "每个会话是一个文件。"),
        ("怎么保存", "文件保存在这里。"),
        ("保存の仕方は\uff1f", "会話の保存"),
        ("설치는?", "윈도우에서 설치하기"),
        ("วิธีติดตั้งโปรแกรม", "การติดตั้งบนวินโดวส์"),
        ("cafe", "Ein Café in Köln"),
        ("KÖLN CAFÉ", "Ein Cafe\u0301 in Ko\u0308ln"),
        ("strasse", "Die Straße"),
        ("Get_Conversation_History()", "Call `get_conversation_history` first."),
        ("what does foo-bar.baz do?", "See foo-bar.baz here."),
        ("v1.2.3", "Released v1.2.3 today"),
        ("itgc", "重跑gen-itgc后"),
        ("🚀", "done🚀 and gone"),
        ("installing", "how it is installed"),
        ("doesn\u2019t", "it doesn't matter"),
        ('a "quoted" AND (b) NEAR c*', "quoted"),
    ],
)
def test_a_question_finds_its_passage_in_any_script(asked: str, text: str) -> None:
    assert found(documents("Quite another thing.", text), asked) == [text]


@settings(deadline=None)
@given(st.text(LETTERS, min_size=1, max_size=30))
def test_a_word_of_a_document_is_always_found(word: str) -> None:
    assert found(documents(f"0 {word} 1", "2"), f"- {word}?") == [f"0 {word} 1"]


@pytest.mark.slow
@settings(deadline=None)
@given(st.lists(st.text(max_size=40) | st.sampled_from(['"', "a AND", "col:x", "NEAR(", "*", "^a", "{a b}:c", "\0"])))
def test_any_question_is_data(parts: list[str]) -> None:
    passages = documents("# Heading\n\ncol near and or not x")

    for turns in ([" ".join(parts)], ["".join(parts), "".join(parts), "and?"]):
        findings = found_in(passages, question(*turns), 4)
        assert len(findings.passages) <= 1


def test_a_heading_counts_more_than_the_text_and_the_title_of_the_file_helps() -> None:
    passages = documents(
        "# Pumps\n\n## Other\n\nA valve is near the filter of it.\n\n## Valve\n\nTurn it to the left side now.",
        "Nothing here at all.",
        "Nor here, there is none.",
        "# Tea\n\n## Boiling\n\nUse hot water, and nothing else but a pot.",
        "Hot water runs through copper pipes and radiators.",
    )

    assert found(passages, "valve") == [
        "Turn it to the left side now.",
        "A valve is near the filter of it.",
    ]
    assert found(passages, "hot water tea")[0].startswith("Use hot water")


def test_a_passage_is_found_by_the_name_of_its_file() -> None:
    passages = cut("Three cups a day.", Path("/docs/tea_rules.txt")) + documents("Coffee.")

    assert found(passages, "tea rules?") == ["Three cups a day."]
    assert found([*documents("tea is one of all these words"), *passages], "tea")[0] == "Three cups a day."


def test_at_most_three_passages_of_a_file_are_shown() -> None:
    many = "\n\n".join(f"# Part {number}\n\ntea tea tea, cup {number}" for number in range(6))
    passages = documents(many, "a longer passage that mentions tea only once among many other words")

    assert [passage.path.name for passage in found_in(passages, question("tea"), 10).passages] == ["0.md"] * 3 + [
        "1.md"
    ]


def test_equal_passages_are_shown_once() -> None:
    assert found(documents("Boil  the tea.", "boil the TEA.", "Drink the tea."), "tea") == [
        "Boil  the tea.",
        "Drink the tea.",
    ]


def test_a_weak_passage_is_shown_only_for_a_word_that_no_better_one_has() -> None:
    filler = "and so many other words about pots and pans that it hardly speaks of anything in particular " * 4
    strong = "# Pump valve\n\nThe pump valve of the pump."
    passages = documents(strong, f"A valve {filler}", f"A gasket {filler}", *(f"{n} none" for n in range(20)))

    assert found(passages, "pump valve") == ["The pump valve of the pump."]
    assert found(passages, "pump valve gasket") == ["The pump valve of the pump.", f"A gasket {filler}".strip()]


def test_stop_words_are_dropped_unless_there_is_nothing_else() -> None:
    only = question("Who is THE Who?", stopwords={"who", "is", "the"})

    assert dict(question("What\u2019s the *Valve*?", stopwords={"what's", "the"}).words) == {"valve": "Valve"}
    assert set(only.words) == {"who", "is", "the"}


def test_words_of_earlier_questions_are_context_and_those_of_answers_are_not() -> None:
    asked = question("one", "answer", "two", "answer", "three", "answer", "four", "answer", "three five")

    assert set(asked.words) == {"three", "five"}
    assert set(asked.context) == {"two", "four"}


def test_a_whole_question_leans_less_on_the_conversation_than_a_short_one() -> None:
    old, new = "pump valve filter gasket glass", "glass pane colour and more"
    passages = documents(old, new, *(f"{number} none" for number in range(20)))
    before = ("pump, valve, filter, gasket?", "answer")

    assert found(passages, *before, "glass?")[0] == old
    assert found(passages, *before, "glass pane colour?")[0] == new


def test_passages_are_known_as_quoted_by_their_place_at_the_start_of_a_line() -> None:
    answer = "[1] `/a b.md:1-20` · H\n\n> [2] `/quoted.md:3-4`\n\n[12] `/c.md:7`\n\nsee `/d.md:1-2`"

    assert question("q", answer, "q").cited == {"/a b.md:1-20", "/c.md:7"}


def test_a_long_question_keeps_its_beginning_and_its_end() -> None:
    half = "x " * MAX_QUESTION_CHARS
    asked = question(f"first {half} middle {half} last")

    assert set(asked.words) == {"first", "x", "last"}
    assert asked.is_shortened
    assert not question("x" * MAX_QUESTION_CHARS).is_shortened


def test_names_in_code_are_found_whole_and_in_parts() -> None:
    passages = documents("Call getUserName() first.", "Then get_water_level is called.", "Nothing else.")

    assert found(passages, "getUserName") == ["Call getUserName() first."]
    assert found(passages, "user name") == ["Call getUserName() first."]
    assert found(passages, "get_user_name") == ["Call getUserName() first."]
    assert found(passages, "water level") == ["Then get_water_level is called."]
    assert found(passages, "waterLevel") == ["Then get_water_level is called."]


def test_a_word_finds_others_that_mean_much_the_same_but_itself_first() -> None:
    passages = documents("Deleting a folder needs care.", "The directory was removed.", "Other things happen here.")

    assert found(passages, "remove")[0] == "The directory was removed."
    assert "Deleting a folder needs care." in found(passages, "remove")
    assert sorted(found(passages, "wipe it")) == ["Deleting a folder needs care.", "The directory was removed."]
    assert find_all(passages, "wipe it").missing == ("wipe",)
    assert find_all(passages, "wipe it").is_partial


def test_words_near_each_other_count_more_than_the_same_words_apart() -> None:
    apart = "The pump of the house is old, and there is in another room, behind two doors, an iron valve, they say."
    near = "In the house, which has another room behind two doors of iron and is old, they say, there is a pump valve."
    passages = documents(apart, near)

    assert found(passages, "pump valve")[0] == near


def test_a_research_has_passages_for_each_part_of_a_question_from_many_files() -> None:
    many = [f"The pump number {number} pumps water with a pump." for number in range(12)]
    passages = documents(*many, "A gasket seals the pipe between two ends, they say.")
    by_parts = found_in(passages, question("How do pumps pump? What seals a pipe?"), 4, by_parts=True)
    whole = found_in(passages, question("How do pumps pump? And what about the pumping of pumps?"), 4, by_parts=True)

    assert any("gasket" in passage.text for passage in by_parts.passages)
    assert len(by_parts.passages) == len(whole.passages) == 4


def test_passages_that_are_nearly_the_same_are_shown_once() -> None:
    text = "Boil the water in the kettle, wait for a minute, then pour it slowly over the leaves of the tea and wait."
    passages = documents(text, text.replace("slowly", "gently"), "Tea is a drink.")

    assert len([shown for shown in found(passages, "tea water leaves") if "kettle" in shown]) == 1


def test_an_answer_that_covers_little_of_the_question_says_so() -> None:
    passages = documents("The kettle is red.", *(f"Other thing {number}." for number in range(20)))

    assert find_all(passages, "kettle quagga zeppelin platypus").is_partial
    assert not find_all(passages, "red kettle").is_partial


def find_all(passages: list[Passage], *turns: str) -> Findings:
    return found_in(passages, question(*turns, stopwords={"it"}), 9)
