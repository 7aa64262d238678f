"""What a record takes, every reader bears; what it does not take is refused by all of them alike."""

import json
from datetime import UTC, datetime
from io import StringIO
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from rich.console import Console
from tests.fixtures.cli import Here, on_terminal, put_conversation
from tests.fixtures.hostile import LAST_TIMES, ODD_TEXTS, PENDING, SOURCE, TURN, WHOLE, files, replaced
from tests.fixtures.providers import FakeProvider
from tests.fixtures.sent import messages_to_send
from tests.fixtures.serving import data_of, error_of, serving

from conversation_mcp.cli.output.rows import row_data, table_of
from conversation_mcp.conversations.history import history_page
from conversation_mcp.conversations.markdown import markdown
from conversation_mcp.conversations.order import order_problems
from conversation_mcp.conversations.prices import Prices
from conversation_mcp.conversations.statistics import turns_of
from conversation_mcp.errors import ConversationCorruptedError
from conversation_mcp.exporting.catalog import EXPORT_FORMATS, export_format
from conversation_mcp.providers.model_facts import Catalogue
from conversation_mcp.records import shapes
from conversation_mcp.records.codec import decode, settle
from conversation_mcp.records.costs import cost_of, total_cost
from conversation_mcp.records.facts import describe
from conversation_mcp.records.found import Listed
from conversation_mcp.records.ids import id_at
from conversation_mcp.records.imported import Imported
from conversation_mcp.records.memories import Memory
from conversation_mcp.records.models import Conversation, Message, PendingTurn, Record, Source, TurnError
from conversation_mcp.records.plain import read_data
from conversation_mcp.records.relations import Relation
from conversation_mcp.records.side_calls import Extraction, Summary
from conversation_mcp.records.usage import Usage
from conversation_mcp.records.workflow_steps import WorkflowStep
from conversation_mcp.tooling.rendering.history import render_history

PRICES = Prices(Catalogue({}).load())
ID = id_at(1769817600123)
LISTED: dict[str, type[Record]] = {
    "related": Relation, "memories": Memory, "summaries": Summary, "extractions": Extraction,
    "workflowSteps": WorkflowStep,
}  # fmt: skip
WRITTEN = [odd for odd in ODD_TEXTS if odd.isascii()]


def taken(body: bytes) -> Conversation | None:
    try:
        return decode(body, "c.json", ID)
    except ConversationCorruptedError:
        return None


def as_json(data: object) -> str:
    return json.dumps(data, allow_nan=False)


def fields_of(record: type[Record]) -> set[str]:
    return {field.alias or name for name, field in record.model_fields.items()}


def test_the_whole_conversation_has_every_field_and_the_quick_reader_takes_it() -> None:
    question, answer = WHOLE["messages"]
    assert fields_of(Conversation) <= WHOLE.keys()
    assert fields_of(PendingTurn) <= PENDING.keys()
    assert fields_of(Message) <= question.keys() | answer.keys()
    assert fields_of(Source) <= SOURCE.keys()
    assert fields_of(Usage) <= TURN["usage"].keys()
    assert fields_of(Imported) <= WHOLE["imported"].keys()
    assert fields_of(TurnError) <= PENDING["error"].keys()
    for name, record in LISTED.items():
        assert fields_of(record) <= WHOLE[name][0].keys()
    assert shapes.CONVERSATION(WHOLE)


@pytest.mark.parametrize("odd", ["7", "true", '"x"', "[]", '{"a": 1}', "null"])
def test_the_quick_reader_takes_no_field_that_the_codec_refuses(odd: str) -> None:
    """A field that only the records know would pass for a note here."""
    for body in replaced(odd):
        assert taken(body) or not shapes.CONVERSATION(json.loads(body))


def test_of_two_equal_names_the_last_counts_for_every_reader() -> None:
    body = json.dumps(WHOLE).replace('{"perplexity": "outside"}', '{"perplexity": null, "perplexity": "outside"}')
    conversation = taken(body.encode())
    assert conversation is not None
    assert conversation.messages[1].sent_to == {"perplexity": "outside"}
    assert shapes.CONVERSATION(json.loads(body))


@given(files())
def test_the_quick_reader_judges_as_the_codec_does(body: bytes) -> None:
    conversation = taken(body)
    if conversation is None:
        with pytest.raises(ConversationCorruptedError):
            read_data(body, "c.json", ID)
        with pytest.raises(ConversationCorruptedError):
            describe(body, "c.json", ID)
    else:
        described = describe(body, "c.json", ID)
        written = describe(settle(conversation)[1], "c.json", ID)
        assert written._replace(facts=written.facts._replace(size_bytes=len(body))) == described


@given(files())
def test_every_reader_bears_what_the_codec_takes(body: bytes) -> None:
    conversation = taken(body)
    if conversation is None:
        return
    shown(describe(body, "c.json", ID).facts)
    as_json([turn._asdict() | {"day": turn.key("day", ID)} for turn in turns_of(conversation.data(), PRICES)])
    cost = total_cost(conversation.data())
    as_json(cost)
    assert cost_of(conversation) == (None if cost is None else pytest.approx(cost))
    markdown(conversation).encode()
    page = history_page(conversation, "c.json", limit=9, with_system_prompt=True, max_chars=999)
    render_history(page).encode()
    as_json(page.data())
    for name in EXPORT_FORMATS:
        export_format(name).render(conversation).encode()
    list(order_problems(conversation))
    messages_to_send(conversation, "And then?")


