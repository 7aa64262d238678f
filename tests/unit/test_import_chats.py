"""Exports of Open WebUI, LibreChat and Gemini: whole, odd, and damaged."""

from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.chat_exports import counted, imported, said
from tests.fixtures.exports.chats import librechat_export, librechat_message, openwebui_entry, openwebui_message
from tests.fixtures.exports.own import own_data

NOTHING: dict[str, Any] = {}
ASKED = openwebui_message("a", None, "user", "Ping?")
ANSWERED = openwebui_message("b", "a", "assistant", "Pong.")


def history(**facts: Any) -> dict[str, Any]:
    return {"chat": {"history": {"currentId": "b", "messages": {"a": ASKED, "b": ANSWERED}, **facts}}}


ODD_OPENWEBUI: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    (openwebui_entry("x"), ()),
    (openwebui_entry("x", **history(messages=[])), ()),
    (openwebui_entry("x", **history(currentId=None)), ("Ping?", "Pong.")),
    (openwebui_entry("x", **history(currentId="gone")), ("Ping?", "Pong.")),
    (openwebui_entry("x", **history(messages={"a": ASKED, "b": ANSWERED | {"parentId": "gone"}})), ("Pong.",)),
    (openwebui_entry("x", **history(messages={"a": ASKED | {"parentId": "b"}, "b": ANSWERED})), ("Ping?", "Pong.")),
    (openwebui_entry("x", **history(messages={"a": ASKED, "z": None, "b": ANSWERED | {"content": None}})), ()),
    (openwebui_entry("x", ASKED, ANSWERED | {"content": [{"type": "text", "text": "Pong"}]}), ("Ping?", "Pong")),
    (openwebui_entry("x", ASKED, ANSWERED | {"timestamp": 1765000003000, "files": "none", "sources": 5}), ("Ping?", "Pong.")),
    (openwebui_entry("x", ASKED, ANSWERED, title=None, created_at=None, updated_at="soon"), ("Ping?", "Pong.")),
    ({"history": {"messages": {"a": ASKED, "b": ANSWERED}}, "title": "A chat alone"}, ("Ping?", "Pong.")),
]  # fmt: skip


@pytest.mark.parametrize(("entry", "expected"), ODD_OPENWEBUI)
async def test_odd_chats_of_open_webui(tmp_path: Path, entry: dict[str, Any], expected: tuple[str, ...]) -> None:
    good = openwebui_entry("good", ASKED, ANSWERED, created_at=1700000000)
    stored, _ = await imported(tmp_path, [good, entry, None, "text", {}])
    assert [tuple(said(conversation)) for conversation in stored if len(conversation.messages)][1:] == (
        [expected] if expected else []
    )


async def test_what_is_folded_into_an_answer_is_not_part_of_it(tmp_path: Path) -> None:
    content = (
        '<details type="reasoning" done="true" duration="3"><summary>Thought for 3 seconds</summary>\n&gt; 2 &lt; 3\n'
        '</details>\n<details type="tool_calls" name="weather" arguments="{}"><summary>Done</summary>18 C</details>\n'
        'So:\n\n```html\n<details type="reasoning"><summary>a</summary>b</details>\n```\n<details>mine</details>'
    )
    answer = openwebui_message("b", "a", "assistant", content, model="small")
    (conversation,), report = await imported(tmp_path, [openwebui_entry("x", ASKED, answer)])
    assert said(conversation)[1] == (
        'So:\n\n```html\n<details type="reasoning"><summary>a</summary>b</details>\n```\n<details>mine</details>'
    )
    assert (conversation.messages[1].reasoning, conversation.messages[1].model) == ("2 < 3", "small")
    assert counted(report) == {"tool weather": 1}


async def test_sources_tokens_and_the_system_text_of_open_webui(tmp_path: Path) -> None:
    sources = [
        {
            "source": {"name": "Web"},
            "document": ["a", "b"],
            "metadata": [{"source": "https://a.example", "title": "A"}, {"source": "https://b.example"}],
        },
        {"source": {"name": "notes.pdf"}, "document": ["c"], "metadata": [{"source": "notes.pdf"}]},
    ]
    answer = ANSWERED | {
        "sources": sources,
        "usage": {"prompt_tokens": 7, "completion_tokens": 2},
        "content": "So [3].",
    }
    entry = openwebui_entry("x", ASKED, answer)
    entry["chat"]["params"] = {"system": "Be kind."}
    (conversation,), _ = await imported(tmp_path, [entry])
    assert said(conversation) == ["Be kind.", "Ping?", "So [3]."]
    answered = conversation.messages[2]
    assert [(each.id, each.title, each.url) for each in answered.sources or ()] == [
        (1, "A", "https://a.example"),
        (2, "Web", "https://b.example"),
        (3, "notes.pdf", None),
    ]
    assert answered.usage is not None
    assert (answered.usage.input_tokens, answered.usage.output_tokens) == (7, 2)


async def test_what_open_webui_says_beside_the_words_is_counted_by_its_name(tmp_path: Path) -> None:
    answer = ANSWERED | {
        "followUps": ["And what else?"],
        "output": [{"type": "open_webui:code_interpreter", "code": "print(1)  # one"}],
        "error": None,
    }
    critic = openwebui_message("c", "b", "critic", "Hm.")
    failed = openwebui_message("d", "c", "assistant", "", error={"content": "Out of memory"})
    (conversation,), report = await imported(tmp_path, [openwebui_entry("x", ASKED, answer, critic, failed)])
    assert said(conversation) == ["Ping?", "Pong."]
    assert counted(report) == {"followUps": 1, "open_webui:code_interpreter": 1, "critic": 1, "error": 1}


