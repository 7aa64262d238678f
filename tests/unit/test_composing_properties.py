"""What holds for every history, every set of files and every window."""

from dataclasses import dataclass, replace

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from tests.fixtures.composing import ID, Talk, body, common_messages, file, words_of

from conversation_mcp.attaching.contents import FileContent, ImageContent
from conversation_mcp.errors import ConversationTooLongError, FilesTooLargeError
from conversation_mcp.prompting.budget import Budget
from conversation_mcp.prompting.composed import Composition
from conversation_mcp.prompting.transcript import key_of
from conversation_mcp.records.models import Summary

TOKENS_PER_MESSAGE, TOKENS_PER_IMAGE = 4, 13


@dataclass(frozen=True)
class Asked:
    """A turn: its question, the files and images that it names, and its answer."""

    question: str
    answer: str
    files: tuple[FileContent, ...]
    images: tuple[ImageContent, ...]


def _file(path: str, version: int, lines: int) -> FileContent:
    return file(f"/src/{path}.py", body(f"v{version}", lines) + path * (version % 2))


def _image(name: str) -> ImageContent:
    return ImageContent(f"/{name}.png", name.encode(), "image/png", 10, 10)


NAMED = st.builds(
    _file,
    st.sampled_from("abcdef"),
    st.integers(0, 2),
    st.integers(1, 40),
)
SEEN = st.builds(_image, st.sampled_from("xyz"))
TURNS = st.lists(
    st.builds(
        Asked,
        st.integers(1, 60).map(lambda count: "ask " * count),
        st.integers(1, 80).map(lambda count: "say " * count),
        st.lists(NAMED, max_size=4, unique_by=lambda one: one.path).map(tuple),
        st.lists(SEEN, max_size=1).map(tuple),
    ),
    min_size=1,
    max_size=12,
)
WINDOWS = st.integers(120, 2500)
SUMMARIES = st.sampled_from([(), (Summary(content="They spoke. " * 5, first_message=1, last_message=5),)])


def _image_tokens(_width: int, _height: int) -> int:
    return TOKENS_PER_IMAGE


def _talk(turns: list[Asked], window: int | None = None, summaries: tuple[Summary, ...] = ()) -> Talk:
    talk = Talk(Budget(window, 0.3, 0.5, model="m"), image_tokens=_image_tokens, summaries=summaries)
    for turn in turns:
        _ask(talk, turn)
    return talk


def _ask(talk: Talk, turn: Asked) -> Composition:
    return talk.ask(turn.question, *turn.files, images=turn.images, answer=turn.answer)


def _request(talk: Talk, window: int | None, turn: Asked | None = None) -> Composition:
    """Compose the next request; what cannot be sent at all is not looked at."""
    budget = replace(talk.budget, input_tokens=window)
    try:
        if turn is None:
            return talk.composed("and now", budget=budget)
        return talk.composed(turn.question, *turn.files, images=turn.images, budget=budget)
    except (ConversationTooLongError, FilesTooLargeError):
        assume(False)
        raise


def _size(made: Composition) -> int:
    images = sum(len(message.images) for message in made.messages)
    texts = sum(words_of(message.content) + TOKENS_PER_MESSAGE for message in made.messages)
    return texts + images * TOKENS_PER_IMAGE


def _sent_contents(made: Composition) -> list[str]:
    shown = (one for rendered in made.rendered for one in rendered.shown)
    return [key_of(one.named) or "" for one in shown if one.sent in ("whole", "diff")]


def _standing(made: Composition) -> dict[int, list[str]]:
    """Return the contents that stand in each message that is sent, by its number."""
    return {
        rendered.said.number: [key_of(one.named) or "" for one in rendered.shown if one.sent in ("whole", "diff")]
        for rendered in made.rendered
    }


def _sent_numbers(made: Composition) -> list[int]:
    return [rendered.said.number for rendered in made.rendered]


@given(TURNS, WINDOWS, SUMMARIES)
@settings(max_examples=60, deadline=None)
def test_what_is_sent_never_exceeds_the_budget(turns: list[Asked], window: int, summaries: tuple[Summary, ...]) -> None:
    made = _request(_talk(turns[:-1], summaries=summaries), window, turns[-1])
    assert _size(made) <= window
    assert made.tokens == _size(made)


