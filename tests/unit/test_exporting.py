"""Markdown that cannot break its page, HTML that cannot do anything, and what redaction takes out."""

from typing import Any

import pytest
from dirty_equals import IsPartialDict
from hypothesis import given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot
from markdown_it import MarkdownIt
from tests.fixtures.conversations import ANSWERS, conversations
from tests.fixtures.pages import conversation_of

from conversation_mcp.conversations.sections import Sections, sections
from conversation_mcp.exporting.catalog import export_format
from conversation_mcp.exporting.headings import nested
from conversation_mcp.exporting.html.markdown import SafeMarkdown
from conversation_mcp.exporting.redaction import redacted
from conversation_mcp.records.models import Conversation


def test_markdown_becomes_the_page_that_its_writer_meant() -> None:
    text = "# A *title*\n\n| a | b |\n|--:|---|\n| 1 | ~~2~~ |\n\nSee [1], [2](https://example.org/two) and `[1]`.\n"
    assert SafeMarkdown().rendered(text, "m3", [1, 2], 2).html == snapshot("""\
<h3>A <em>title</em></h3>
<table>
<thead>
<tr>
<th class="right">a</th>
<th>b</th>
</tr>
</thead>
<tbody>
<tr>
<td class="right">1</td>
<td><s>2</s></td>
</tr>
</tbody>
</table>
<p>See <a class="cite" id="m3-1-c" href="#m3-1">[1]</a>, <a href="https://example.org/two" rel="noopener noreferrer nofollow" target="_blank">2</a> and <code>[1]</code>.</p>
""")


@settings(max_examples=50, deadline=None)
@given(text=ANSWERS)
def test_nothing_in_a_text_is_a_heading_of_ours_or_runs_into_what_follows(text: str) -> None:
    page = f"## Answer 1\n\n{nested(text, 2)}\n\n## Question 2\n\nEnd.\n"
    tokens = MarkdownIt("commonmark").parse(page)
    headings = [
        (token.tag, tokens[place + 1].content)
        for place, token in enumerate(tokens)
        if token.type == "heading_open" and token.level == 0
    ]
    assert [heading for heading in headings if heading[0] in {"h1", "h2"}] == [("h2", "Answer 1"), ("h2", "Question 2")]
    assert tokens[-2].content == "End."


def test_headings_go_deeper_and_open_blocks_are_closed() -> None:
    text = "# One\n\nTwo\nlines\n---\n\n###### Deep\n\n    # code\n\n> # quoted\n\n<!-- open\n\n~~~py\n# comment"
    assert nested(text, 2) == snapshot("""\
### One

#### Two lines

###### Deep

    # code

> # quoted

\\<!-- open

~~~py
# comment
~~~\
""")
    assert nested("a `b` # c", 2) == "a `b` # c"


def test_a_page_of_markdown_has_the_facts_in_front_and_every_message_under_a_heading() -> None:
    conversation = conversation_of(
        [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "What is a\nB-tree?", "tool": "search"},
            {
                "role": "assistant",
                "content": "# A tree [1]\n\n```\n## no heading\n```",
                "model": "m*1",
                "reasoning": "Think.\n\n# Hard",
                "usage": {"costUsd": 0.0031},
                "sources": [
                    {"id": 1, "title": "B [tree] *x*", "url": "https://example.org/a>b", "date": "2026-01-01"},
                    {"id": 2, "path": "/notes/a_b.md", "startLine": 3, "title": "Notes"},
                ],
            },
        ],
        pendingTurn={
            "question": "And then?",
            "status": "failed",
            "error": {"code": "PROVIDER_QUOTA", "message": "no credit."},
        },
        imported={"from": "chatgpt", "id": "1"},
    )
    assert export_format("markdown").render(conversation) == snapshot("""\
---
title: "What is a B-tree?"
conversationId: "20260131-1769817600000"
createdAt: "2026-01-31T00:00:00.000Z"
updatedAt: "2026-01-31T00:00:00.000Z"
answers: 1
models: ["m*1"]
costUsd: 0.0031
importedFrom: "chatgpt"
---

# What is a B-tree?

## System message

Be brief.

## Question 1

*search*

What is a
B-tree?

## Answer 1

*m\\*1 · $0.0031*

### A tree [1]

```
## no heading
```

Sources:

- \\[1\\] [B \\[tree\\] \\*x\\*](<https://example.org/a%3Eb>) (2026-01-01)
- \\[2\\] Notes, /notes/a\\_b.md:3

Reasoning:

> Think.
>
> ### Hard

## Question without an answer: failed

And then?

Notices:

- PROVIDER\\_QUOTA: no credit.
""")


