"""The commands, one after the other as a person types them, on every store."""

import io
import json
import sys
from collections.abc import Iterator

import anyio
import pytest
from dirty_equals import IsPartialDict, IsStr
from inline_snapshot import snapshot
from tests.fixtures.agent import KEY, LoopbackAgent
from tests.fixtures.attached import NEW, OLD, stored_with_files
from tests.fixtures.cli import Here, anonymous, answered
from tests.fixtures.folders import ID, abandoned
from tests.fixtures.homes import Home

from conversation_mcp.clock import utc_now
from conversation_mcp.stores.catalog import open_store

OTHER, THIRD = "20260201-1769904000000", "20260202-1769990400000"


@pytest.fixture
def agent() -> Iterator[LoopbackAgent]:
    with LoopbackAgent() as agent:
        yield agent


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, home: Home, agent: LoopbackAgent) -> Here:
    monkeypatch.setenv("PERPLEXITY_API_KEY", KEY)
    monkeypatch.setenv("PERPLEXITY_BASE_URL", agent.base_url)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    monkeypatch.chdir(home.folder)
    return Here(capsys, monkeypatch, home)


def done(here: Here, *arguments: str) -> str:
    """Return what a command printed that did what was asked."""
    ended = here(*arguments)
    assert ended.code == 0, ended.err
    return ended.out


def test_questions_make_a_conversation_that_every_command_knows(here: Here, home: Home) -> None:
    done(here, "ask", "What is a B-tree?")
    done(here, "ask", "-c", "last", "And its deletions?")
    done(here, "ask", "--deep", "-c", "/b-tree", "In depth?")
    (conversation_id,) = home.ids()
    asked = [message["content"] for message in home.only()["messages"] if message["role"] == "user"]
    assert asked == ["What is a B-tree?", "And its deletions?", "In depth?"]
    assert done(here, "list").split("\t")[::5] == [conversation_id, "What is a B-tree?"]
    assert done(here, "list", "--tool", "deep_research_followup").startswith(conversation_id)
    assert done(here, "list", "--largest") == done(here, "list")
    assert done(here, "search", "deletion").endswith("\t4\tAnd its deletions?\n")
    assert done(here, "show", "last", "--json").encode() == home.body(conversation_id)
    assert "In depth?" in done(here, "show", conversation_id[:12])
    assert done(here, "list", "--paths") == done(here, "show", "last", "--paths")
    assert done(here, "stats", "--by", "tool").count("\t1\t0\t") == 3
    assert "1 conversation in " in done(here, "verify")


def test_what_is_put_in_order_is_so_for_the_next_command(here: Here, home: Home) -> None:
    home.put(answered(ID))
    home.put(answered(OTHER, title="Stars", updatedAt="2026-02-01T00:00:00.000Z"))
    done(here, "rename", ID, "Trees")
    done(here, "tag", "last", "green")
    assert done(here, "list", "--tag", "Green").startswith(ID)
    branch = done(here, "branch", ID, "3").split()[0]
    merge = done(here, "merge", ID, OTHER).split()[0]
    assert home.stored(branch)["parent"]["conversationId"] == ID
    assert [parent["conversationId"] for parent in home.stored(merge)["parents"]] == [ID, OTHER]
    done(here, "archive", "/stars")
    assert done(here, "list", "--archived").startswith(OTHER)
    done(here, "delete", ID, branch, merge)
    assert done(here, "list") == ""
    assert done(here, "stats", "--by", "conversation").count("\n") == 2  # a branch costs nothing again
    done(here, "trash", "restore", ID)
    assert done(here, "list").split("\t")[::5] == [ID, "Trees"]
    done(here, "trash", "empty", "--yes")
    assert (done(here, "trash"), home.ids()) == ("", [ID, OTHER])


