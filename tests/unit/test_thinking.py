"""Hidden reasoning in the text of answers: in whichever marks, however it was cut, and never what only speaks of it."""

import json
from itertools import pairwise
from pathlib import Path

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fixtures.asked import request
from tests.fixtures.exports.files import put_json
from tests.fixtures.exports.imported import bring_in, stored_in
from tests.fixtures.raw_answers import SSE, WIRES, Wire, answer_in, answering, asked, provider_at, shown_in
from tests.fixtures.sent import messages_to_send

from conversation_mcp.errors import AnswerIncompleteError, StreamBrokenError
from conversation_mcp.exporting.catalog import export_format
from conversation_mcp.providers.base import Event, Provider, TextDelta
from conversation_mcp.providers.wire.visible_text import UNENDED
from conversation_mcp.thinking.splitter import ThinkingSplitter, split_thinking

CODE = 'Strip them:\n\n```python\nre.sub(r"<think>.*?</think>", "", text)\n```\nThat is all.'
SPOKEN_OF = (
    "An answer.",
    " spaces stay ",
    "Models wrap thoughts in `<think>` and `</think>` tags. " + CODE,
    "Open the block with `<think>` on its own line. Everything after it stays hidden.",
    "`<think>` plan `</think>`, as in:\n\n" + CODE,
    "One. <think>a</think> Two.",
    "End the block with </think> and go on.",
    'It ends with "</think>" always.\nThen the answer.',
    "It ends with `</think>`\nThen the answer.",
    "The prompt ends with:\n</think>\nThen the model answers.",
    "The last tag is\n</think>",
    "```\nplan\n</think>\n```\nis what it looks like.",
    "~~~xml\n<p>\n</thinking>\n~~~\nis wrong.",
    "<thin> is a tag, <|channel|> a token.",
    "Wrap it in <|channel>thought and <channel|>.",
    "使用</think>结束思考。",
    "<",
    "<|channel|> is a token of gpt-oss that opens a header.",
    "<think> opens a block and </think> closes it.\n\n" + CODE,
    "<think> and </think> are tags.",
    "<thinking about it> was her word.",
    "\n<thinking>, closed by </thinking>, hides a plan.",
    "<think>\u2026</think> is how a model marks its thoughts.",
    "\ufeffA file that begins with a byte order mark: <think>.",
    '{"before": "<think>x</think>", "after": "x"}',
    "> <think>a</think>\n\nis quoted.",
    "<details><think>a</think></details>",
    '<p class="x"><think mode="x">a</think> is HTML.</p>',
)
HIDDEN = {
    "<think>why</think>An answer.": ("An answer.", "why"),
    "\n <think>\n\n</think>\n\nAn answer.": ("An answer.", ""),
    "<THINK>a</THINK><think>b</think>An answer.": ("An answer.", "a\n\nb"),
    "<thinking>private</thinking>\nVisible.": ("Visible.", "private"),
    "<thought>The user greets.</thought>Hello!": ("Hello!", "The user greets."),
    "<|channel>thought\nThe user greets.<channel|>Hello!": ("Hello!", "The user greets."),
    "<|channel>thought\n<channel|>Hello!": ("Hello!", ""),
    "[THINK]hm[/THINK]Yes.": ("Yes.", "hm"),
    "\ufeff<think>a</think>B": ("B", "a"),
    '<think type="plan" n="1">a</think>B': ("B", "a"),
    "< Think >\na\n</ think >\nB": ("B", "a"),
    "<think> Okay, a.\n</think> so it is.": ("so it is.", "Okay, a."),
    "<think></think>Yes.": ("Yes.", ""),
    "<mm:think>a</mm:think>B": ("B", "a"),
    "<|START_THINKING|>a<|END_THINKING|>B": ("B", "a"),
    "<unused94>thought\na<unused95>B": ("B", "a"),
    "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Hello!": ("Hello!", "hm"),
    "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>commentary<|message|>b<|end|>"
    "<|channel|>final<|message|>Hello!<|return|>": ("Hello!", "a\n\nb"),
    "<|channel|>final<|message|>Say <|end|> twice.<|end|>": ("Say <|end|> twice.", ""),
    "hm<|end|><|start|>assistant<|channel|>final<|message|>Hello!": ("Hello!", "hm"),
    "First I consider.\n</think>\n\nThe answer is 7.": ("The answer is 7.", "First I consider."),
    "why</think>An answer.": ("An answer.", "why"),
    "</think>\n\nAn answer.": ("An answer.", ""),
    "<think>I name `</think>` here.</think>Yes.": ("Yes.", "I name `</think>` here."),
    "<think>\n```py\nre.sub('</think>')\n```\n</think>\nYes.": ("Yes.", "```py\nre.sub('</think>')\n```"),
    "<think>\n```py\nnever closed </think>\nYes.": ("Yes.", "```py\nnever closed"),
    f"<think>hm</think>{CODE}": (CODE, "hm"),
}


def in_pieces(text: str, places: list[int]) -> str:
    splitter = ThinkingSplitter()
    edges = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    shown = [each for start, end in pairwise(edges) for each in splitter.feed(text[start:end])]
    visible = ""
    for each in (*shown, *splitter.rest()):
        visible = each.text if each.replaces else visible + each.text
    return visible