@given(TURNS, WINDOWS)
@settings(max_examples=30, deadline=None)
def test_the_system_text_the_last_exchange_and_the_question_are_always_sent_in_order(
    turns: list[Asked], window: int
) -> None:
    talk = _talk(turns)
    made = _request(talk, window)
    numbers = _sent_numbers(made)
    assert made.messages[0].content == "Be brief."
    assert numbers == list(range(numbers[0], len(talk.messages) + 2))
    assert numbers[-3:] == [len(talk.messages) - 1, len(talk.messages), len(talk.messages) + 1]
    assert made.rendered[0].said.role == "user"  # whole turns


@given(TURNS, st.integers(120, 1200), st.integers(0, 1500))
@settings(max_examples=60, deadline=None)
def test_a_larger_window_never_leaves_out_more(turns: list[Asked], window: int, more: int) -> None:
    talk = _talk(turns)
    small, large = (_request(talk, tokens) for tokens in (window, window + more))
    assert set(_sent_numbers(small)) <= set(_sent_numbers(large))
    assert set(_sent_contents(small)) <= set(_sent_contents(large))


@given(TURNS, st.integers(120, 1200), st.integers(0, 1500))
@settings(max_examples=60, deadline=None)
def test_in_a_larger_window_no_file_of_a_question_stands_back_for_a_later_one(
    turns: list[Asked], window: int, more: int
) -> None:
    talk = _talk(turns[:-1])
    small, large = (_request(talk, tokens, turns[-1]) for tokens in (window, window + more))
    assert set(_sent_numbers(small)) <= set(_sent_numbers(large))
    sent, later = ([one.sent != "skipped" for one in (*made.files, *made.images)] for made in (small, large))
    assert later >= sent  # none is skipped for the sake of one that was named after it
    if sent == later:
        assert set(_sent_contents(small)) <= set(_sent_contents(large))


@given(TURNS, st.integers(300, 2500))
@settings(max_examples=60, deadline=None)
def test_a_request_begins_with_the_one_before_it_unless_the_selection_moved(turns: list[Asked], window: int) -> None:
    talk = _talk([], window)
    former: Composition | None = None
    for turn in turns:
        try:
            made = _ask(talk, turn)
        except (ConversationTooLongError, FilesTooLargeError):
            return
        if former is not None:
            before, after = _standing(former), _standing(made)
            if list(after)[: len(before)] == list(before) and all(after[number] == before[number] for number in before):
                assert common_messages(former.messages, made.messages) == len(former.messages)
        former = made


@given(TURNS)
@settings(max_examples=30, deadline=None)
def test_without_a_limit_each_request_begins_with_the_one_before_it(turns: list[Asked]) -> None:
    talk = _talk([])
    former: Composition | None = None
    for turn in turns:
        made = _ask(talk, turn)
        if former is not None:
            assert common_messages(former.messages, made.messages) == len(former.messages)
        former = made


@given(TURNS, st.none() | WINDOWS)
@settings(max_examples=60, deadline=None)
def test_a_content_stands_once_and_what_is_known_stands_in_the_request(turns: list[Asked], window: int | None) -> None:
    made = _request(_talk(turns[:-1]), window, turns[-1])
    contents = _sent_contents(made)
    assert len(contents) == len(set(contents))
    standing: set[str] = set()
    for rendered in made.rendered:
        for one in rendered.shown:
            key = key_of(one.named) or ""
            assert one.sent != "known" or key in standing
            assert one.text in rendered.message.content
            if one.sent in ("whole", "diff"):
                standing.add(key)
    asked = {one.path: one for one in (*turns[-1].files, *turns[-1].images)}
    records = {one.path: one for one in (*made.files, *made.images)}
    assert asked.keys() == records.keys()
    kept = {one.sha256 for one in records.values() if one.sent != "skipped"}
    assert set(made.contents) == kept


@given(TURNS, WINDOWS)
@settings(max_examples=30, deadline=None)
def test_the_same_request_is_made_from_the_same_conversation(turns: list[Asked], window: int) -> None:
    one, other = (_request(_talk(turns), window).messages for _ in range(2))
    assert one == other


@given(TURNS, WINDOWS)
@example([Asked("ask", "say", (), ())], 200)
@settings(max_examples=30, deadline=None)
def test_what_is_shown_of_a_request_adds_up(turns: list[Asked], window: int) -> None:
    talk = _talk(turns)
    made = _request(talk, window)
    assert sum(part.tokens for part in made.parts) == made.tokens
    numbers = [part.number for part in made.parts if part.number]
    assert numbers == list(range(2, len(talk.messages) + 2))
    assert {part.conversation_id for part in made.parts} == {ID}
