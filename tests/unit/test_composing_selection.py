"""What is left out when not everything fits, what is said about it, and what cannot be sent at all."""

import re

import pytest
from tests.fixtures.composing import (
    PARENT_ID,
    Talk,
    body,
    common_messages,
    file,
    image,
    text_of,
    words_of,
)

from conversation_mcp.attaching.contents import LeftOut
from conversation_mcp.errors import BlindModelError, ConversationTooLongError, FilesTooLargeError
from conversation_mcp.prompting.composed import Composition
from conversation_mcp.prompting.measure import Measure
from conversation_mcp.records.models import Summary


def _long_talk(turns: int = 10, words: int = 20) -> Talk:
    talk = Talk()
    for turn in range(turns):
        talk.ask(f"question {turn} " + "word " * words, answer=f"answer {turn} " + "word " * words)
    return talk


def _first(made: Composition) -> int:
    return made.rendered[0].said.number


def test_the_oldest_turns_are_left_out_with_a_line_and_a_notice() -> None:
    made = _long_talk().within(300).composed("And?")
    left_out = _first(made) - 2
    assert left_out > 0
    assert left_out % 2 == 0
    assert made.messages[1].content.startswith(
        f"[{left_out} earlier messages left out here, because they do not fit]\n\nquestion {left_out // 2} "
    )
    assert made.notices == (f"not sent, because the request would be too large for m: {left_out} earlier messages",)
    assert [part.number for part in made.parts if not part.is_sent] == list(range(2, left_out + 2))


def test_the_selection_moves_in_steps_and_not_with_every_turn() -> None:  # defect 19
    talk = _long_talk(25).within(1_200)
    firsts: list[int] = []
    held = 0
    former = talk.composed("And?")
    for turn in range(12):
        made = talk.ask(f"question {turn} " + "word " * 20, answer="word " * 20)
        held += common_messages(former.messages, made.messages) == len(former.messages)
        firsts.append(_first(made))
        former = made
    assert 2 <= len(set(firsts)) <= 4
    assert firsts == sorted(firsts)
    assert held >= 8


def test_a_file_that_was_accepted_is_sent_or_said_to_be_skipped() -> None:  # defect 3
    numbers = file("/numbers.py", body("n", 120))  # the numbers of its lines count, too
    whole = Talk().composed("Why?", numbers).tokens
    talk = Talk().within(whole - 1, files=0.2, history=0.5)
    with pytest.raises(FilesTooLargeError) as raised:
        talk.composed("Why?", numbers)
    assert re.search(r"Too large: /numbers.py \(about \d+ tokens\)\. Nothing was sent", raised.value.message)
    made = talk.composed("Why?", numbers, file("/small.py", "small\n"))
    assert [(one.path, one.sent) for one in made.files] == [("/numbers.py", "skipped"), ("/small.py", "whole")]
    assert made.files[0].sha256 is None
    assert "it has about" in (made.files[0].reason or "")
    assert f'[file "/numbers.py": not sent: {made.files[0].reason}]' in made.messages[-1].content
    assert made.notices[0].startswith('1 of 2 attachments not sent: "/numbers.py" (it has about')
    assert numbers.sha256 not in made.contents


def test_a_skipped_file_is_skipped_in_later_requests_too() -> None:
    talk = Talk().within(300)
    former = talk.ask("Why?", file("/large.py", body("n", 200)), file("/small.py", "small\n"))
    made = talk.within(3_000).composed("And?")
    assert common_messages(former.messages, made.messages) == len(former.messages)


def test_as_many_files_as_fit_are_sent() -> None:
    large, small = file("/large.py", body("n", 1_000)), file("/small.py", body("s", 10))
    made = Talk().within(2_000).composed("Why?", large, small)
    assert [one.sent for one in made.files] == ["skipped", "whole"]


def test_files_that_were_named_first_go_before_smaller_ones() -> None:
    files = [file(f"/{name}.py", body(name, lines)) for name, lines in (("a", 60), ("b", 50), ("c", 400), ("d", 10))]
    made = Talk().within(500).composed("Why?", *files)
    assert [one.sent for one in made.files] == ["whole", "skipped", "skipped", "whole"]


@pytest.mark.parametrize("window", [700, 1_000, 2_000])
def test_one_line_stands_for_most_of_the_files_that_do_not_fit(window: int) -> None:
    files = [file(f"/a/rather/long/path/of/a/file/number {number}.py", body(f"n{number}")) for number in range(80)]
    talk = Talk().within(window)
    for made in [talk.ask(f"question {number}", *files) for number in range(6)]:
        lines = [line for line in made.messages[-1].content.split("\n") if "not sent" in line]
        skipped = sum(one.sent == "skipped" for one in made.files)
        assert lines[3:] == [f"[{skipped - 3} more that this message names are not sent]"]
        assert made.tokens <= window
        sent = sum(part.tokens for one in made.parts for part in one.files if part.sent in ("whole", "diff"))
        assert sent > window / 8


