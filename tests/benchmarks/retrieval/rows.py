"""How well the local provider finds the passages that answer questions, beside two plain ways."""

from collections.abc import Iterable

from tests.benchmarks.measuring import Benchmark, Plan
from tests.benchmarks.retrieval.corpora import write_corpora
from tests.benchmarks.retrieval.labels import Labelled, answer_to, load_questions, quality, won_and_lost
from tests.benchmarks.retrieval.methods import Find, counting, ours, passages_below, plain_full_text
from tests.benchmarks.table import Row

from conversation_mcp.embeddings.catalog import BUNDLED, Embedders

AGAINST = {"fts5": "FTS5 with its defaults, any of the words", "count": "counting the words, as with grep"}
GROUPS = {
    "all": "all questions",
    "same": "questions with the words of the passage",
    "other": "questions with other words",
    "later": "the same, written after the ranking was fixed",
}
NAMES = tuple(f"retrieval-{group}-{name}" for group in GROUPS for name in AGAINST)


def measure(plan: Plan) -> Iterable[Row]:
    """Ask every question in each of the three ways, over the same passages."""
    folder = plan.scratch / "texts"
    write_corpora(folder)
    passages = passages_below(folder)
    questions = [asked for asked in load_questions() if answer_to(asked, passages, folder)]
    found = ours(folder, plan.scratch / "indexes")
    with plain_full_text(passages) as plain:
        others: dict[str, Find] = {"fts5": plain, "count": counting(passages)}
        for group, about in GROUPS.items():
            chosen: list[Labelled] = [asked for asked in questions if group in ("all", asked.kind)]
            mine = quality(found, chosen, folder)
            for name, against in AGAINST.items():
                theirs = quality(others[name], chosen, folder)
                yield Row(
                    f"retrieval-{group}-{name}",
                    f"recall@5 of {mine.questions} {about}; MRR {mine.mean_reciprocal_rank:.3f}, "
                    f"theirs {theirs.mean_reciprocal_rank:.3f}",
                    "of 1",
                    against,
                    mine.recall_at_5,
                    theirs.recall_at_5,
                )


def measure_meaning(plan: Plan) -> Iterable[Row]:
    """Ask every question by words and meaning, and by words alone."""
    folder = plan.scratch / "texts"
    write_corpora(folder)
    embedders = Embedders(BUNDLED, lambda _: None)
    is_there = embedders.chosen is not None
    words = ours(folder, plan.scratch / "indexes")
    both = ours(folder, plan.scratch / "indexes", embedders) if is_there else words
    passages = passages_below(folder)
    questions = [asked for asked in load_questions() if answer_to(asked, passages, folder)]
    for group, about in GROUPS.items():
        chosen = [asked for asked in questions if group in ("all", asked.kind)]
        mine, theirs = quality(both, chosen, folder), quality(words, chosen, folder)
        won, lost = won_and_lost(both, words, chosen, folder)
        yield Row(
            f"retrieval-{group}-meaning",
            f"recall@5 of {mine.questions} {about}, by words and meaning; MRR {mine.mean_reciprocal_rank:.3f}, "
            f"theirs {theirs.mean_reciprocal_rank:.3f}; {won} won, {lost} lost",
            "of 1",
            "words alone",
            mine.recall_at_5 if is_there else None,
            theirs.recall_at_5,
            missing="" if is_there else "the bundled model is not installed",
        )


BENCHMARKS = (
    Benchmark(NAMES, measure),
    Benchmark(tuple(f"retrieval-{group}-meaning" for group in GROUPS), measure_meaning),
)
