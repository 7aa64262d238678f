"""Which model makes the vectors, as the settings say: a server gets somebody's words only if it is named."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.cli import Here
from tests.fixtures.embedding_server import embedding_server
from tests.fixtures.homes import Home
from tests.fixtures.vectors import WordModel

from conversation_mcp.providers.embedders import embedders_in
from conversation_mcp.settings import load_settings

ALIKE = {"hound": "dog", "consumes": "eats"}


@pytest.mark.parametrize(
    ("setting", "server"),
    [
        ("auto", None),
        ("off", None),
        ("openai:text-embedding-3-small", "openai"),
        ("mistral:mistral-embed", None),
        ("nobody:at-all", None),
    ],
)
def test_a_server_makes_vectors_only_if_it_is_named_and_configured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, setting: str, server: str | None
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    settings = load_settings({"embeddings": setting}, os.environ, tmp_path / "config.toml", tmp_path).settings
    chosen = embedders_in(settings).chosen
    assert (chosen.server if chosen else None) == server


def synonyms(body: dict[str, Any]) -> tuple[int, object]:
    """Answer with vectors in which some words mean the same."""
    asked: list[str] = body["input"]
    texts = [" ".join(ALIKE.get(word, word) for word in text.split()) for text in asked]
    vectors = WordModel().embed_passages(texts).tolist()
    return 200, {"data": [{"index": place, "embedding": vector} for place, vector in enumerate(vectors)]}


@pytest.mark.slow
def test_a_server_that_is_named_gets_the_memories_and_finds_them_by_meaning(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    here = Here(capsys, monkeypatch, Home(tmp_path, (tmp_path / "conversation-logs").as_uri()))
    with embedding_server(synonyms) as (url, asked):
        given = {"CUSTOM_API_URL": url, "CUSTOM_MODEL_NAME": "large-1", "CONVERSATION_MCP_EMBEDDINGS": "custom:words-1"}
        for name, value in given.items():
            monkeypatch.setenv(name, value)
        for text in ("the hound consumes plums", "the okapi naps"):
            here("remember", text)
        here("index", "--meaning")
        found = json.loads(here("memories", "dog eats", "--json").out)
        said = here("doctor").out
    assert [(each["content"], each["foundBy"]) for each in found["results"]] == [
        ("the hound consumes plums", "meaning")
    ]
    assert "2 of 2 memories have their vectors" in said
    sent = {text for request in asked for text in request["input"]}
    assert sent >= {"the hound consumes plums", "the okapi naps", "dog eats"}
    assert {request["model"] for request in asked} == {"words-1"}
