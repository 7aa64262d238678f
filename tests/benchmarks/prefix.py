"""The share of what is sent over a conversation that a cache of prefixes cannot serve, because it is new or has moved."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from tests.benchmarks.measuring import Benchmark, Plan
from tests.benchmarks.table import Budget, Row
from tests.fixtures.composing import Talk, file

from conversation_mcp.attaching.contents import FileContent
from conversation_mcp.prompting.budget import budget_of
from conversation_mcp.prompting.measure import Measure
from conversation_mcp.providers.model_facts import ModelFacts
from conversation_mcp.records.chat import ChatMessage

TURNS = 30
WINDOWS = {"32k": 32_000, "128k": 128_000}
GOAL = 0.1
"""The most that may have to be read anew; of PAL's requests it is 79 % (both measured over several turns with files)."""
BUDGETS = {"128k": Budget(1)}
"""In a small window, a few turns fill a step, and each step is read anew."""
FILES, LINES = 6, 120


def measure(name: str, _: Plan) -> Iterable[Row]:
    """Compose a conversation turn by turn, and compare each request with the one before it."""
    measure = Measure()
    sent = served = 0
    former: str | None = None
    for request in _requests(WINDOWS[name], measure):
        text = _text(request)
        sent += measure.tokens(text)
        served += measure.tokens(_common(former, text)) if former is not None else 0
        former = text
    yield Row(
        name=f"prefix-{name}",
        what=f"share of input tokens that a prefix cache cannot serve: {TURNS} turns with files, window of {name}",
        unit="of 1",
        against="the goal of 90 % served (PAL: 21 %)",
        ours=1 - served / sent,
        theirs=GOAL,
        budget=BUDGETS.get(name),
    )


def _requests(window: int, measure: Measure) -> Iterator[Sequence[ChatMessage]]:
    """Yield the requests: each question names the same files, every fifth time one of them has changed."""
    talk = Talk(budget_of(ModelFacts("m", context=window)), system="You review code. " * 40, measure=measure)
    for turn in range(TURNS):
        changes = turn // 5
        files = [_source(number, (changes + FILES - 1 - number) // FILES) for number in range(FILES)]
        made = talk.ask(f"Question {turn}: what about this? " * 8, *files, answer="Because it is so. " * 60)
        yield made.messages


def _source(number: int, version: int) -> FileContent:
    lines = [f"    total_{line} = price_{number} * {line} + rate[{line % 7}]" for line in range(LINES)]
    for edit in range(version):
        lines[(edit * 17 + number) % LINES] = f"    total = {edit}  # changed"
    return file(f"/src/module_{number}.py", "\n".join(lines) + "\n")


def _common(one: str, other: str) -> str:
    """Return what both begin with."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return one[:low]


def _text(request: Sequence[ChatMessage]) -> str:
    return "".join(f"{message.role}\n{message.content}\n" for message in request)


BENCHMARKS = tuple(Benchmark((f"prefix-{name}",), partial(measure, name)) for name in WINDOWS)
