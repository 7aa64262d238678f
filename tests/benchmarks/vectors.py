"""The nearest of many vectors, against a plain scan of the same numbers by numpy, and the making of vectors."""

from collections.abc import Iterable
from functools import partial
from time import process_time

from tests.benchmarks.library import timed
from tests.benchmarks.measuring import Benchmark, Plan, alternate
from tests.benchmarks.table import Budget, Row
from tests.fixtures.vectors import Shelf

from conversation_mcp.embeddings.catalog import BUNDLED, Embedders
from conversation_mcp.searching.database import IndexFile
from conversation_mcp.searching.numeric import prepare_numpy
from conversation_mcp.searching.vectors.builder import Builder, Maker
from conversation_mcp.searching.vectors.index import VectorIndex
from conversation_mcp.searching.vectors.schema import schema

SIZES = (10_000, 100_000, 1_000_000)
QUICK_SIZE = 10_000
GOAL_SIZE = 100_000
PASSAGES, QUICK_PASSAGES, WORDS_PER_PASSAGE, MILLISECONDS = 1_000, 100, 45, 1_000
DIMENSIONS, LIMIT, PER_GROUP, ROUNDS = 384, 10, 1_000, 31


def measure(size: int, plan: Plan) -> Iterable[Row]:
    """Write vectors by chance, and look for the nearest of one of them, the codes being in memory."""
    prepare_numpy()
    import numpy as np

    from conversation_mcp.searching.vectors.numbers import packed, unit

    count = min(size, QUICK_SIZE) if plan.quick else size
    index = VectorIndex(IndexFile([plan.scratch], plan.scratch / "vectors", schema("benchmark")))
    every = unit(np.random.default_rng(7).standard_normal((count, DIMENSIONS), np.float32))
    for start in range(0, count, PER_GROUP):
        made = {
            str(item): (start.to_bytes(8), one) for item, one in enumerate(packed(every[start : start + PER_GROUP]))
        }
        index.write("m", "c", lambda rows, made=made, start=start: rows.put(str(start), made))
    query = every[count // 2]

    def scan() -> object:
        similar = every @ query
        return similar[np.argpartition(-similar, LIMIT)[:LIMIT]]

    index.nearest("m", query, LIMIT)
    ask = partial(index.nearest, "m", query, LIMIT)
    ours, theirs = alternate(plan.rounds(ROUNDS), [partial(timed, ask), partial(timed, scan)])
    yield Row(
        name=f"vectors-{size}-nearest",
        what=f"the {LIMIT} nearest of {count:,} vectors",
        unit="ms",
        against="a scan by numpy",
        ours=ours,
        theirs=theirs,
        budget=Budget(1.0) if count == GOAL_SIZE else None,
    )


def measure_build(plan: Plan) -> Iterable[Row]:
    """Make the vectors of passages with the bundled model, and let the model read the same texts and keep nothing."""
    count = QUICK_PASSAGES if plan.quick else PASSAGES
    shelf, embedder = Shelf(), Embedders(BUNDLED, lambda _: None).chosen
    words = [f"word{number}" for number in range(400)]
    for number in range(count):
        said = " ".join(words[(number * 7 + place * 13) % len(words)] for place in range(WORDS_PER_PASSAGE))
        shelf[str(number)] = {"1": f"{number} {said}"}
    texts = [text for group in shelf.values() for text in group.values()]
    ours = theirs = None
    if embedder:
        plan.scratch.joinpath("owner").mkdir()
        index = VectorIndex(IndexFile([plan.scratch / "owner"], plan.scratch / "vectors", schema("benchmark")))
        maker = Maker(embedder.name, "benchmark", lambda: embedder.dimensions, embedder.embed_passages)
        began = process_time()
        for _ in Builder(index, shelf, maker).steps():
            pass
        ours = (process_time() - began) * MILLISECONDS
        began = process_time()
        for start in range(0, count, maker.texts_at_once):
            embedder.embed_passages(texts[start : start + maker.texts_at_once])
        theirs = (process_time() - began) * MILLISECONDS
    yield Row(
        name="vectors-build",
        what=f"processor time to make the vectors of {count:,} passages of {len(texts[0])} characters",
        unit="ms",
        against="the model alone, nothing kept",
        ours=ours,
        theirs=theirs,
        missing="" if embedder else "the bundled model is not installed",
    )


BENCHMARKS = (
    *(Benchmark((f"vectors-{size}-nearest",), partial(measure, size)) for size in SIZES),
    Benchmark(("vectors-build",), measure_build),
)
