"""Which conversations are near another one, and what somebody has confirmed of two, in every store."""

import json
from typing import Any

import pytest
from dirty_equals import IsPartialDict
from tests.fixtures.cli import Here
from tests.fixtures.homes import Home
from tests.fixtures.library import MUCH_LATER, id_of
from tests.fixtures.numbered import Numbered
from tests.fixtures.stores import Clock
from tests.fixtures.vectors import OneEmbedder, WordModel, there

from conversation_mcp.conversations.branches import branched
from conversation_mcp.conversations.history import history_page
from conversation_mcp.conversations.markdown import markdown
from conversation_mcp.conversations.merges import merged
from conversation_mcp.conversations.vicinity import UNMADE, Vicinity, near_conversations
from conversation_mcp.embeddings.meaning import Meaning
from conversation_mcp.exporting.html.page import HTML
from conversation_mcp.records.models import Conversation, ConversationId
from conversation_mcp.stores.catalog import open_store
from conversation_mcp.stores.headway import Headway
from conversation_mcp.tooling.rendering.history import render_history

AT = "2026-01-31T00:00:00.000Z"
KETTLE = ("How is Kettle installed on Linux?", "Download the tarball and run the installer as root.")
TOPICS = {
    1: KETTLE,
    2: KETTLE,
    3: ("Kettle on Windows?", "Download setup.exe and run the installer as administrator."),
    4: ("What is in bread?", "Flour, water, yeast and salt."),
}
ONE, TWIN, NEAR, FAR, GONE = (id_of(number) for number in (1, 2, 3, 4, 9))


def data_of(number: int, *said: str, **facts: Any) -> dict[str, Any]:
    roles = ("user", "assistant")
    messages = [{"role": roles[place % 2], "content": text} for place, text in enumerate(said)]
    times = {"createdAt": AT, "updatedAt": AT}
    return {"conversationId": id_of(number), **times, "messageCount": len(said), **facts, "messages": messages}


def conversation(number: int, *said: str, **facts: Any) -> Conversation:
    return Conversation.model_validate(data_of(number, *said, **facts))


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, home: Home) -> Here:
    for number, said in TOPICS.items():
        home.put(data_of(number, *said))
    return Here(capsys, monkeypatch, home)


def shown(here: Here, conversation_id: str = ONE) -> dict[str, Any]:
    return json.loads(here("related", conversation_id, "--json").out)


def test_the_nearest_comes_first_with_a_score_and_the_words_that_both_share(here: Here) -> None:
    twin, near = shown(here)["near"]
    assert twin == IsPartialDict(conversationId=TWIN, score=1.0, foundBy="words", title=KETTLE[0])
    assert (near["conversationId"], near["sharedWords"][0]) == (NEAR, "kettle")
    assert 0.05 < near["score"] < 0.6
    assert not {"how", "the", "as"} & set(near["sharedWords"])


def test_a_pipe_gets_a_line_for_each(here: Here) -> None:
    assert here("related", ONE).out.splitlines()[0].startswith(f"{TWIN}\t\t1.00\twords\t")


def test_one_to_which_none_is_near_is_said_and_fails(here: Here) -> None:
    assert here("related", FAR) == here("related", FAR, "--words")
    none = here("related", FAR)
    assert (none.code, none.out, none.err) == (1, "", "No conversation is near this one.\n")


def test_what_is_kept_is_shown_from_both_sides_with_its_score_and_is_not_proposed_again(here: Here, home: Home) -> None:
    assert here("related", ONE, "--keep", TWIN, "--as", "duplicate").out == f"{TWIN} is kept as duplicate of {ONE}.\n"
    assert home.stored(ONE)["related"] == [{"conversationId": TWIN, "type": "duplicate", "score": 1.0}]
    found = shown(here)
    assert found["related"] == [IsPartialDict(conversationId=TWIN, type="duplicate", score=1.0)]
    assert [near["conversationId"] for near in found["near"]] == [NEAR]
    assert shown(here, TWIN)["related"] == [IsPartialDict(conversationId=ONE, type="duplicate", isNamedThere=True)]
    assert "related" not in home.stored(TWIN)


def test_a_follow_up_is_followed_from_the_other_side(here: Here) -> None:
    here("related", ONE, "--keep", NEAR, "--as", "follow_up")
    assert here("related", ONE).out.split("\t")[1] == "follow-up"
    assert here("related", NEAR).out.split("\t")[1] == "this one follows it"


def test_keeping_another_type_replaces_the_first(here: Here, home: Home) -> None:
    here("related", ONE, "--keep", NEAR, "--as", "duplicate")
    here("related", ONE, "--keep", NEAR)
    assert [each["type"] for each in home.stored(ONE)["related"]] == ["related"]


@pytest.mark.parametrize("sides", [(ONE, TWIN), (TWIN, ONE)])
def test_what_is_forgotten_is_not_kept_any_more_whichever_side_named_the_other(
    here: Here, home: Home, sides: tuple[str, str]
) -> None:
    here("related", ONE, "--keep", TWIN)
    assert here("related", sides[0], "--forget", sides[1]).code == 0
    assert "related" not in home.stored(ONE)
    again = here("related", sides[0], "--forget", sides[1])
    assert (again.code, "nobody has confirmed" in again.err) == (2, True)


