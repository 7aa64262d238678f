"""PostgreSQL for many owners: pages and searches of one of them, turns of several servers, and a whole follow-up."""

import asyncio
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from functools import partial
from itertools import count
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks.corpus import Corpus
from tests.benchmarks.library import PAGE, queries_in, timed
from tests.benchmarks.load_client import Answered, Connection, converse
from tests.benchmarks.measuring import Benchmark, Plan, alternate
from tests.benchmarks.server_process import environment_of, measured_server, our_command
from tests.benchmarks.stopwatch import our_stopwatch
from tests.benchmarks.table import Budget, Row
from tests.benchmarks.turns import MESSAGES
from tests.fixtures.agent import KEY, agent_process
from tests.fixtures.databases import PostgreSQL, is_installed, postgresql
from tests.fixtures.library import Shelf, wanted_of
from tests.fixtures.vectors import OneEmbedder, WordModel, there

from conversation_mcp.clock import utc_now
from conversation_mcp.conversations.turn_meaning import NEAR_TURNS
from conversation_mcp.embeddings.meaning import Meaning
from conversation_mcp.records.codec import decode
from conversation_mcp.records.found import Page
from conversation_mcp.records.ids import check_id
from conversation_mcp.stores.catalog import open_store
from conversation_mcp.stores.finder import Finder
from conversation_mcp.stores.headway import Headway

OWNERS, QUICK_OWNERS = 1_000, 50
CONVERSATIONS = 100
"""Of each owner."""
OWNER, ANOTHER = "user-0", "user-7"
"""The other one was given what the first one has, so that its rows lie among those of all."""
DIMENSIONS = 384
ROUNDS = 60
REPLICAS = (1, 2, 4)
CLIENTS = 16
TURNS, QUICK_TURNS = 200, 80
TURNS_IN_CONVERSATION = 4
FOLLOW_UPS = 60
NOT_INSTALLED = "PostgreSQL is not installed"
MIB = 1 << 20
PAGES = 500
"""Enough for clocks of processes, which go in steps of 10 ms."""
LIBRARY = (
    "database-page",
    "database-search",
    "database-meaning",
    "database-page-alone",
    "database-search-alone",
    "database-meaning-alone",
    "database-page-cpu",
    "database-size",
)
TURN_ROWS = (*(f"database-turns-{number}" for number in REPLICAS), "database-turns-cpu", "database-turns-bytes")
COPIES = (
    "INSERT INTO owners (owner) SELECT 'user-' || copy FROM generate_series(1, {last}) AS copy",
    """INSERT INTO conversations (owner, slot, id, changed_at, version, head, message_count, size_bytes,
        updated_milliseconds, facts, facets)
    SELECT 'user-' || copy, slot + 1000000 * copy, id, changed_at, version, head, message_count, size_bytes,
        updated_milliseconds, facts, facets
    FROM conversations, generate_series(1, {last}) AS copy ORDER BY slot, copy""",
    """INSERT INTO messages (owner, slot, number, body) SELECT 'user-' || copy, slot + 1000000 * copy, number, body
    FROM messages, generate_series(1, {last}) AS copy ORDER BY slot, number, copy""",
    """INSERT INTO words (owner, slot, number, word_count, line)
    SELECT 'user-' || copy, slot + 1000000 * copy, number, word_count, line
    FROM words, generate_series(1, {last}) AS copy ORDER BY slot, number, copy""",
)
"""What one owner has is given to all others; rows lie as if all had written in turn."""
COPIES_OF_VECTORS = (
    """INSERT INTO vector_models (owner, kind, name, choice) SELECT 'user-' || copy, kind, name, choice
    FROM vector_models, generate_series(1, {last}) AS copy""",
    """INSERT INTO vector_groups (owner, model, name, slot, state)
    SELECT m.owner, m.model, g.name, g.slot + 1000000 * substr(m.owner, 6)::integer, g.state
    FROM vector_groups g, vector_models m WHERE m.owner <> g.owner ORDER BY g.slot, m.model""",
    """INSERT INTO vectors (owner, model, name, item, digest, numbers)
    SELECT m.owner, m.model, v.name, v.item, v.digest, v.numbers
    FROM vectors v, vector_models m WHERE m.owner <> v.owner ORDER BY v.name, v.item, m.model""",
)