def test_files_do_not_push_out_the_history() -> None:  # defect 4
    talk = _long_talk(3).within(600)
    made = talk.composed("Why?", file("/a.py", body("a", 40)), file("/b.py", body("b", 60)))
    assert _first(made) == 2
    assert "skipped" in [one.sent for one in made.files]
    talk.ask("Why?", file("/a.py", body("a", 40)))
    made = talk.ask("And?", file("/c.py", body("c", 40)))
    assert "question 2" in text_of(made.messages)


def test_everything_that_is_sent_is_checked_with_the_share_of_the_answer() -> None:  # defect 5
    talk = Talk(system="s " * 200)
    talk.ask("q " * 300, answer="a " * 300)
    with pytest.raises(ConversationTooLongError) as raised:
        talk.within(1_000).composed("n " * 250)
    assert raised.value.message == (
        "the system text (204), the last exchange (608) and this question (254) alone have about 1,066 tokens; "
        "m accepts about 1,000. Nothing was sent."
    )
    assert raised.value.tokens == 1_066
    assert talk.within(1_066).composed("n " * 250).tokens == 1_066


def test_a_smaller_model_gets_what_fits() -> None:  # defect 6
    talk = Talk()
    talk.ask("Why?", file("/a.py", body("a", 400)), answer="Because.")
    for turn in range(5):
        talk.ask(f"And {turn}?", answer="So.")
    made = talk.within(300).composed("Then?")
    assert _first(made) == 2
    assert '[file "/a.py": left out here, because it does not fit]' in made.messages[1].content
    assert made.notices == ("not sent, because the request would be too large for m: 1 file",)


def test_a_file_that_was_left_out_is_sent_whole_in_the_message_that_names_it_again() -> None:
    talk = Talk()
    old = file("/a.py", body("a", 60))
    talk.ask("Why?", old)
    talk.ask("And this?", file("/b.py", body("b", 90)))
    talk.within(600)
    former = talk.ask("Then?")
    assert "left out here" in former.messages[1].content
    made = talk.ask("Again?", old)
    assert made.files[0].sent == "whole"
    assert common_messages(former.messages, made.messages) >= 3
    assert talk.composed("Still?", old).files[0].sent == "known"


def test_one_word_costs_one_word() -> None:  # defect 25
    made = Talk(system="").composed("Why?")
    assert [(one.role, one.content) for one in made.messages] == [("user", "Why?")]


def test_small_conversations_are_not_counted() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return words_of(text)

    talk = _long_talk(3)
    talk.measure = Measure(count, most_per_char=1.0)
    made = talk.within(10_000).composed("And?")
    assert not made.is_counted
    assert counted == []
    assert made.tokens == sum(words_of(one.content) + 4 for one in made.messages)


def test_an_image_stands_once_in_a_request() -> None:  # defect 7
    talk = Talk()
    former = talk.ask("What is this?", images=[image("/a.png")])
    assert [len(one.images) for one in former.messages] == [0, 1]
    assert former.images[0].sent == "whole"
    made = talk.ask("And this?", images=[image("/b.png"), image("/c.png", b"other")])
    assert [one.sent for one in made.images] == ["known", "whole"]
    assert [[part.data for part in one.images] for one in made.messages] == [[], [b"png"], [], [b"other"]]
    assert '[image "/b.png": the same as "/a.png" in message 2]' in made.messages[-1].content


def test_images_count_by_the_formula_of_their_provider() -> None:
    talk = Talk(image_tokens=lambda width, height: width * height)
    with_image, without = (talk.composed("Why?", images=images).tokens for images in ([image("/a.png", side=30)], []))
    assert 900 <= with_image - without <= 910
    with pytest.raises(FilesTooLargeError):
        talk.within(800).composed("Why?", images=[image("/a.png", side=30)])


def test_a_model_without_eyes_refuses_new_images_and_gets_a_line_for_old_ones() -> None:
    talk = Talk()
    talk.ask("What is this?", images=[image("/a.png")])
    talk.sees = False
    made = talk.composed("And now?")
    assert not any(one.images for one in made.messages)
    assert '[image "/a.png": not sent, because this model does not see images]' in made.messages[1].content
    assert made.notices == ("not sent, because m does not see images: 1 image of earlier messages",)
    with pytest.raises(BlindModelError, match="m does not see images"):
        talk.composed("And this?", images=[image("/a.png")])
    talk.sees = None
    assert talk.composed("And this?", images=[image("/c.png", b"c")]).images[0].sent == "whole"


