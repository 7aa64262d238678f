"""What README shows happens when it is typed."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dirty_equals import IsStr
from tests.fixtures.cli import put_conversation
from tests.fixtures.documents import HANDBOOK, local, written
from tests.fixtures.folders import ID
from tests.fixtures.serving import data_of, serving, text_of

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
README = (ROOT / "README.md").read_text(encoding="utf-8")

FENCE = re.compile(r"^(`{3,})(\w*)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`((?:\.venv/bin/)?conversation-mcp [^`\n]+)`")
TYPED = re.compile(r"^(?:\$ )?((?:[\w\"' .?-]+\| *)?(?:\.venv/bin/)?conversation-mcp\b.*)$", re.MULTILINE)
MAKE = re.compile(r"^(?:\$ )?(make(?: [^#\n]*)?)", re.MULTILINE)
ASKED = re.compile(r"^> (\w+): ([^\n]+)\n(.*?)(?=^> \w+: |\Z)", re.MULTILINE | re.DOTALL)
ANY_ID = re.compile(r"\b\d{8}-\d{13}\b")
NEEDS_MORE = re.compile(
    r"--online|pplx-|PERPLEXITY_API_KEY|/path/to|…|\bcancel\b|mcp (?:view|database|token|encrypt|doctor --url)\b|serve --http"
)
PLACEHOLDER = re.compile(r"\b[A-Z]{3,}\b")
CONSOLE = {"sh", "bash", "console", "text", ""}


def blocks() -> Iterator[tuple[str, str]]:
    yield from ((kind, body) for _, kind, body in FENCE.findall(README))


def typed_lines() -> list[str]:
    """Return each line with the program that can be run here, in the order of README."""
    shown = [line for kind, body in blocks() if kind in CONSOLE for line in TYPED.findall(body)]
    named = INLINE.findall(FENCE.sub("", README))
    lines = dict.fromkeys(line.removeprefix(".venv/bin/").strip() for line in (*shown, *named))
    return [
        line for line in lines if not NEEDS_MORE.search(line) and not PLACEHOLDER.search(re.sub(r"\bID\b", "", line))
    ]


def made_targets() -> list[str]:
    return list(
        dict.fromkeys(line.strip() for kind, body in blocks() if kind in CONSOLE for line in MAKE.findall(body))
    )


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_every_command_of_the_readme_does_what_it_says(tmp_path: Path) -> None:
    lines = typed_lines()
    assert any(line.startswith("conversation-mcp doctor") for line in lines)
    documents = written(tmp_path / "documents", HANDBOOK)
    said = [
        {"role": "user", "content": "Is Kettle installed on Linux or on Windows?"},
        {"role": "assistant", "content": "Kettle is installed on both."},
    ]
    put_conversation(tmp_path, ID, messages=said)  # some commands name two, and `related` wants words that both share
    environment = {
        **os.environ,
        "HOME": str(tmp_path / "home"),
        "PATH": os.pathsep.join((str(BIN), os.environ["PATH"])),
        "CONVERSATION_LOGS_DIR": str(tmp_path / "conversation-logs"),
        "CONVERSATION_MCP_DOCUMENTS": str(documents),
    }
    for line in lines:
        known = sorted(path.name for path in (tmp_path / "conversation-logs").glob("*-*"))
        newest = reversed(known)
        command = re.sub(r"\bID\b", lambda _, newest=newest: next(newest), line)
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=tmp_path,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            text=True,
            encoding="utf-8",
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize("line", made_targets())
def test_every_make_line_of_the_readme_has_a_recipe(line: str) -> None:
    dry = subprocess.run([*line.split(), "--dry-run"], cwd=ROOT, capture_output=True, check=False, text=True)
    assert dry.returncode == 0, dry.stderr
    assert dry.stdout.strip()


@pytest.mark.slow
def test_the_main_job_asks_nobody_who_may_bill_it_without_perplexitys_key(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    shutil.copyfile(ROOT / "README.md", tmp_path / "README.md")
    done = subprocess.run(
        [sys.executable, "examples/main_job.py"],
        cwd=tmp_path,
        env={**os.environ, "OPENAI_API_KEY": "sk-1", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"},
        capture_output=True,
        check=False,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    (path,) = (tmp_path / "conversation-logs").glob("*/conversation.json")
    assert str(path) in done.stdout
    roles = [message["role"] for message in json.loads(path.read_bytes())["messages"]]
    assert roles == ["system", *["user", "assistant"] * 3]


async def test_the_example_is_what_the_tools_print(tmp_path: Path) -> None:
    (transcript,) = (body for kind, body in blocks() if kind == "text" and ASKED.search(body))
    guide = written(tmp_path, {"guide.md": HANDBOOK["guide.md"]}) / "guide.md"
    asked: list[tuple[str, str, str]] = ASKED.findall(transcript)
    assert len(asked) == 3
    async with serving(tmp_path, local(guide)) as client:
        conversation: dict[str, str] = {}
        for tool, question, printed in asked:
            result = await client.call_tool(tool, {"query": question, **conversation})
            conversation = {"conversationId": data_of(result)["conversationId"]}
            actual = text_of(result).replace(str(tmp_path), "/path/to")
            position = 0
            for part in re.split(r"^…$", like_any(printed), flags=re.MULTILINE):
                position = like_any(actual).find(part.strip(), position)
                assert position >= 0, f"{part}\n--- is not in ---\n{actual}"


async def test_the_file_that_is_shown_is_the_file_that_is_written(tmp_path: Path) -> None:
    (shown,) = (json.loads(body) for kind, body in blocks() if kind == "json" and '"messages"' in body)
    guide = written(tmp_path, {"guide.md": HANDBOOK["guide.md"]}) / "guide.md"
    question = shown["messages"][1]
    async with serving(tmp_path, local(guide)) as client:
        result = data_of(await client.call_tool(question["tool"], {"query": question["content"]}))
    text = Path(result["conversationPath"]).read_text(encoding="utf-8").replace(str(guide), "/path/to/guide.md")
    beginning = shown["messages"][0]["content"].removesuffix("…").strip()
    assert json.loads(text) == with_any_times(shown, beginning)


def like_any(text: str) -> str:
    return ANY_ID.sub("<id>", text)


def with_any_times(shown: dict[str, Any], beginning: str) -> dict[str, Any]:
    """Return the file with what differs from run to run left open, and the system message by its beginning."""
    system, *said = shown["messages"]
    messages = [{**message, "createdAt": IsStr()} for message in said]
    return {
        **shown,
        **dict.fromkeys(("conversationId", "createdAt", "updatedAt"), IsStr()),
        "messages": [{**system, "content": IsStr(regex=re.escape(beginning) + ".*", regex_flags=re.DOTALL)}, *messages],
    }