def measure_library(plan: Plan) -> Iterable[Row]:
    """Show pages to one owner of many, to the same owner alone in a database, and from the index of a folder."""
    if not is_installed():
        yield from (_missing(name) for name in LIBRARY)
        return
    owners = QUICK_OWNERS if plan.quick else OWNERS
    shelf = Shelf(plan.scratch / OWNER)
    Corpus().write(shelf.root, CONVERSATIONS)
    shelf.index.rebuild(Headway())
    queries = queries_in(shelf.root)
    with postgresql(shared_buffers="512MB") as server:
        alone, many = server.database(), server.database()
        model = WordModel(dimensions=DIMENSIONS)
        for url in (alone, many):
            asyncio.run(_fill(url, shelf.root))
        _give_to_all(server, many, COPIES, owners)
        size = _size(server, many, owners, shelf.root)
        for finder in (*(open_store(url, utc_now, OWNER).finder for url in (alone, many)), shelf.finder):
            _make_vectors(finder, model)
        _give_to_all(server, many, COPIES_OF_VECTORS, owners)
        finders = [open_store(url, utc_now, owner).finder for url, owner in ((many, ANOTHER), (alone, OWNER))]
        asked = [*(finder.page for finder in finders), shelf.index.page]
        pages = [partial(timed, partial(ask, wanted_of(), PAGE)) for ask in asked]
        searches = [partial(timed, lambda ask=ask: [ask(wanted_of(query), PAGE) for query in queries]) for ask in asked]
        meant = [partial(timed, partial(_by_meaning, finder, model, queries)) for finder in (*finders, shelf.finder)]
        what = f"of an owner with {CONVERSATIONS} of {owners * CONVERSATIONS:,} conversations in PostgreSQL"
        measured = (
            ("page", f"a page {what}", pages),
            ("search", f"two searches {what}", searches),
            ("meaning", f"two searches by words and meaning {what}", meant),
        )
        for name, said, sides in measured:
            ours, lonely, sqlite = alternate(plan.rounds(ROUNDS), sides, warm_ups=5)
            yield Row(f"database-{name}", said, "ms", "the index of a folder", ours, sqlite, Budget(2))
            against = "no other owner there"
            yield Row(f"database-{name}-alone", said, "ms", against, ours, lonely, Budget(1.25))
        yield _processor_time(server, asked[0], asked[-1], what)
        yield size


def measure_turns(plan: Plan) -> Iterable[Row]:
    """Have clients ask one server, two and four on one database, and one server on files."""
    if not is_installed() or not Path("/proc/self/stat").exists():
        yield from (_missing(name) for name in TURN_ROWS)
        return
    turns = QUICK_TURNS if plan.quick else TURNS
    with agent_process() as base_url, postgresql(fsync="on") as server:
        files = _turns(plan.scratch / "files", 1, turns, base_url)
        for number in REPLICAS:
            url = server.database()
            tables = _turns(plan.scratch / f"on-{number}", number, turns, base_url, server, url)
            servers = "1 server" if number == 1 else f"{number} servers"
            what = f"{turns} turns of {CLIENTS} clients, {servers} on PostgreSQL"
            yield Row(f"database-turns-{number}", what, "per s", "1 server on files", tables.rate, files.rate)
            if number == 1:
                what = "processor time of a turn in PostgreSQL"
                yield Row("database-turns-cpu", what, "ms", "in the server", tables.database_ms, tables.server_ms)
                what = "what PostgreSQL logs ahead for a turn"
                against = "what the database has grown by"
                yield Row("database-turns-bytes", what, "bytes", against, tables.logged_bytes, tables.kept_bytes)


def measure_follow_up(plan: Plan) -> Iterable[Row]:
    """Run whole follow-ups in PostgreSQL and on files in turn."""
    if not is_installed():
        yield _missing("database-follow-up")
        return
    with ExitStack() as stack:
        server = stack.enter_context(postgresql(fsync="on"))
        watches = [
            stack.enter_context(our_stopwatch("turn", plan.scratch / name, url))
            for name, url in (("tables", server.database()), ("files", ""))
        ]
        sides = [partial(watch.milliseconds, MESSAGES) for watch in watches]
        tables, files = alternate(plan.rounds(FOLLOW_UPS), sides, warm_ups=5)
    what = f"our share of a follow-up in PostgreSQL, {MESSAGES} messages of 2 KB"
    yield Row("database-follow-up", what, "ms", "the same on files", tables, files)


class Turns(NamedTuple):
    """What turns took, each but the rate for one of them."""

    rate: float
    """In a second."""
    server_ms: float
    database_ms: float
    logged_bytes: float
    kept_bytes: float


async def _fill(url: str, root: Path) -> None:
    store = open_store(url, utc_now, OWNER, is_durable=False)
    for folder in sorted(root.iterdir()):
        conversation_id = check_id(folder.name)
        assert await store.reserve_this(conversation_id)
        await store.create(decode((folder / "conversation.json").read_bytes(), str(folder), conversation_id))


