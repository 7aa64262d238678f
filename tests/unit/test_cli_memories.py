"""The commands that keep, find and forget memories, in every store."""

import json

from tests.fixtures.cli import Here
from tests.fixtures.homes import Home

FOX = "the fox eats plums"


def keep(here: Here, text: str, *options: str) -> tuple[str, str]:
    kept = json.loads(here("remember", text, "--json", *options).out)
    return kept["memoryId"], kept["conversationId"]


def contents(here: Here, *arguments: str) -> list[str]:
    return [each["content"] for each in json.loads(here("memories", "--json", *arguments).out)["results"]]


def test_what_is_remembered_is_listed_newest_first_and_found_by_its_words(here: Here) -> None:
    keep(here, FOX)
    keep(here, "the okapi eats leaves")
    assert contents(here) == ["the okapi eats leaves", FOX]
    assert contents(here, "plums") == [FOX]
    assert contents(here, "-n", "1") == ["the okapi eats leaves"]


def test_memories_are_narrowed_to_a_conversation_and_a_tag(here: Here) -> None:
    _, conversation = keep(here, FOX, "--tag", "food")
    keep(here, "the okapi eats leaves", "--tag", "food")
    keep(here, "the fox sleeps", "--conversation", conversation)
    assert contents(here, "--conversation", conversation) == ["the fox sleeps", FOX]
    assert contents(here, "--conversation", conversation, "--tag", "food") == [FOX]


def test_the_very_same_text_is_not_kept_twice_and_that_is_said(here: Here) -> None:
    first, conversation = keep(here, FOX)
    again = here("remember", FOX, "--conversation", conversation)
    assert again.code == 0
    assert first in again.out
    assert contents(here) == [FOX]


def test_a_pipe_gets_a_line_for_each_memory_with_its_place(here: Here) -> None:
    memory, conversation = keep(here, FOX)
    [line] = here("memories").out.splitlines()
    fields = line.split("\t")
    assert (fields[0], fields[1], fields[3]) == (memory, conversation, FOX)


def test_what_is_forgotten_leaves_every_branch_that_has_it_and_no_word_in_any(here: Here, home: Home) -> None:
    memory, conversation = keep(here, FOX)
    data = home.stored(conversation)
    branches = ["20260131-1769817600001", "20260131-1769817600002"]
    for branch in branches:
        home.put({**data, "conversationId": branch})
    forgotten = here("forget", memory)
    assert (forgotten.code, forgotten.out) == (0, f"{memory} is forgotten.\n")
    assert contents(here) == []
    assert all("plums" not in json.dumps(home.stored(each)) for each in (conversation, *branches))


def test_a_memory_that_nobody_has_is_said_to_be_missing(here: Here) -> None:
    keep(here, FOX)
    missing = here("forget", "mem-unknown")
    assert missing.code == 2
    assert "there is no memory 'mem-unknown'; conversation-mcp memories shows them" in missing.err
    assert contents(here) == [FOX]
