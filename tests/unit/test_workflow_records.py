"""Steps are a part of their conversation: shown, exported, branched, merged, found and redacted with it."""

import json
from typing import Any

from conversation_mcp.conversations.branches import branched
from conversation_mcp.conversations.history import history_page
from conversation_mcp.conversations.markdown import markdown
from conversation_mcp.conversations.merges import merged
from conversation_mcp.conversations.sections import sections
from conversation_mcp.exporting.html.page import render as html
from conversation_mcp.exporting.markdown import render as exported
from conversation_mcp.exporting.redaction import redacted
from conversation_mcp.records.codec import decode
from conversation_mcp.records.facts import describe
from conversation_mcp.records.models import Conversation, ConversationId
from conversation_mcp.tooling.rendering.history import render_history

ID, OTHER = ConversationId("20260131-1769817600000"), ConversationId("20260131-1769817600001")
TIME = "2026-01-31T00:00:0{}.000Z"


def step(number: int, after: int, **facts: Any) -> dict[str, Any]:
    return {
        "workflow": "debug", "run": 1, "stepNumber": number, "totalSteps": 3, "next": number < 3, "step": f"Look {number}.",
        "findings": f"Seen {number}.", "afterMessage": after, "createdAt": TIME.format(number), **facts,
    }  # fmt: skip


def conversation(**facts: Any) -> bytes:
    data = {
        "conversationId": ID, "createdAt": TIME.format(0), "updatedAt": TIME.format(9), "messageCount": 4,
        "workflowSteps": [
            step(1, 2, files=["/home/me/a.py"], issues=[{"severity": "high", "description": "It <b>leaks</b>"}]),
            step(2, 2, hypothesis="A loop.", confidence="high", revises=1, branch="b", branchFrom=1),
            step(3, 2, validation={"asked": True, "messageNumber": 4, "outcome": "needs_files", "needs": ["b.py"]}),
        ],
        "messages": [
            {"role": role, "content": f"{role} {number}"} for number, role in enumerate(["user", "assistant"] * 2, 1)
        ],
    }  # fmt: skip
    return json.dumps({**data, **facts}).encode()


def read(**facts: Any) -> Conversation:
    return decode(conversation(**facts), "conversation.json", ID)


def test_steps_stand_between_the_messages_where_they_were_taken() -> None:
    kinds = [section.kind for section in sections(read())]
    assert kinds == ["question", "answer", "step", "step", "step", "question", "answer"]


def test_a_failed_validation_stands_after_its_step() -> None:
    failed = {"question": "Judge it.", "status": "failed", "startedAt": TIME.format(4), "afterMessage": 2}
    earlier = {**failed, "startedAt": "2026-01-31T00:00:00.500Z"}
    kinds = [section.kind for section in sections(read(unansweredTurns=[earlier, failed]))][2:7]
    assert kinds == ["unanswered", "step", "step", "step", "unanswered"]


def test_pages_show_the_whole_step() -> None:
    for page in (markdown(read()), exported(read()), html(read())):
        assert "debug, step 2 of 3" in page
        for part in ("Seen 1.", "Issue, high", "Hypothesis: A loop.", "Confidence: high", "Replaces step 1"):
            assert part in page
        assert "Validation: message 4" in page
    assert "<b>leaks" not in html(read())
    assert "step 2 of 3** · #" not in markdown(read())


def test_a_conversation_without_steps_is_shown_without_them() -> None:
    bare = read(workflowSteps=None)
    assert "step" not in exported(bare)
    assert "step" not in html(bare).split("</style>")[1]


def test_the_history_has_the_steps_of_its_page_in_their_place() -> None:
    page = history_page(read(), "/c.json", limit=100, max_chars=10_000)
    assert [step.step_number for step in page.workflow_steps or ()] == [1, 2, 3]
    text = render_history(page)
    assert text.index("assistant 2") < text.index("Seen 1.") < text.index("Seen 3.") < text.index("user 3")
    late = history_page(read(), "/c.json", limit=1, max_chars=10_000)
    assert late.workflow_steps is None


def test_steps_that_do_not_fit_into_a_history_are_counted() -> None:
    page = history_page(read(), "/c.json", limit=100, max_chars=160)
    shown = len(page.workflow_steps or ())
    assert shown < 3
    assert any(f"{3 - shown} workflow step" in notice for notice in page.notices or ())


def test_a_branch_has_the_steps_before_its_last_message() -> None:
    original = read(workflowSteps=[step(1, 0), step(2, 1, validation={"asked": True, "messageNumber": 4}), step(3, 2)])
    early = branched(original, 2, OTHER)
    assert [each.step_number for each in early.workflow_steps or ()] == [1, 2]
    assert [each.validation for each in early.workflow_steps or ()] == [None, None]
    assert branched(original, 4, OTHER).workflow_steps == original.workflow_steps


def test_a_branch_without_steps_has_no_such_field() -> None:
    assert "workflowSteps" not in branched(read(), 2, OTHER).data()


def test_a_merge_counts_runs_and_messages_on() -> None:
    other = read().changed(conversation_id=OTHER)
    steps = merged([read(), other], ConversationId("20260131-1769817600002")).workflow_steps or ()
    assert [(each.run, each.after_message) for each in steps] == [(1, 2)] * 3 + [(2, 6)] * 3
    assert [each.validation.message_number for each in steps if each.validation] == [4, 8]


def test_the_words_of_steps_are_found() -> None:
    texts = describe(conversation(), "conversation.json", ID).texts
    assert all(words in texts[0] for words in ("Seen 2.", "A loop.", "leaks"))


def test_paths_of_steps_are_redacted() -> None:
    shown, _ = redacted(read(workflowSteps=[step(1, 2, files=["odd/place.py"], checked=["C:\\x.py"])]))
    assert [(each.files, each.checked) for each in shown.workflow_steps or ()] == [(("[path]",), ("[path]",))]
