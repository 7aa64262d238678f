"""The viewer in a real browser, beside a static page with the same bytes: the first paint, and a search while typing."""

import re
import threading
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.benchmarks.corpus import Corpus
from tests.benchmarks.measuring import Benchmark, Plan, alternate
from tests.benchmarks.table import Budget, Row
from tests.fixtures.browser import Browser, open_browser
from tests.fixtures.chromium import NAMES as BROWSERS
from tests.fixtures.library import Shelf
from tests.fixtures.shown_library import LONG, fill
from tests.fixtures.viewing import viewer

from conversation_mcp.stores.headway import Headway

CONVERSATIONS, QUICK_CONVERSATIONS = 100_000, 2_000
LONG_TURNS, QUICK_LONG_TURNS = 5_000, 500
ROUNDS = 15
LIST_NAMES = ("view-list", "view-search")
CONVERSATION_NAMES = ("view-conversation", "view-conversation-again", "view-conversation-whole")
KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
WHOLE = "performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"
FILE = re.compile(r'(?:href|src)="([^"]+[?]v=[^"]+)"')
FETCHED = "fetch(WHERE).then(async answer => [await answer.text(), answer.headers.get('cache-control')])"
FOUND = """(async () => {
  const began = performance.now();
  const made = document.createElement("template");
  made.innerHTML = await (await fetch(WHERE)).text();
  document.querySelector("#results").replaceChildren(made.content);
  document.querySelector("#results").getBoundingClientRect();
  return performance.now() - began;
})()"""


def measure_list(plan: Plan) -> Iterable[Row]:
    """Open the list of a large library and search there, and the same bytes from a plain server."""
    return _measured(plan, LIST_NAMES, _list_rows)


def measure_conversation(plan: Plan) -> Iterable[Row]:
    """Open a long conversation, and the same bytes from a plain server."""
    return _measured(plan, CONVERSATION_NAMES, _conversation_rows)


def _measured(
    plan: Plan, names: Iterable[str], measure: Callable[[Plan, Browser, Budget | None], Iterable[Row]]
) -> Iterable[Row]:
    try:
        with open_browser() as browser:
            yield from measure(plan, browser, None if plan.quick else Budget(2))
    except BaseException as error:
        if type(error).__name__ not in {"Skipped", "Failed"}:  # pytest's, for a browser that is not there
            raise
        missing = f"no browser: {' or '.join(BROWSERS)}"
        yield from (Row(name, "the viewer", "ms", "a static page", None, None, Budget(2), missing) for name in names)


def _list_rows(plan: Plan, browser: Browser, limit: Budget | None) -> Iterable[Row]:
    count = QUICK_CONVERSATIONS if plan.quick else CONVERSATIONS
    many = Shelf(plan.scratch / "many")
    Corpus().write(many.root, count)
    many.index.rebuild(Headway())
    rounds = plan.rounds(ROUNDS)
    where = "/?q=conversation&part=rows"
    with _opened(browser, plan.scratch, many.root, where) as (base, static):
        list_paint, list_static = alternate(rounds, [partial(_paint, browser, f"{each}/") for each in (base, static)])
        search, search_static = alternate(
            rounds, [partial(_found, browser, f"{each}/", where) for each in (base, static)]
        )
    yield Row("view-list", f"first paint of {count:,}", "ms", "a static page", list_paint, list_static, limit)
    yield Row("view-search", f"a search in {count:,}", "ms", "static rows", search, search_static, limit)


def _conversation_rows(plan: Plan, browser: Browser, limit: Budget | None) -> Iterable[Row]:
    turns, rounds = QUICK_LONG_TURNS if plan.quick else LONG_TURNS, plan.rounds(ROUNDS)
    logs, what = plan.scratch / "long" / "conversation-logs", f"{turns * 2:,} messages"
    long_ids = fill(logs, LONG + 1, turns)
    path = f"/c/{long_ids[LONG]}"
    with _opened(browser, plan.scratch, logs, path) as (base, static):

        def anew(seen: Callable[[Browser, str], float]) -> float:
            browser.open(f"{base}/c/{long_ids[0]}")  # beside a long file, no other one is remembered
            return seen(browser, f"{base}{path}")

        plain = partial(_paint, browser, f"{static}{path}")
        new, new_static = alternate(rounds, [partial(anew, _paint), plain])
        known, known_static = alternate(rounds, [partial(_paint, browser, f"{base}{path}"), plain])
        whole, whole_static = alternate(rounds, [partial(anew, _whole), partial(_whole, browser, f"{static}{path}")])
    yield Row("view-conversation", f"first paint of {what}", "ms", "a static page", new, new_static, limit)
    yield Row(
        "view-conversation-again", f"the same, read before: {what}", "ms", "a static page", known, known_static, limit
    )
    yield Row("view-conversation-whole", "its page is whole, and painted", "ms", "a static page", whole, whole_static)


@contextmanager
def _opened(browser: Browser, scratch: Path, logs: Path, *paths: str) -> Generator[tuple[str, str]]:
    """Yield the addresses of the viewer and of a plain server that repeats what the viewer once answered."""
    with viewer(scratch, "", "--logs-dir", str(logs)) as address:
        browser.open(address)
        base = address.partition("/?")[0]
        with _repeating(browser, base, paths) as static:
            yield base, static


def _paint(browser: Browser, address: str) -> float:
    browser.open(address)
    browser.until(f"{PAINT} > 0")
    return browser.run(PAINT)


def _whole(browser: Browser, address: str) -> float:
    return max(_paint(browser, address), browser.run(WHOLE))


def _found(browser: Browser, page: str, where: str) -> float:
    browser.open(page)
    return browser.run(FOUND.replace("WHERE", repr(where)))


@contextmanager
def _repeating(browser: Browser, base: str, paths: Iterable[str]) -> Generator[str]:
    kept: dict[str, tuple[bytes, str]] = {}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body, caching = kept.get(self.path, (b"", "no-cache"))
            self.send_response(200)
            suffix = Path(self.path.partition("?")[0]).suffix
            self.send_header("content-type", KINDS.get(suffix, "text/html; charset=utf-8"))
            self.send_header("cache-control", caching)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the name that http.server gives it
            del format, args

    files = FILE.findall(browser.run(f"fetch({base + '/'!r}).then(answer => answer.text())"))
    for path in ("/", *files, *paths):
        text, caching = browser.run(FETCHED.replace("WHERE", repr(base + path)))
        kept[path] = text.encode(), caching
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


BENCHMARKS = (Benchmark(LIST_NAMES, measure_list), Benchmark(CONVERSATION_NAMES, measure_conversation))