def flat(name: str, parent: str, role: str, text: str, **facts: Any) -> dict[str, Any]:
    message = librechat_message(name, role, text, parentMessageId=parent, **facts)
    del message["children"]
    return message


ROOT = "00000000-0000-0000-0000-000000000000"
LIST: dict[str, Any] = {"messagesTree": None, "recursive": False, "options": None}


async def test_a_list_of_librechat_is_the_path_that_ends_last(tmp_path: Path) -> None:
    messages = [
        flat("q1", ROOT, "user", "Tell me a story."),
        flat("a1", "q1", "assistant", "Once."),
        flat("q2", ROOT, "user", "Tell me a long story.", createdAt="2026-04-09T14:40:00.000Z"),
        flat("a2", "q2", "assistant", "Once upon", unfinished=True, model="gpt-x"),
    ]
    (conversation,), report = await imported(tmp_path, librechat_export(messages=messages, **LIST))
    assert said(conversation) == ["Tell me a long story.", "Once upon"]
    assert conversation.messages[1].notices == ("the answer was cut off in the source",)
    assert conversation.messages[1].model == "gpt-x"
    assert (conversation.created_at, conversation.updated_at) == (
        "2026-04-09T14:32:05.230Z",
        "2026-04-09T14:40:00.000Z",
    )
    assert counted(report) == {"other branches": 1}


async def test_anchors_of_librechat_become_numbers_of_what_a_search_found(tmp_path: Path) -> None:
    search = {
        "type": "web_search",
        "web_search": {
            "turn": 0,
            "organic": [{"link": "https://a.example", "title": "A"}, {"link": "https://b.example", "title": "B"}],
            "topStories": [{"link": "https://c.example"}],
        },
    }
    text = "\ue203Open.\ue204\ue202turn0search1 And\\ue200\\ue202turn0news0\\ue202turn9search0\\ue201 so."
    answer = librechat_message("a", "assistant", text, attachments=[search, {"filename": "map.png"}])
    question = librechat_message("q", "user", "When?", answer)
    (conversation,), report = await imported(tmp_path, librechat_export(question, options={}))
    assert said(conversation)[1] == "Open.[1] And[2] so."
    assert [each.url for each in conversation.messages[1].sources or ()] == [
        "https://b.example",
        "https://c.example",
        "https://a.example",
    ]
    assert counted(report) == {"citation marks": 1, "attachments": 1}


async def test_reasoning_before_an_answer_of_librechat_is_told_apart(tmp_path: Path) -> None:
    text = ":::thinking\nLook.\n:::\n\nIt is 9. A fence is:\n:::thinking\nx\n:::"
    question = librechat_message("q", "user", ":::thinking\nmine\n:::", librechat_message("a", "assistant", text))
    (conversation,), _ = await imported(tmp_path, librechat_export(question, options={}))
    assert said(conversation)[1] == "It is 9. A fence is:\n:::thinking\nx\n:::"
    assert conversation.messages[1].reasoning == "Look."
    assert said(conversation)[0] == ":::thinking\nmine\n:::"


ODD_LIBRECHAT: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    (librechat_export(), ()),
    (librechat_export(messagesTree={"messageId": "a", "text": "One?", "sender": "User"}), ("One?",)),
    (librechat_export(librechat_message("a", "user", "Hi", None, 5, "x", librechat_message("b", "assistant", "Yes"))), ("Hi", "Yes")),
    (librechat_export(librechat_message("a", "user", "Hi") | {"children": None}), ("Hi",)),
    (librechat_export(messages=[{"isCreatedByUser": True, "text": "Hi"}, {"isCreatedByUser": False, "text": "Yes"}], **LIST), ("Hi", "Yes")),
    (librechat_export(messages=[flat("a", "b", "user", "Hi"), flat("b", "a", "assistant", "Yes")], **LIST), ("Hi", "Yes")),
    (librechat_export(librechat_message("a", "user", "Hi", librechat_message("b", "assistant", "It broke", error=True))), ("Hi",)),
    (librechat_export(librechat_message("a", "user", "Hi", librechat_message("b", "assistant", "", content=[None, {"type": "text", "text": {"value": "Yes"}}, {"type": "agent_update", "agent_update": {"text": "x"}}]))), ("Hi", "Yes")),
    (librechat_export(librechat_message("a", "user", "", content="no list", files=[{"filename": "a.png"}])), ("(attachment not imported: a.png)",)),
]  # fmt: skip


@pytest.mark.parametrize(("export", "expected"), ODD_LIBRECHAT)
async def test_odd_conversations_of_librechat(
    tmp_path: Path, export: dict[str, Any], expected: tuple[str, ...]
) -> None:
    odd: dict[str, Any] = {"options": {}, "title": "x\n" * 5000, "conversationId": 5}
    stored, _ = await imported(tmp_path, export | odd)
    asked = [turn.question for each in stored for turn in (each.pending_turn,) if turn is not None]
    assert [*(text for each in stored for text in said(each)), *asked] == list(expected)


async def test_files_of_ours_are_not_taken_for_librechats(tmp_path: Path) -> None:
    (conversation,), _ = await imported(tmp_path, own_data())
    assert conversation.imported is None