@given(files())
def test_what_the_codec_takes_it_writes_and_takes_again(body: bytes) -> None:
    conversation = taken(body)
    if conversation is not None:
        settled, written = settle(conversation)
        assert decode(written, "c.json", ID) == settled
        json.loads(written, parse_constant=pytest.fail)


GOOD, BAD = id_at(1769817600456), [id_at(1769817600456 + number) for number in range(1, 5)]
PAID = {"role": "assistant", "content": "Paid.", "createdAt": "2026-01-31T00:00:00Z"}


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Here:
    put_conversation(tmp_path, GOOD)
    put_conversation(tmp_path, BAD[0], messages=[{**PAID, "usage": {"costUsd": 1e308}}] * 2)
    put_conversation(tmp_path, BAD[1], messages=[{**PAID, "usage": {"inputTokens": -(10**30)}}])
    put_conversation(tmp_path, BAD[2], messages=[{**PAID, "sources": [{"id": "one"}]}])
    put_conversation(tmp_path, BAD[3], note=float("inf"))
    return Here(capsys, monkeypatch, tmp_path)


@pytest.mark.parametrize(
    "command",
    [
        ["list"],
        ["list", "--json"],
        ["list", "--archived", "--json"],
        ["list", "--limit=9"],
        ["search", "b-tree"],
        ["search", "b-tree", "--json"],
        *(["stats", "--by", by, *as_json] for by in ("day", "model") for as_json in ([], ["--json"])),
    ],
    ids=" ".join,
)
def test_a_value_out_of_bounds_is_the_error_of_that_conversation_alone(here: Here, command: list[str]) -> None:
    ended = here(*command)
    assert ended.code == 0
    assert "4 conversations that cannot be read were skipped: " in ended.err
    if "--json" in command:
        assert json.loads(ended.out)["unreadableCount"] == 4
    else:
        assert not any(bad in ended.out for bad in BAD)


@pytest.mark.parametrize("command", [["show"], ["show", "--json"], ["export"]], ids=" ".join)
def test_what_is_asked_about_one_of_them_is_its_error(here: Here, command: list[str]) -> None:
    for number, sentence in enumerate(
        (
            "messages[0].usage.costUsd must be at most 1,000,000,000",
            "messages[0].usage.inputTokens must be at least -1,000,000,000,000",
            "messages[0].sources[0].id must be a whole number",
            "is not valid JSON at line ",
        )
    ):
        ended = here(*command, BAD[number])
        assert ended.code == 1
        assert sentence in ended.out + ended.err


@pytest.mark.slow
def test_times_at_the_ends_of_the_calendar_are_shown_in_any_zone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for number, time in enumerate(LAST_TIMES):
        put_conversation(tmp_path, id_at(1769817600456 + number), createdAt=time, updatedAt=time)
    here = Here(capsys, monkeypatch, tmp_path)
    days = [row["day"] for row in json.loads(here("stats", "--json").out)["rows"]]
    assert (len(days), here("list").out.count("\n")) == (1, len(LAST_TIMES))
    assert json.loads(here("list", "--after", LAST_TIMES[0], "--json").out)["unreadableCount"] == 0
    assert here("search", "b-tree").out.count("\n") == len(LAST_TIMES)
    for zone in ("Pacific/Kiritimati", "Etc/GMT+12"):
        screen = on_terminal(tmp_path, "list", TZ=zone).out
        assert "9999-12-31" in screen
        assert "1-01-01" in screen


@pytest.mark.slow
async def test_the_server_goes_on_with_what_the_codec_takes_and_refuses_the_rest(tmp_path: Path) -> None:
    bodies = [next(islice(replaced(odd), number % 90, None)) for number, odd in enumerate(WRITTEN)]
    by_id = {id_at(1769817600456 + number): body for number, body in enumerate(bodies)}
    for conversation_id, body in by_id.items():
        path = tmp_path / "conversation-logs" / conversation_id / "conversation.json"
        path.parent.mkdir(parents=True)
        path.write_bytes(body)
    async with serving(tmp_path, FakeProvider(), tools=("research", "manage"), sharing="always") as client:
        listed = data_of(await client.call_tool("list_conversations", {"limit": 100}))
        for conversation_id, body in by_id.items():
            expected = None if taken(body) else "CONVERSATION_CORRUPTED"
            for tool, arguments in (
                ("get_conversation_history", {}),
                ("search_followup", {"query": "Next?"}),
                ("branch_conversation", {"messageNumber": 2}),
                ("export_conversation", {"format": "html"}),
                ("update_conversation", {"title": "Trees"}),
            ):
                result = await client.call_tool(tool, {"conversationId": conversation_id, **arguments})
                code = error_of(result)["code"] if result.is_error else None
                assert code == expected, (tool, body[:2000])
    assert listed["unreadableCount"] == sum(taken(body) is None for body in bodies)
    left = [(tmp_path / "conversation-logs" / name / "conversation.json").read_bytes() for name in by_id]
    assert all(after == body for after, body in zip(left, bodies, strict=True) if taken(body) is None)


def shown(facts: Listed) -> None:
    as_json(row_data(facts, "conversation.json"))
    for zone in (datetime.min.replace(tzinfo=UTC), datetime(2026, 1, 31, tzinfo=UTC)):
        table = table_of([facts], 120, zone, has_header=True, last_id=None)
        Console(file=StringIO(), width=120).print(table)
