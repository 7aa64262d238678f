"""Servers of vectors are asked on their wire, and what they get wrong is noticed."""

import socket
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from threading import Thread
from typing import Any, cast

import pytest
from tests.fixtures.embedding_server import Answer, embedding_server

from conversation_mcp.embeddings.base import Embedder
from conversation_mcp.embeddings.catalog import Embedders, EmbeddingServer
from conversation_mcp.embeddings.servers.server import MAX_ANSWER_BYTES
from conversation_mcp.errors import EmbeddingsError

LIMIT_CHARS = 300


def vector_of(text: str) -> list[float]:
    return [float(len(text)), float(text.count("a")) + 1, 1.0]


def strict(wire: str) -> Answer:
    """Answer as the wire says, refuse unknown fields, and texts that are too long."""
    known = {
        "embeddings": {"model", "input", "encoding_format", "dimensions"},
        "embed": {"model", "input", "truncate", "dimensions"},
    }[wire]

    def answer(body: dict[str, Any]) -> tuple[int, object]:
        texts: list[str] = body["input"]
        if set(body) - known or not texts or sum(map(len, texts)) > LIMIT_CHARS:
            return 400, {"error": "the input length exceeds the context length"}
        vectors = [vector_of(text) for text in texts]
        if wire == "embed":
            return (200, {"embeddings": vectors}) if body["truncate"] is False else (400, {})
        data = [{"index": place, "embedding": vector} for place, vector in enumerate(vectors)]
        return 200, {"data": data[::-1]}

    return answer


@contextmanager
def serving(
    answer: Answer, wire: str = "embeddings", model: str = "some-model"
) -> Generator[tuple[Embedder, list[Any]]]:
    with embedding_server(answer) as (url, asked):
        place = EmbeddingServer("shelf", wire, url, "k-123", model, is_direct=True)
        embedder = Embedders(f"shelf:{model}", lambda _: place).chosen
        assert embedder
        yield embedder, asked


@pytest.mark.parametrize(("wire", "path"), [("embeddings", "/v1/embeddings"), ("embed", "/api/embed")])
def test_a_server_is_asked_on_its_wire(wire: str, path: str) -> None:
    import numpy as np

    with serving(strict(wire), wire) as (embedder, asked):
        vectors = embedder.embed_passages(["a", "bb", "aaa"])
        assert [one["path"] for one in asked] == [path]
        assert asked[0]["key"] == "Bearer k-123"
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
        assert vectors[1][0] / vectors[1][1] == pytest.approx(2)
        assert embedder.dimensions == 3
        assert embedder.server == "shelf"


def test_what_a_model_wants_before_its_texts_is_sent_and_part_of_its_name() -> None:
    with serving(strict("embeddings"), model="nomic-embed-text:v1.5") as (embedder, asked):
        embedder.embed_queries(["where"])
        embedder.embed_passages(["here"])
        assert [one["input"] for one in asked] == [["search_query: where"], ["search_document: here"]]
        assert "search_query: " in embedder.name


@pytest.mark.parametrize("wire", ["embeddings", "embed"])
def test_what_is_too_much_at_once_is_sent_in_parts_and_nothing_is_cut(wire: str) -> None:
    with serving(strict(wire), wire) as (embedder, asked):
        texts = [f"text {number} " * 5 for number in range(20)] + ["a long one " * 80]
        assert len(embedder.embed_passages(texts)) == 21
        accepted = [text for one in asked if sum(map(len, one["input"])) <= LIMIT_CHARS for text in one["input"]]
        assert sorted("".join(accepted)) == sorted("".join(texts))


def changed(change: Callable[[list[dict[str, Any]]], object]) -> Answer:
    def answer(body: dict[str, Any]) -> tuple[int, object]:
        status, made = strict("embeddings")(body)
        change(cast("dict[str, Any]", made)["data"])
        return status, made

    return answer


LIES: dict[str, Answer] = {
    "too few": changed(lambda data: data.pop()),
    "too many": changed(lambda data: data.append(dict(data[0]))),
    "the same twice": changed(lambda data: data[0].update(index=data[1]["index"])),
    "an index that is not there": changed(lambda data: data[0].update(index=7)),
    "zeros": changed(lambda data: data[0].update(embedding=[0.0, 0.0, 0.0])),
    "NaN": changed(lambda data: data[0].update(embedding=[float("nan"), 1.0, 1.0])),
    "other dimensions": changed(lambda data: data[0].update(embedding=[1.0])),
    "no numbers": changed(lambda data: data[0].update(embedding=["x", "y", "z"])),
    "null": changed(lambda data: data[0].update(embedding=None)),
    "a page": lambda _: (200, b"<html>welcome</html>"),
    "nothing": lambda _: (200, b""),
    "a list": lambda _: (200, []),
    "an error": lambda _: (500, {"error": "k-123 is secret"}),
    "a refused key": lambda _: (401, {}),
    "always too much": lambda _: (400, {}),
    "nested too deeply": lambda _: (200, b"[" * 200_000),
    "too large": lambda _: (200, b'{"data": [' + b" " * (MAX_ANSWER_BYTES + 1)),
    "unknown model": lambda _: (404, {"error": "model not found"}),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_server_that_lies_is_found_out(lie: str) -> None:
    with serving(LIES[lie]) as (embedder, _), pytest.raises(EmbeddingsError) as caught:
        embedder.embed_passages(["one", "two"])
    assert "shelf" in caught.value.message
    assert "k-123" not in str(caught.value.sentence())


def test_a_server_that_is_gone_is_said_to_be_unreachable() -> None:
    with serving(strict("embeddings")) as (embedder, _):
        pass
    with pytest.raises(EmbeddingsError, match="cannot be reached"):
        embedder.embed_queries(["anything"])


@contextmanager
def odd_server(parts: Callable[[], Iterable[bytes]]) -> Generator[Embedder]:
    """Promise a long answer to whoever asks, and send these parts of it."""

    def serve() -> None:
        with suppress(OSError):
            client, _ = listener.accept()
            with client:
                client.recv(65_536)
                client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
                for part in parts():
                    client.sendall(part)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = Thread(target=serve)
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        place = EmbeddingServer("shelf", "embeddings", url, None, "some-model", is_direct=True)
        embedder = Embedders("shelf:some-model", lambda _: place).chosen
        assert embedder
        yield embedder
        thread.join()


def test_a_server_that_dies_in_the_middle_of_an_answer_is_found_out() -> None:
    with odd_server(lambda: [b'{"data": [']) as embedder, pytest.raises(EmbeddingsError, match="cannot be reached"):
        embedder.embed_queries(["anything"])


@pytest.mark.slow
def test_a_server_whose_answer_comes_byte_by_byte_is_waited_for_no_longer_than_a_silent_one() -> None:
    def dripping() -> Iterator[bytes]:
        while True:
            yield b" "
            time.sleep(0.1)

    with odd_server(dripping) as embedder, pytest.raises(EmbeddingsError, match="did not answer within 8 s"):
        embedder.embed_queries(["anything"])