def test_a_conversation_that_was_deleted_is_shown_as_gone_and_can_be_forgotten(here: Here, home: Home) -> None:
    here("related", ONE, "--keep", TWIN)
    assert here("delete", TWIN).code == 0
    assert shown(here)["related"] == [IsPartialDict(conversationId=TWIN, isGone=True)]
    assert here("show", ONE).code == here("verify").code == 0
    assert here("related", ONE, "--forget", TWIN).code == 0
    assert "related" not in home.stored(ONE)


def test_names_that_are_no_ids_are_shown_and_break_nothing(here: Here, home: Home) -> None:
    home.edit(ONE, related=[{"conversationId": "../etc", "type": "sequel", "note": 1}])
    assert shown(here)["related"] == [{"conversationId": "../etc", "type": "sequel", "isGone": True}]
    here("related", ONE, "--keep", TWIN)
    assert home.stored(ONE)["related"][0] == {"conversationId": "../etc", "type": "sequel", "note": 1}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((ONE, "--keep", ONE), "cannot be related to itself"),
        ((ONE, "--keep", GONE), GONE),
        ((GONE,), GONE),
        ((ONE, "--keep", TWIN, "--forget", TWIN), "cannot be combined"),
        ((ONE, "--as", "duplicate"), "--keep"),
    ],
)
def test_what_cannot_be_is_refused(here: Here, arguments: tuple[str, ...], said: str) -> None:
    refused = here("related", *arguments)
    assert (bool(refused.code), refused.out, said in refused.err) == (True, "", True)


def test_archived_ones_are_not_near(here: Here) -> None:
    here("archive", TWIN)
    assert [near["conversationId"] for near in shown(here)["near"]] == [NEAR]


RELATED = [{"conversationId": id_of(2), "type": "follow_up"}, {"conversationId": id_of(3), "type": "duplicate"}]


def test_every_page_for_people_names_what_belongs_with_a_conversation() -> None:
    one = conversation(1, *KETTLE, related=RELATED)
    line = f"Belongs with {id_of(2)} (follow-up), {id_of(3)} (duplicate)"
    page = history_page(one, "/c", limit=10, max_chars=1_000)
    assert [each.type for each in page.related or ()] == ["follow_up", "duplicate"]
    for text in (markdown(one), HTML.render(one, {}), render_history(page)):
        assert line in text


def test_a_branch_belongs_with_nothing_yet_and_a_merge_with_what_its_originals_follow() -> None:
    one, two = conversation(1, *KETTLE, related=RELATED), conversation(4, *TOPICS[4])
    assert branched(one, 2, ConversationId(id_of(7))).related is None
    kept = merged([one, two], ConversationId(id_of(7))).related or ()
    assert [each.conversation_id for each in kept] == [id_of(2)]
    assert merged([one, conversation(2, *KETTLE)], ConversationId(id_of(7))).related is None


class Meant:
    """Conversations with a model."""

    def __init__(self, url: str) -> None:
        self.shelf = Numbered(open_store(url, Clock(MUCH_LATER), is_durable=False))
        self.shelf.put(0, "hound barks", "hound bites")
        self.shelf.put(1, "hound hound walks", "hound eats")
        for number in range(2, 20):
            self.shelf.put(number, f"topic{number} of{number}", f"nothing{number} else{number}")
        turns = there(self.shelf.finder.turns)
        self.meaning, self.source = Meaning(turns.vectors, OneEmbedder(WordModel())), turns.source

    def make(self) -> None:
        for _ in self.meaning.steps(self.source):
            pass

    def near(self, number: int) -> Vicinity:
        return near_conversations(self.shelf.finder, ConversationId(id_of(number)), 10, self.meaning, Headway())


def test_what_is_near_in_meaning_is_found_by_the_vectors_that_there_are_and_nothing_is_sent(meant_url: str) -> None:
    meant = Meant(meant_url)
    meant.make()
    near = meant.near(0)
    assert [(each.facts.conversation_id, each.found_by) for each in near.found] == [(id_of(1), "both")]
    assert near.notice is None
    alone = near_conversations(meant.shelf.finder, ConversationId(id_of(0)), 10, None, Headway())
    assert near.found[0].score > alone.found[0].score * 0.6


def test_before_there_are_vectors_words_alone_are_compared_and_that_is_said(meant_url: str) -> None:
    meant = Meant(meant_url)
    early = meant.near(0)
    assert ([each.found_by for each in early.found], "still being made" in (early.notice or "")) == (["words"], True)
    meant.make()
    meant.shelf.put(50, "hound sleeps", "hound dreams")
    assert meant.near(50).notice == UNMADE


def test_a_long_conversation_is_compared_by_some_of_its_turns(meant_url: str) -> None:
    meant = Meant(meant_url)
    meant.shelf.put(60, *(f"hound barks{number}" for number in range(100)))
    meant.make()
    assert {each.facts.conversation_id for each in meant.near(60).found} == {id_of(0), id_of(1)}