def test_skipped_files_are_counted_in_one_notice() -> None:
    left_out = [LeftOut(f"/{number}.bin", "binary") for number in range(8)]
    made = Talk().composed("Why?", file("/a.py", "a\n"), left_out=left_out)
    (notice,) = made.notices
    assert notice.startswith('8 of 9 attachments not sent: "/0.bin" (binary), ')
    assert notice.endswith('"/4.bin" (binary) and 3 more')


def test_an_image_that_cannot_be_sent_is_recorded_among_the_images() -> None:
    left_out = [LeftOut("/wide.png", "too wide", is_image=True), LeftOut("/a.bin", "binary")]
    made = Talk().composed("Why?", images=[image("/a.png")], left_out=left_out)
    assert [(one.path, one.sent, one.reason) for one in made.files] == [("/a.bin", "skipped", "binary")]
    assert [(one.path, one.sent) for one in made.images] == [("/a.png", "whole"), ("/wide.png", "skipped")]
    assert '[image "/wide.png": not sent: too wide]' in made.messages[-1].content


def test_a_child_carries_the_messages_of_its_parent_up_to_where_it_began() -> None:
    parent = Talk(conversation_id=PARENT_ID, system="The system text of the parent.")
    parent.ask("First?", file("/a.py", body("a")), answer="Yes.")
    parent.ask("Too late?", answer="No.")
    before = parent.conversation.changed(messages=parent.conversation.messages[:3])
    child = Talk(parents=(before,), kept=parent.kept)
    made = child.ask("Second?", file("/a.py", body("a").replace("line 3\n", "line three\n")))
    assert [one.role for one in made.messages] == ["system", "user", "assistant", "user"]
    assert made.messages[0].content == "Be brief."
    assert "Too late?" not in text_of(made.messages)
    assert (made.files[0].sent, made.files[0].changed_since) == ("diff", None)
    assert f"changed since message 2 of {PARENT_ID}, only the changes" in made.messages[-1].content
    assert {part.conversation_id for part in made.parts} == {PARENT_ID, child.conversation_id}
    former, made = made, child.ask("Third?")
    assert common_messages(former.messages, made.messages) == len(former.messages)


def _summed(made: Composition) -> list[tuple[str, int, str | None]]:
    return [(one.conversation_id, one.last_message, one.known and one.known.content) for one in made.summaries]


def test_what_falls_out_is_to_be_summarised_once_and_the_summary_stands_in_its_place() -> None:
    talk = _long_talk().within(400)
    talk.summarises = True
    made = talk.composed("And?")
    last = _first(made) - 1
    assert _summed(made) == [(talk.conversation_id, last, None)]
    assert made.summaries[0].most_tokens == 40
    talk.summaries = (Summary(content="They counted.", first_message=1, last_message=last),)
    made = talk.composed("And?")
    assert made.summaries == ()
    assert _first(made) == last + 1
    assert f"of the first {last - 1} messages, which do not fit>\nThey counted.\n</summary " in made.messages[1].content
    assert "earlier messages left out" not in made.messages[1].content
    assert made.notices[0].endswith(f"{last - 1} earlier messages; a summary stands for {last - 1} messages")


def test_a_later_summary_takes_in_the_one_before_it() -> None:
    talk = _long_talk(14).within(400)
    talk.summarises = True
    talk.summaries = (Summary(content="They counted.", first_message=1, last_message=5),)
    made = talk.composed("And?")
    assert _summed(made) == [(talk.conversation_id, _first(made) - 1, "They counted.")]
    assert "of the first 4 messages" in made.messages[1].content
    assert f"[{_first(made) - 6} earlier messages left out here" in made.messages[1].content


def test_a_summary_that_is_too_long_is_not_sent() -> None:
    talk = _long_talk(14).within(400)
    talk.summaries = (Summary(content="They counted. " * 40, first_message=1, last_message=5),)
    made = talk.composed("And?")
    assert "They counted" not in text_of(made.messages)
    assert made.tokens <= 400


def test_a_summary_is_not_sent_beside_what_it_covers() -> None:
    talk = _long_talk(4)
    talk.summaries = (Summary(content="They counted.", first_message=1, last_message=5),)
    assert "They counted" not in text_of(talk.composed("And?").messages)
