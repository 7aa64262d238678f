"""A PDF that a question names: sent as it is to models that take PDFs, else as its text."""

import json
from pathlib import Path

from dirty_equals import IsPartialDict
from tests.fixtures.homes import Home
from tests.fixtures.models import FakeModels
from tests.fixtures.office import pdf_of
from tests.fixtures.serving import data_of, error_of, serving, text_of

TOOLS = ("research", "models")
CLAUDE, GPT = "anthropic:claude-opus-5", "openai:gpt-6-sol"


async def test_a_pdf_goes_as_it_is_once_and_as_text_to_a_model_that_takes_none(home: Home, tmp_path: Path) -> None:
    data = pdf_of("Trees have leaves", "Roots are below")
    (tmp_path / "a.pdf").write_bytes(data)
    (tmp_path / "copy.pdf").write_bytes(data)
    claude, openai = FakeModels(name="anthropic"), FakeModels(name="openai")
    async with serving(home, claude, openai, tools=TOOLS, roots=(tmp_path,)) as client:
        asked = {"prompt": "What?", "model": CLAUDE, "files": [str(tmp_path / "a.pdf")]}
        first = await client.call_tool("chat", asked)
        same = {"conversationId": data_of(first)["conversationId"]}
        await client.call_tool("chat", {**same, "prompt": "Again?", "files": [str(tmp_path / "copy.pdf")]})
        shown = await client.call_tool("show_context", same)
        await client.call_tool("chat", {**same, "prompt": "And you?", "model": GPT})
    [named] = home.only()["messages"][1]["files"]
    assert named == IsPartialDict(path=str(tmp_path / "a.pdf"), sent="whole", pages=2, asPdf=True, bytes=len(data))
    assert "sent as PDF, 2 pages" in text_of(first)
    question = claude.requests[0].messages[-1]
    assert [pdf.data for pdf in question.pdfs] == [data]
    assert "attached to this message, 2 pages" in question.content
    assert "Trees have leaves" not in question.content
    again = claude.requests[1].messages
    assert [len(message.pdfs) for message in again] == [0, 1, 0, 0]
    assert again[:2] == claude.requests[0].messages
    assert "the same as" in again[-1].content
    [inside] = data_of(shown)["messages"][1]["files"]
    assert inside["asPdf"] is True
    assert inside["tokens"] > 2 * 1600
    assert "as PDF" in text_of(shown)
    assert not any(message.pdfs for message in openai.requests[0].messages)
    assert "Trees have leaves" in openai.requests[0].messages[1].content


async def test_a_pdf_with_more_pages_than_the_model_takes_goes_as_text_with_a_notice(
    home: Home, tmp_path: Path
) -> None:
    (tmp_path / "long.pdf").write_bytes(pdf_of("one", "two", "three"))
    (tmp_path / "short.pdf").write_bytes(pdf_of("four"))
    claude = FakeModels(name="anthropic", pdfs={"max_pages": 3})
    async with serving(home, claude, tools=TOOLS, roots=(tmp_path,)) as client:
        files = [str(tmp_path / "long.pdf"), str(tmp_path / "short.pdf")]
        result = await client.call_tool("chat", {"prompt": "What?", "model": CLAUDE, "files": files})
    question = claude.requests[0].messages[-1]
    assert len(question.pdfs) == 1
    assert "four" in question.content
    assert 'short.pdf\\" is sent as text, because' in json.dumps(data_of(result)["notices"])
    assert [file.get("asPdf") for file in home.only()["messages"][1]["files"]] == [True, None]


async def test_named_lines_of_a_pdf_go_as_text(home: Home, tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf_of("one", "two"))
    claude = FakeModels(name="anthropic")
    async with serving(home, claude, tools=TOOLS, roots=(tmp_path,)) as client:
        await client.call_tool("chat", {"prompt": "What?", "model": CLAUDE, "files": [f"{tmp_path / 'a.pdf'}:1-1"]})
    [question] = [message for message in claude.requests[0].messages if message.role == "user"]
    assert question.pdfs == ()
    assert "one" in question.content


async def test_a_scan_goes_to_a_model_that_takes_pdfs_and_others_learn_that_they_cannot_read_it(
    home: Home, tmp_path: Path
) -> None:
    data, scan = pdf_of("", ""), str(tmp_path / "scan.pdf")
    Path(scan).write_bytes(data)
    (tmp_path / "other.pdf").write_bytes(pdf_of("", "", title="Other"))
    claude, openai = FakeModels(name="anthropic"), FakeModels(name="openai")
    async with serving(home, claude, openai, tools=TOOLS, roots=(tmp_path,)) as client:
        files = [scan, str(tmp_path / "other.pdf")]
        first = await client.call_tool("chat", {"prompt": "What?", "model": CLAUDE, "files": files})
        same = {"conversationId": data_of(first)["conversationId"]}
        await client.call_tool("chat", {**same, "prompt": "And you?", "model": GPT})
        refused = error_of(await client.call_tool("chat", {"prompt": "What?", "model": GPT, "files": [scan]}))
        lines = error_of(await client.call_tool("chat", {"prompt": "?", "model": CLAUDE, "files": [f"{scan}:1-2"]}))
        (tmp_path / "a.txt").write_text("Some text.")
        mixed = [scan, str(tmp_path / "a.txt")]
        partly = await client.call_tool("chat", {"prompt": "What?", "model": GPT, "files": mixed})
    assert [pdf.data for pdf in claude.requests[0].messages[-1].pdfs] == [data, (tmp_path / "other.pdf").read_bytes()]
    assert "without text, such as a scan" in openai.requests[0].messages[1].content
    assert refused["code"] == "VALIDATION_ERROR"
    assert "takes no PDF; name a model that does" in refused["message"]
    assert lines["code"] == "VALIDATION_ERROR"
    [left_out] = [file for file in data_of(partly)["files"] if file["sent"] == "skipped"]
    assert (left_out["path"], "takes no PDF" in left_out["reason"]) == (scan, True)
    assert len(openai.requests) == 2