def test_what_was_exported_comes_in_again_but_not_what_was_deleted(here: Here, home: Home) -> None:
    for conversation_id in (ID, OTHER):
        home.put(answered(conversation_id, title=conversation_id))
    done(here, "export", "--all", "--format", "json", "--output", "all.json")
    assert done(here, "export", "--query", "b-tree", "--format", "jsonl").count("\n") == 2
    before = home.body(ID)
    done(here, "delete", ID, OTHER)
    done(here, "trash", "empty", OTHER, "--yes")
    again = json.loads(done(here, "import", "all.json", "--json"))
    assert again["conversations"] == IsPartialDict(imported=0, deleted=2)
    assert done(here, "list") == ""
    assert "2  imported" in done(here, "import", "all.json", "--deleted")
    assert home.ids() == [ID, OTHER]
    assert home.body(ID) == before


def test_files_of_a_conversation_go_wherever_it_goes(here: Here, home: Home) -> None:
    store = open_store(home.store_url, utc_now, is_durable=False)
    original = anyio.run(stored_with_files, store)
    listed = done(here, "files", original)
    branch = done(here, "branch", original, "4").split()[0]
    assert done(here, "files", branch) == listed
    done(here, "delete", original)
    done(here, "trash", "restore", original)
    done(here, "files", original, "--restore", "out")
    assert {path.read_bytes() for path in (home.folder / "out").rglob("*.py")} == {OLD, NEW}
    done(here, "export", "--all", "--format", "json", "--output", "all.json")
    done(here, "delete", original, branch, "--for-good", "--yes")
    done(here, "import", "all.json", "--deleted")
    assert done(here, "files", original) == done(here, "files", branch) == listed
    assert "content" not in done(here, "verify")


def test_what_was_left_alone_for_long_is_archived_and_then_in_the_trash(here: Here, home: Home) -> None:
    home.put(answered(ID, title="Old"))
    home.put(answered(OTHER, tags=["keep"]))
    home.put(answered(THIRD, updatedAt="2999-01-01T00:00:00.000Z"))
    assert done(here, "prune", "--older-than", "90d") == f"trash\t{ID}\t2026-01-31T00:00:00.000Z\tOld\n"
    assert len(home.ids()) == 3
    done(here, "prune", "--older-than", "90d", "--apply")
    assert home.ids() == [OTHER, THIRD]
    assert done(here, "trash").startswith(ID)


def test_a_question_of_a_dead_process_is_named_and_settled(here: Here, home: Home) -> None:
    home.put(abandoned(partialText="half an ans"))
    assert done(here, "list").split("\t")[4] == "interrupted"
    assert anonymous(done(here, "verify").splitlines()[0]) == snapshot(
        "  warn  20260131-1769817600000: a question was interrupted; ask again, or ask another"
    )
    resumed = here("resume")
    assert (resumed.code, resumed.out) == (1, f"{ID}  interrupted: two?; what was billed is not known\n")
    assert here("cancel", "last").err == IsStr(regex="VALIDATION_ERROR: no question of .* is being answered.\n")
    done(here, "ask", "-m", "perplexity", "-c", "last", "three?")
    assert [turn["question"] for turn in home.only()["unansweredTurns"]] == ["two?"]


def test_a_days_limit_counts_what_every_command_spent(
    here: Here, monkeypatch: pytest.MonkeyPatch, agent: LoopbackAgent
) -> None:
    monkeypatch.setenv("CONVERSATION_MCP_MAX_COST_USD_PER_DAY", "0.004")
    done(here, "ask", "one?")
    done(here, "delete", "last")
    done(here, "ask", "two?")
    refused = here("ask", "three?")
    assert (refused.code, refused.out) == (1, "")
    assert refused.err.startswith("BUDGET_REACHED: ")
    assert agent.creates == 2


def test_the_shell_completes_ids(here: Here, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.put(answered(ID, title="Trees"))
    monkeypatch.setenv("_CONVERSATION_MCP_COMPLETE", "complete_zsh")
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", "conversation-mcp show 2026")
    assert "Trees" in here().out