def test_a_line_of_messages_has_the_answered_turns_only() -> None:
    conversation = conversation_of(
        [
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": "one?"},
            {"role": "user", "content": "or two?"},
            {"role": "tool", "content": "5"},
            {"role": "assistant", "content": "<think>hm</think>One.", "reasoning": "secret"},
            {"role": "user", "content": "and?"},
        ],
        pendingTurn={"question": "three?", "status": "running"},
    )
    assert export_format("jsonl").render(conversation) == snapshot(
        '{"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "one?\\n\\nor two?"}, {"role": "assistant", "content": "<think>hm</think>One."}]}\n'
    )


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("see /home/me/notes/a.md:3 and ~/b", "see [path] and [path]"),
        (r"C:\Users\me\x.txt or \\host\share\x", "[path] or [path]"),
        ("file:///home/me/a.md", "[path]"),
        ("https://example.org/home/me and a/b and 1/2 and /", "https://example.org/home/me and a/b and 1/2 and /"),
        ("key pplx-0123456789abcdefghij!", "key [key]!"),
        ("sk-proj-abcdefghijklmnop0123 ghp_abcdefghijklmnop0123", "[key] [key]"),
        ("AKIAABCDEFGHIJKLMNOP, Authorization: Bearer abc.def-123456", "[key], Authorization: Bearer [key]"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "[key]"),
        ("password = hunter22 and api_key: 'abcdefgh'", "password = [key] and api_key: '[key]'"),
        ("postgres://me:secret@db/x", "postgres://[key]@db/x"),
        ("-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----.", "[key]."),
        ("the keyword is risk-free-living-for-everyone", "the keyword is risk-free-living-for-everyone"),
    ],
)  # fmt: skip
def test_redaction_knows_keys_and_paths_by_their_shape(text: str, clean: str) -> None:
    shown, _ = redacted(conversation_of([{"role": "user", "content": text}]))
    assert shown.messages[0].content == clean


def test_redaction_reaches_every_field() -> None:
    hidden = "pplx-0123456789abcdefghij"
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": hidden, "note": {"deep": [hidden], hidden: 1}},
        {"role": "assistant", "content": "x", "responseId": "resp_1", "sources": [{"id": 1, "path": "notes.md", "url": "file:///home/me"}]},
    ]  # fmt: skip
    pending = {"question": hidden, "status": "interrupted", "responseId": "resp_2", "partialText": hidden}
    clean, _ = redacted(
        conversation_of(messages, title=hidden, pendingTurn=pending, imported={"from": "chatgpt", "id": "x"})
    )
    text = clean.model_dump_json(by_alias=True, exclude_unset=True)
    assert hidden not in text
    assert "resp_" not in text
    assert "imported" not in text
    assert clean.data()["messages"][1]["sources"] == [IsPartialDict(path="[path]", url="[path]")]


def test_a_section_is_numbered_by_its_question() -> None:
    roles = ("system", "user", "assistant", "user", "assistant", "assistant")
    shown = sections(conversation_of([{"role": role, "content": role} for role in roles]))
    assert [section.heading for section in shown] == [
        "System message",
        "Question 1",
        "Answer 1",
        "Question 2",
        "Answer 2",
        "Answer 2",
    ]


@pytest.mark.slow
@given(conversations(), st.integers(0, 9), st.integers(0, 9))
def test_a_part_has_the_sections_that_the_whole_has_there(conversation: Conversation, first: int, end: int) -> None:
    found = Sections(conversation)
    shown = list(sections(conversation))
    assert len(found) == len(shown)
    assert list(found.part(first, end)) == shown[first:end]
