"""Whether the time of a refusal tells anything: of an id that another owner has, and of a token that is almost right."""

import asyncio
import random
import time
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from math import log, sqrt
from statistics import median

from tests.benchmarks.load_client import Connection, result_of
from tests.benchmarks.measuring import Benchmark, Plan
from tests.benchmarks.server_process import added_token, environment_of, measured_server, our_command
from tests.benchmarks.table import Budget, Row
from tests.fixtures.agent import KEY, agent_process

from conversation_mcp.access import tokens

ROUNDS, QUICK_ROUNDS = 4_000, 500
CONVERSATIONS = 50
CHANCE = 0.001
"""How often two samples of the same distribution may be told apart wrongly."""
NAMES = ("refusal-id", "refusal-id-apart", "refusal-token", "refusal-token-apart")
REFUSED = 401
ENDING = 8
"""How many characters at the end of a token are wrong."""

Sample = list[float]


def measure(plan: Plan) -> Iterable[Row]:
    """Be refused in both ways, in random order, and compare the two distributions."""
    rounds = QUICK_ROUNDS if plan.quick else ROUNDS
    with agent_process() as base_url:
        environment = environment_of(plan.scratch, base_url, KEY, CONVERSATION_MCP_TRUSTED_PROXIES="127.0.0.1")
        alice, bob = added_token(environment, "alice"), added_token(environment, "bob")
        with measured_server(our_command(), environment, plan.scratch / "server") as server:
            ids, guesses = asyncio.run(_refusals(server.port, alice, bob, rounds))
    yield from _rows("refusal-id", "an id that another owner has is refused", "an id that nobody has", *ids)
    yield from _rows("refusal-token", "a token that is right but for its end is refused", "a wrong one", *guesses)


def distance(first: Sequence[float], second: Sequence[float]) -> float:
    """Return by how much the shares of both samples below any value differ at most (Kolmogorov and Smirnov)."""
    ordered = sorted(first), sorted(second)
    return max(
        abs(bisect_right(ordered[0], value) / len(first) - bisect_right(ordered[1], value) / len(second))
        for value in (*first, *second)
    )


def largest_by_chance(first: int, second: int) -> float:
    """Return the distance that two samples of one distribution exceed only so often."""
    return sqrt(-log(CHANCE / 2) / 2 * (first + second) / (first * second))


def _rows(name: str, what: str, against: str, ours: Sample, theirs: Sample) -> Iterable[Row]:
    yield Row(name, f"{what}: median of {len(ours):,}", "ms", against, median(ours), median(theirs))
    most = largest_by_chance(len(ours), len(theirs))
    told = f"distance of the two distributions (chance alone: {CHANCE:g})"
    yield Row(f"{name}-apart", told, "of 1", "the most by chance", distance(ours, theirs), most, Budget(1))


async def _refusals(port: int, alice: str, bob: str, rounds: int) -> tuple[tuple[Sample, Sample], ...]:
    hers = Connection(port, f"Authorization: Bearer {alice}\r\n")
    his = Connection(port, f"Authorization: Bearer {bob}\r\n")
    known = [await _started(hers, number) for number in range(CONVERSATIONS)]
    await _started(his, 0)
    return await _of_ids(his, known, rounds), await _of_tokens(port, alice, rounds)


async def _started(connection: Connection, number: int) -> str:
    result = result_of(*await connection.call("search", {"query": f"Why {number}?"}))
    return str(result["structuredContent"]["conversationId"])


async def _of_ids(connection: Connection, known: list[str], rounds: int) -> tuple[Sample, Sample]:
    taken = set(known)

    def of_nobody() -> str:
        day, _, milliseconds = random.choice(known).partition("-")
        found = f"{day}-{int(milliseconds) + random.randint(-50_000, 50_000):013d}"
        return of_nobody() if found in taken else found

    async def refused(wanted: str) -> float:
        began = time.perf_counter()
        _, told = await connection.call("get_conversation_history", {"conversationId": wanted})
        seconds = time.perf_counter() - began
        assert b"CONVERSATION_NOT_FOUND" in told, told
        return 1_000 * seconds

    samples: tuple[Sample, Sample] = ([], [])
    for kind in _shuffled(rounds):
        samples[kind].append(await refused(of_nobody() if kind else random.choice(known)))
    return samples


async def _of_tokens(port: int, token: str, rounds: int) -> tuple[Sample, Sample]:
    connection = Connection(port)
    end = len(tokens.PREFIX) + tokens.RANDOM_CHARS

    def almost() -> str:
        """Return a token that begins as the right one does; its checksum fits, as that of a good guess."""
        right, other = (text[len(tokens.PREFIX) : end] for text in (token, tokens.new_token()))
        return tokens.with_checksum(right[:-ENDING] + other[-ENDING:])

    async def refused(guess: str, number: int) -> float:
        # From an address of its own, or further attempts would be turned away before they are looked at.
        address = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
        headers = f"Authorization: Bearer {guess}\r\nX-Forwarded-For: {address}\r\n"
        began = time.perf_counter()
        status, _ = await connection.call("list_conversations", {}, headers)
        seconds = time.perf_counter() - began
        assert status == REFUSED, status
        return 1_000 * seconds

    samples: tuple[Sample, Sample] = ([], [])
    for number, kind in enumerate(_shuffled(rounds)):
        samples[kind].append(await refused(tokens.new_token() if kind else almost(), number))
    return samples


def _shuffled(rounds: int) -> list[int]:
    kinds = [0, 1] * rounds
    random.shuffle(kinds)
    return kinds


BENCHMARKS = (Benchmark(NAMES, measure),)