def _make_vectors(finder: Finder, model: WordModel) -> None:
    turns = there(finder.turns)
    list(Meaning(turns.vectors, OneEmbedder(model)).steps(turns.source))


def _by_meaning(finder: Finder, model: WordModel, queries: list[str]) -> None:
    vectors = there(finder.turns).vectors
    for query, vector in zip(queries, model.embed_queries(queries), strict=True):
        near = vectors.nearest(model.name, vector, NEAR_TURNS)
        assert finder.page(wanted_of(query), PAGE, None, near).found


def _give_to_all(server: PostgreSQL, url: str, copies: Iterable[str], owners: int) -> None:
    for sql in copies:
        server.change(url, f"SET session_replication_role = replica; {sql.format(last=owners - 1)}")
    server.change(url, "VACUUM ANALYZE")


def _processor_time(server: PostgreSQL, ask: Callable[..., Page], ask_folder: Callable[..., Page], what: str) -> Row:
    """Compare what pages cost, which other work on the machine makes little longer, unlike the wait for two processes."""

    def spent(ask: Callable[..., Page]) -> float:
        before = time.process_time() + server.cpu_seconds()
        for _ in range(PAGES):
            ask(wanted_of(), PAGE)
        return (time.process_time() + server.cpu_seconds() - before) / PAGES * 1_000

    what = f"processor time of a page {what}, in the program and the server"
    return Row("database-page-cpu", what, "ms", "the index of a folder", spent(ask), spent(ask_folder), Budget(2))


def _size(server: PostgreSQL, url: str, owners: int, root: Path) -> Row:
    files = owners * sum(path.stat().st_size for path in root.glob("*/conversation.json")) / MIB
    tables = server.size_bytes(url) / MIB
    what = f"the database of {owners * CONVERSATIONS:,} conversations, indexes and words included, vectors not"
    return Row("database-size", what, "MiB", "the same as files", tables, files)


def _turns(
    scratch: Path, servers: int, turns: int, base_url: str, database: PostgreSQL | None = None, url: str = ""
) -> Turns:
    settings = {"CONVERSATION_MCP_STORE": url} if url else {}
    with ExitStack() as stack:
        folders = (scratch / str(number) for number in range(servers))
        running = [
            stack.enter_context(measured_server(our_command(), environment_of(each, base_url, KEY, **settings), each))
            for each in folders
        ]
        connections = [Connection(running[client % servers].port) for client in range(CLIENTS)]

        def standing() -> tuple[float, ...]:
            own = sum(each.cpu_seconds() for each in running)
            return own, *(
                (database.cpu_seconds(), database.logged_bytes(), database.size_bytes(url)) if database else ()
            )

        before, seconds, after = asyncio.run(_asked(connections, turns // TURNS_IN_CONVERSATION, standing))
    each = [(later - sooner) / turns for sooner, later in zip(before, after, strict=True)]
    server_seconds, database_seconds, logged_bytes, kept_bytes = *each, *([0.0] * (4 - len(each)))
    return Turns(turns / seconds, 1_000 * server_seconds, 1_000 * database_seconds, logged_bytes, kept_bytes)


async def _asked(
    connections: list[Connection], conversations: int, standing: Callable[[], tuple[float, ...]]
) -> tuple[tuple[float, ...], float, tuple[float, ...]]:
    """Return what stood before and after, and the seconds between; the first conversations do not count."""

    async def all_of(first: int, until: int) -> Answered:
        answered, numbers = Answered(), count(first)

        async def work(connection: Connection) -> None:
            while (number := next(numbers)) < until:
                await converse(connection, "", str(number), answered)

        async with asyncio.TaskGroup() as tasks:
            for connection in connections:
                tasks.create_task(work(connection))
        return answered

    warm = len(connections)
    await all_of(0, warm)
    before, began = standing(), time.perf_counter()
    answered = await all_of(warm, warm + conversations)
    seconds, after = time.perf_counter() - began, standing()
    for connection in connections:
        connection.close()
    for problem in answered.errors[:3]:
        print("database-turns:", problem, file=sys.stderr)
    assert not answered.errors
    assert not answered.lost_turns
    return before, seconds, after


def _missing(name: str) -> Row:
    return Row(name, "PostgreSQL", "ms", "the same without it", None, None, missing=NOT_INSTALLED)


BENCHMARKS = (
    Benchmark(LIBRARY, measure_library),
    Benchmark(TURN_ROWS, measure_turns),
    Benchmark(("database-follow-up",), measure_follow_up),
)
