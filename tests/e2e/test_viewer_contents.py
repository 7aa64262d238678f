"""Everything that a conversation holds has its place on its page, and in the export that looks the same."""

import re
from collections.abc import AsyncGenerator

import pytest
from tests.fixtures.full_conversation import full_conversation
from tests.fixtures.homes import Home
from tests.fixtures.providers import FakeProvider
from tests.fixtures.viewing import Visitor, visiting

ID = "20261125-1795625145678"
PLACE = f"/c/{ID}"
FILTERS = {
    "tool=search": True,
    "tool=chat": False,
    "provider=perplexity": True,
    "provider=openai": False,
    "model=openai/gpt-6-luna": True,
    "model=gpt-5": False,
    "tag=languages": True,
    "tag=work": False,
    "state=archived": False,
    "after=2026-11-25": True,
    "before=2026-11-25": False,
    "q=Rust&tag=languages&provider=perplexity&after=2026-11-25": True,
    "q=Rust&tag=work": False,
    "q=simpler&tag=languages": False,
}
TAGS = re.compile(r"<[^>]+>")


@pytest.fixture
async def visitor(home: Home) -> AsyncGenerator[Visitor]:
    home.put(full_conversation(ID))
    async with visiting(home, FakeProvider()) as visitor:
        await visitor.enter()
        yield visitor


def sections_of(page: str) -> list[str]:
    return re.findall(r"<section.*?</section>", page, re.DOTALL)


def text_of(html: str) -> str:
    return " ".join(TAGS.sub(" ", html).split())


async def test_everything_has_its_place_in_order(visitor: Visitor) -> None:
    shown = [text_of(section) for section in sections_of((await visitor.get(PLACE)).text)]
    expected = (
        ("Outcome", "We take Go."),
        ("Memories", "The parser is written in Go.", "decision"),
        ("Summary of messages 2 to 3", "They weigh two languages."),
        ("System message", "Answer with sources."),
        ("Question 1", "search", "Rust or Go?", "Files", "/home/ada/daemon/main.go · 2,048 bytes · sent whole",
         "/home/ada/.env · not sent · may hold secrets", "/home/ada/load.png · 640 by 480"),
        ("Answer 1", "perplexity fast (openai/gpt-6-luna)", "$0.0038", "2026-11-25 16:45 UTC", "4,252 tokens in, 310 out",
         "Go starts in $2^3$ ms", "Reasoning Both are small.", "Sources", "Daemons compared", "example.org", "2026-09-19",
         "It starts at once.", "Related questions What about Zig?", "Notices The filter was not applied."),
        ("debug, step 1 of 2", "Look at part 1.", "Issue, high: It leaks memory.", "Hypothesis: A loop."),
        ("debug, step 2 of 2", "Look at part 2."),
        ("Question without an answer: failed", "Is there a third way?", "Text so far: There is",
         "PROVIDER_QUOTA: The account is out of credit. Add some, and ask again."),
        ("Question 2", "لماذا؟"),
        ("Answer 2", "لأنه أبسط بكثير."),
    )  # fmt: skip
    assert len(shown) == len(expected)
    for section, (heading, *parts) in zip(shown, expected, strict=True):
        assert section.startswith(heading), heading
        for part in parts:
            assert part in section, (heading, part)


async def test_conversations_that_belong_with_it_are_links(visitor: Visitor) -> None:
    page = (await visitor.get(PLACE)).text
    assert 'Belongs with <a href="/c/20261127-1795812345678">20261127-1795812345678</a> (related)' in page
    assert "Belongs with 20261127-1795812345678 (related)" in (await visitor.get(f"{PLACE}/export?format=html")).text


async def test_the_export_shows_the_same_sections_without_what_a_page_can_do(visitor: Visitor) -> None:
    page = (await visitor.get(PLACE)).text
    export = (await visitor.get(f"{PLACE}/export?format=html")).text
    buttons = re.compile(r"<button.*?</button>")
    assert sections_of(export) == [buttons.sub("", section) for section in sections_of(page)]
    assert "<script" not in export
    assert "<form" not in export


async def test_the_list_is_narrowed_by_each_filter_of_its_address(visitor: Visitor) -> None:
    for given, is_found in FILTERS.items():
        page = (await visitor.get(f"/?{given}")).text
        assert (f'data-id="{ID}"' in page) is is_found, given
        for pair in given.split("&"):
            name, _, value = pair.partition("=")
            kept = rf'name="{name}"[^>]* value="{value}"|<option value="{value}" selected>'
            assert re.search(kept, page), given


async def test_a_row_shows_cost_turns_state_and_tags_in_words(visitor: Visitor) -> None:
    await visitor.post(f"{PLACE}/archive")
    page = (await visitor.get("/?state=archived")).text
    row = re.search(r'<li class="row.*?</li>', page, re.DOTALL)
    assert row
    assert text_of(row[0]).endswith("archived languages 2 turns $0.0076")
    assert "1 conversation · $0.0076" in page
