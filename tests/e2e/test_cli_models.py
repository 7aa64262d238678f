"""`models` and `ask --chat`, as a person and as a program call them."""

import json
from pathlib import Path

import pytest
from inline_snapshot import snapshot
from tests.fixtures.chat_rules import KEY
from tests.fixtures.chat_server import ChatServer
from tests.fixtures.cli import Here, piped


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Here:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdef")
    monkeypatch.setenv("OPENAI_ALLOWED_MODELS", "gpt-6-luna,gpt-6-sol")
    return Here(capsys, monkeypatch, tmp_path)


def test_a_pipe_gets_a_line_for_each_model(here: Here) -> None:
    assert here("models", "gpt-6-").out.replace("\t", "|") == snapshot("""\
openai:gpt-6-sol|1,050,000|$2|$10|19|
openai:gpt-6-luna|1,050,000|$0.1|$0.5|9|
openai:gpt-6-astra|1,050,000|$10|$50|29|OPENAI_ALLOWED_MODELS allows gpt-6-luna, gpt-6-sol only
""")


def test_programs_get_all_that_is_known_and_why_a_provider_cannot_be_asked(here: Here) -> None:
    found = json.loads(here("models", "--provider", "openai", "--limit", "1", "--json").out)
    assert found["models"] == snapshot(
        [
            {
                "name": "openai:gpt-6-sol",
                "provider": "openai",
                "contextTokens": 1050000,
                "inputLimitTokens": 1045904,
                "outputLimitTokens": 128000,
                "images": True,
                "reasoning": True,
                "inputUsdPerMillion": 2.0,
                "cachedUsdPerMillion": 0.2,
                "outputUsdPerMillion": 10.0,
                "ability": 19,
                "source": "models.json of 2026-09-28",
            }
        ]
    )
    assert found["totalCount"] > 20
    xai = json.loads(here("models", "--provider", "xai", "--json").out)
    assert xai == snapshot(
        {
            "models": [],
            "totalCount": 0,
            "providers": [
                {
                    "name": "xai",
                    "title": "xAI",
                    "abilities": ["search", "chat"],
                    "canBeAsked": False,
                    "note": "not configured: set XAI_API_KEY",
                }
            ],
        }
    )


def test_a_name_in_the_settings_that_nobody_knows_ends_every_command(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISABLED_MODELS", "gpt-6-lunna")
    ended = here("models")
    assert ended.code == 2
    assert "DISABLED_MODELS: 'gpt-6-lunna' is not a known model. Similar names: openai:gpt-6-luna" in ended.err


def test_a_chat_is_started_and_continued_and_says_who_answered(tmp_path: Path) -> None:
    with ChatServer("custom") as server:
        access = {"CUSTOM_API_URL": server.base_url, "CUSTOM_API_KEY": KEY, "CUSTOM_MODEL_NAME": "small-1"}
        first = piped(tmp_path, "ask", "--chat", "one?", "--json", **access)
        second = piped(tmp_path, "ask", "-c", "last", "--chat", "--model", "custom:large-1", "two?", **access)
        found = piped(tmp_path, "models", **access)
        wrong = piped(tmp_path, "ask", "--chat", "--recency", "day", "what?", **access)
    data = json.loads(first.out)
    assert (data["provider"], data["status"]) == ("custom", "completed")
    assert second.code == 0, second.err
    assert "answer 2 to: two?" in second.out
    assert [body["model"] for body in server.requests] == ["small-1", "large-1"]
    assert "small-1" in found.out
    assert (wrong.code, wrong.err) == snapshot((2, "VALIDATION_ERROR: --recency cannot be used with --chat.\n"))


def test_the_context_of_the_next_question_is_shown_with_the_files_that_were_sent(tmp_path: Path) -> None:
    (tmp_path / "add.py").write_text("def add(a, b):\n    return a + b\n")
    with ChatServer("openrouter") as server:
        changes = {"OPENROUTER_API_KEY": KEY, "OPENROUTER_BASE_URL": server.base_url}
        asked = piped(
            tmp_path, "ask", "--chat", "--model", "openrouter:small-1", "-f", "add.py", "What is wrong?", **changes
        )
        again = piped(tmp_path, "ask", "--chat", "-c", "last", "-f", "add.py", "And now?", **changes)
        rows = piped(tmp_path, "tokens", "last", **changes)
        told = json.loads(piped(tmp_path, "tokens", "last", "--json", **changes).out)
        requests = len(server.requests)
    assert (asked.code, again.code, rows.code) == (0, 0, 0)
    assert "1 file sent" in asked.err
    assert "1 file unchanged" in again.err
    assert requests == 2
    assert [row.split("\t")[:2] for row in rows.out.splitlines()] == [
        ["", "system"], ["2", "user"], ["3", "assistant"], ["4", "user"], ["5", "assistant"],
    ]  # fmt: skip
    assert [file["sent"] for message in told["messages"] for file in message.get("files", ())] == ["whole", "known"]
