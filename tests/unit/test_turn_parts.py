"""The parts of a running turn: wishes that others have, who got the words, and the text so far."""

import anyio
from tests.fixtures.stores import UNKNOWN

from conversation_mcp.providers.whereabouts import HERE, OUTSIDE
from conversation_mcp.stores.base import Call
from conversation_mcp.turns.ask import Ask
from conversation_mcp.turns.call_outcomes import Running
from conversation_mcp.turns.run import MAX_PARTIAL_CHARS, Run, SentTo
from conversation_mcp.turns.turn import RunningTurn
from conversation_mcp.turns.wishes import Wishes

CALL = Call(UNKNOWN, "2026-01-31T00:00:00.000Z")


async def turn() -> RunningTurn:
    return RunningTurn("key", Ask(tool="search", mode="search", question="one?", preset="low"), UNKNOWN)


async def test_a_wish_from_before_ends_a_wait_that_begins_later() -> None:
    wishes = Wishes()
    wishes.give_up()
    with wishes.line() as scope:
        await anyio.sleep_forever()
    assert scope.cancelled_caught
    assert wishes.is_given_up


async def test_an_answer_on_its_way_heeds_only_a_stop() -> None:
    wishes = Wishes()
    wishes.refuse()
    wishes.give_up()
    with wishes.sending() as scope:
        await anyio.lowlevel.checkpoint()
        wishes.stop()
        await anyio.sleep_forever()
    assert scope.cancelled_caught


async def test_a_turn_whose_question_is_on_disk_is_not_refused() -> None:
    sent, unsent = await turn(), await turn()
    sent.course.question = CALL
    for each in (sent, unsent):
        each.refuse()
    assert (sent.wishes.is_refused, unsent.wishes.is_refused) == (False, True)


async def test_a_turn_that_joined_another_has_its_question_once_that_is_asked() -> None:
    joined = await turn()
    joined.claim.joined = Running(CALL)
    assert (joined.question, joined.is_queued) == (None, True)
    joined.claim.joined = Running(CALL, is_asked=True)
    assert (joined.question, joined.is_queued) == (CALL, False)


def test_whoever_could_not_be_reached_has_not_got_the_words() -> None:
    sent_to = SentTo({"near": HERE}).also("far", OUTSIDE)
    assert sent_to.known == {"near": HERE, "far": OUTSIDE}
    assert sent_to.without_newest().known == {"near": HERE}


def test_a_provider_on_this_machine_that_could_not_be_reached_still_says_where_the_words_were_to_stay() -> None:
    assert SentTo().also("near", HERE).without_newest().known == {"near": HERE}


def test_whoever_had_the_words_before_keeps_them() -> None:
    sent_to = SentTo({"far": OUTSIDE}).also("far", OUTSIDE)
    assert sent_to.without_newest().known == {"far": OUTSIDE}


def test_words_that_went_outside_are_not_said_to_have_stayed() -> None:
    assert SentTo({"both": OUTSIDE}).also("both", HERE).known == {"both": OUTSIDE}


def test_the_first_piece_of_a_text_replaces_what_was_heard_of_an_earlier_run() -> None:
    run = Run()
    assert run.hear("one", replaces=False)
    assert not run.hear(" two", replaces=False)
    assert run.text == "one two"
    assert run.hear("three", replaces=True)
    assert run.text == "three"


def test_of_a_text_that_never_ends_the_beginning_is_kept() -> None:
    run = Run(text="x" * MAX_PARTIAL_CHARS)
    run.hear("more", replaces=False)
    assert run.text == "x" * MAX_PARTIAL_CHARS