@pytest.mark.parametrize("text", SPOKEN_OF)
def test_a_text_that_speaks_of_marks_stays_as_it_came(text: str) -> None:
    assert split_thinking(text) == (text, "", False)


@pytest.mark.parametrize("text", HIDDEN)
def test_a_block_at_the_start_is_reasoning_in_every_spelling(text: str) -> None:
    assert split_thinking(text) == (*HIDDEN[text], False)


def test_a_block_that_never_ends_says_so() -> None:
    assert split_thinking("<think>only") == ("", "only", True)


@settings(deadline=None)
@given(st.sampled_from([*SPOKEN_OF, *HIDDEN]), st.lists(st.integers(0, 300)))
def test_a_text_shows_the_same_however_it_is_cut(text: str, places: list[int]) -> None:
    assert in_pieces(text, places).strip() == split_thinking(text).visible.strip()


@settings(deadline=None)
@given(st.lists(st.sampled_from(["<think>", "</think>", "a", "\n", " ", "`", '"', "```\n", "<|end|>", "\ud83d"])))
def test_no_piece_of_any_text_is_lost(parts: list[str]) -> None:
    text = "".join(parts)
    visible, hidden, _ = split_thinking(text)
    assert (visible + hidden).count("a") == text.count("a")
    assert len(in_pieces(text, list(range(len(text)))).strip()) == len(visible.strip())


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("text", [SPOKEN_OF[2], SPOKEN_OF[3], SPOKEN_OF[7]])
async def test_an_answer_about_tags_arrives_as_it_was_written(wire: Wire, text: str, size: int) -> None:
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    async with provider_at(answering(wire, pieces), wire) as provider:
        events = await asked(provider)
    assert (answer_in(events).content, answer_in(events).reasoning) == (text, None)
    assert shown_in(events) == text


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("text", HIDDEN)
async def test_leaked_reasoning_is_kept_apart_also_meanwhile(wire: Wire, text: str, size: int) -> None:
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    async with provider_at(answering(wire, pieces), wire) as provider:
        events = await asked(provider)
    visible, hidden = HIDDEN[text]
    assert (answer_in(events).content, answer_in(events).reasoning) == (visible, hidden or None)
    assert shown_in(events).strip() == visible


@pytest.mark.parametrize("wire", WIRES)
async def test_an_answer_that_ends_within_its_reasoning_is_not_thrown_away(wire: Wire) -> None:
    text = "<think> opens a block that nothing closes here."
    async with provider_at(answering(wire, [text]), wire) as provider:
        answer = answer_in(await asked(provider))
    assert (answer.content, answer.reasoning) == (text, None)
    assert UNENDED in answer.notices


@pytest.mark.parametrize("wire", WIRES)
async def test_a_stream_that_dies_behind_the_end_of_its_reasoning_leaves_no_reasoning_to_be_kept(wire: Wire) -> None:
    whole = answering(wire, ["First I plan.\n", "</think>"])(httpx.Request("POST", "http://peer.example")).text
    frames = whole.split("\n\n")
    ends = 4 if wire == "messages" else 2  # its last event but one tells the end, too
    dead = httpx.Response(200, headers=SSE, text="\n\n".join([*frames[:-ends], ""]))
    seen: list[Event] = []

    async def listen(provider: Provider) -> None:
        async for event in provider.ask(request("Why?", model="maker/m")):
            seen.append(event)  # noqa: PERF401 -- what was seen before it broke counts

    async with provider_at(lambda _: dead, wire) as provider:
        with pytest.raises(StreamBrokenError):
            await listen(provider)
    assert next(event.text for event in seen if isinstance(event, TextDelta)).startswith("First")
    assert shown_in(seen) == ""


@pytest.mark.parametrize("wire", WIRES)
async def test_an_answer_that_was_cut_within_its_reasoning_is_none(wire: Wire) -> None:
    async with provider_at(answering(wire, ["<think>step by step"], finish="length"), wire) as provider:
        with pytest.raises(AnswerIncompleteError):
            await asked(provider)


ABOUT_TAGS = (
    'Wrap it in tags:\n\n```python\nprompt = "<think>" + plan + "</think>"\n```\n\nThe model then answers.',
    "<think>kept as it was</think>Answer.",
)


@pytest.mark.parametrize("text", ABOUT_TAGS)
async def test_an_imported_answer_about_tags_is_stored_exported_and_sent_as_it_came(tmp_path: Path, text: str) -> None:
    said = [("human", "How do I mark thoughts?"), ("assistant", text)]
    chat = {
        "uuid": "c1a0de00-0000-4000-8000-0000000000aa",
        "name": "Tags",
        "created_at": "2026-03-01T10:00:00Z",
        "updated_at": "2026-03-01T10:00:09Z",
        "chat_messages": [
            {
                "uuid": f"m{place}",
                "sender": sender,
                "text": words,
                "content": [{"type": "text", "text": words}],
                "created_at": "2026-03-01T10:00:01Z",
            }
            for place, (sender, words) in enumerate(said)
        ],
    }
    await bring_in(put_json(tmp_path / "conversations.json", [chat]), tmp_path)
    (conversation,) = await stored_in(tmp_path)
    assert conversation.messages[1].content == text
    assert messages_to_send(conversation, "Next?")[1].content == text
    assert text in export_format("markdown").render(conversation)
    assert json.loads(export_format("jsonl").render(conversation))["messages"][1]["content"] == text
