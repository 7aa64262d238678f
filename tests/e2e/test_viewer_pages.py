"""The viewer's pages, as they come to a browser."""

import re
from collections.abc import AsyncGenerator

import anyio
import pytest
from tests.fixtures.homes import Home
from tests.fixtures.providers import FakeProvider, failing, held
from tests.fixtures.viewing import Visitor, visiting

from conversation_mcp.errors import ProviderQuotaError
from conversation_mcp.turns.ask import Caller


@pytest.fixture
async def provider() -> FakeProvider:
    return FakeProvider()


@pytest.fixture
async def visitor(home: Home, provider: FakeProvider) -> AsyncGenerator[Visitor]:
    async with visiting(home, provider) as visitor:
        await visitor.enter()
        yield visitor


async def asked(visitor: Visitor, question: str, path: str = "/ask", **fields: str) -> str:
    """Ask on the page and return the address of the conversation once the answer is there."""
    answer = await visitor.post(path, kind="search", question=question, **fields)
    assert answer.status_code == 303, answer.text
    page = answer.headers["location"].partition("#")[0]
    await visitor.app.watch.look(page.rpartition("/")[2], caller())
    return page


def caller() -> Caller:
    return Caller(60)


async def test_an_empty_library_says_how_to_begin(visitor: Visitor) -> None:
    page = (await visitor.get("/")).text
    assert "There are no conversations yet." in page
    assert 'href="/ask"' in page


async def test_a_question_opens_a_conversation_that_shows_its_answer_and_sources(visitor: Visitor) -> None:
    page = (await visitor.get(await asked(visitor, "What is a B-tree?"))).text
    assert "What is a B-tree?" in page
    assert re.search(r'answer 1 to What is a B-tree\? <a class="cite" id="m3-1-c" href="#m3-1">\[1\]</a>', page)
    assert 'href="#m3-1-c"' in page
    assert "10 tokens in, 5 out" in page
    assert "$0.25" in page
    assert "<code data-copied>" in page


async def test_a_follow_up_goes_to_the_same_conversation(visitor: Visitor, provider: FakeProvider) -> None:
    place = await asked(visitor, "one?")
    assert await asked(visitor, "two?", f"{place}/ask") == place
    assert [message.content for message in provider.requests[-1].messages if message.role == "user"] == ["one?", "two?"]
    page = (await visitor.get(place)).text
    assert "Question 2" in page
    assert "Answer 2" in page


async def test_the_same_question_again_is_asked_again_once_its_answer_was_shown(
    visitor: Visitor, provider: FakeProvider
) -> None:
    place = await asked(visitor, "one?")
    await visitor.get(place)
    await asked(visitor, "one?")
    assert len(provider.requests) == 2


async def test_a_question_that_is_refused_stays_in_the_form_with_the_reason(visitor: Visitor) -> None:
    answer = await visitor.post("/ask", kind="search", question="   ")
    assert answer.status_code == 422
    assert 'role="alert"' in answer.text
    long = await visitor.post("/ask", kind="search", question="Which one?", model="nobody:nothing")
    assert long.status_code in {422, 500}
    assert "Which one?" in long.text
    assert 'value="nobody:nothing"' in long.text


async def test_a_question_without_an_answer_says_why(home: Home) -> None:
    async with visiting(home, FakeProvider(failing(ProviderQuotaError("fake")))) as visitor:
        await visitor.enter()
        answer = await visitor.post("/ask", kind="search", question="Why?")
        page = answer.headers["location"].partition("#")[0]
        await visitor.app.watch.look(page.rpartition("/")[2], caller())
        text = (await visitor.get(page)).text
        assert "Question without an answer: failed" in text
        assert "PROVIDER_QUOTA" in text
        assert "not answered" in (await visitor.get("/")).text


async def test_a_running_turn_shows_what_it_does_and_ends_in_the_answer(home: Home) -> None:
    gate = anyio.Event()
    async with visiting(home, FakeProvider(held(gate))) as visitor:
        await visitor.enter()
        place = (await visitor.post("/ask", kind="search", question="Long?")).headers["location"].partition("#")[0]
        page = (await visitor.get(place)).text
        assert "data-running" in page
        assert f'action="{place}/stop"' in page
        part = await visitor.get(f"{place}/part?from=1&live")
        assert "data-running" in part.text
        gate.set()
        await visitor.app.watch.look(place.rpartition("/")[2], caller())
        part = await visitor.get(f"{place}/part?from=1&live")
        assert "data-running" not in part.text
        assert "Answer 1" in part.text
        same = await visitor.get(f"{place}/part?from=1&live", **{"if-none-match": part.headers["etag"]})
        assert (same.status_code, same.content) == (304, b"")


async def test_a_running_turn_can_be_stopped(home: Home) -> None:
    async with visiting(home, FakeProvider(held(anyio.Event()))) as visitor:
        await visitor.enter()
        place = (await visitor.post("/ask", kind="search", question="Long?")).headers["location"].partition("#")[0]
        assert (await visitor.post(f"{place}/stop")).status_code == 303
        assert "data-running" not in (await visitor.get(place)).text


async def test_the_list_finds_highlights_and_leads_to_the_message(visitor: Visitor) -> None:
    place = await asked(visitor, "How fast is a hummingbird?")
    await asked(visitor, "Something else entirely")
    page = (await visitor.get("/?q=hummingbird&part=rows")).text
    assert "<mark>hummingbird</mark>" in page
    assert re.search(rf'href="{place}\?at=\d+#m\d+"', page)
    assert "Something else" not in page
    assert "Nothing was found." in (await visitor.get("/?q=zebra")).text


async def test_filters_stay_in_the_address_and_wrong_ones_are_explained(visitor: Visitor) -> None:
    await asked(visitor, "one?")
    page = (await visitor.get("/?provider=fake&state=failed")).text
    assert 'name="provider" value="fake"' in page
    assert '<option value="failed" selected>' in page
    wrong = await visitor.get("/?after=soon")
    assert wrong.status_code == 422
    assert "a date must be written as 2026-01-31" in wrong.text
    assert (await visitor.get("/?state=asleep")).status_code == 422
    assert (await visitor.get("/?cursor=nonsense")).status_code == 422


async def test_a_long_list_comes_in_pages(visitor: Visitor, home: Home) -> None:
    for number in range(60):
        home.put(conversation(number))
    first = (await visitor.get("/")).text
    more = re.search(r'href="(/\?cursor=[^"]+)" data-more', first)
    assert more
    assert "50 conversations so far" in first
    rest = (await visitor.get(more[1].replace("&amp;", "&") + "&part=rows")).text
    assert rest.count('class="row') - rest.count('class="rows') == 10
    assert "data-more" not in rest
    assert (await visitor.get("/?limit=60&part=rows")).text.count("data-id=") == 60


async def test_titles_tags_and_the_archive_are_changed_by_forms(visitor: Visitor) -> None:
    place = await asked(visitor, "one?")
    assert (await visitor.post(f"{place}/rename", title="A better title")).headers["location"] == place
    await visitor.post(f"{place}/tag", tags="work, trees , ")
    page = (await visitor.get(place)).text
    assert '<h1 dir="auto">A better title</h1>' in page
    assert 'name="tags" value="work, trees"' in page
    await visitor.post(f"{place}/archive")
    assert "A better title" not in (await visitor.get("/")).text
    assert "A better title" in (await visitor.get("/?state=archived")).text
    await visitor.post(f"{place}/archive", undo="1")
    assert "A better title" in (await visitor.get("/")).text


async def test_a_branch_and_its_original_link_to_each_other(visitor: Visitor) -> None:
    place = await asked(visitor, "one?")
    branch = (await visitor.post(f"{place}/branch", message="3")).headers["location"]
    assert f'href="{place}"' in (await visitor.get(branch)).text
    assert f'href="{branch}"' in (await visitor.get(place)).text
    assert (await visitor.post(f"{place}/branch", message="2")).status_code == 422
    assert (await visitor.post(f"{place}/branch", message="x")).status_code == 422


async def test_a_deletion_can_be_undone(visitor: Visitor) -> None:
    place = await asked(visitor, "one?")
    leads = (await visitor.post(f"{place}/delete")).headers["location"]
    page = (await visitor.get(leads)).text
    assert "Moved to the trash." in page
    assert f'action="{place}/restore"' in page
    assert "one?" in (await visitor.get("/trash")).text
    assert (await visitor.get(place)).status_code == 404
    assert (await visitor.post(f"{place}/restore")).headers["location"] == place
    assert (await visitor.get(place)).status_code == 200


async def test_exports_and_the_raw_file_are_one_step_away(visitor: Visitor, home: Home) -> None:
    place = await asked(visitor, "one?")
    raw = await visitor.get(f"{place}/raw")
    assert raw.content == home.body(place.rpartition("/")[2])
    assert raw.headers["content-type"].startswith("text/plain")
    for name in ("markdown", "html", "json", "jsonl"):
        export = await visitor.get(f"{place}/export?format={name}")
        assert "attachment" in export.headers["content-disposition"]
        assert b"answer 1 to one?" in export.content
    assert (await visitor.get(f"{place}/export?format=exe")).status_code == 404


async def test_figures_show_bars_and_their_numbers(visitor: Visitor) -> None:
    await asked(visitor, "one?")
    for way in ("day", "provider", "model", "tool"):
        page = (await visitor.get(f"/figures?by={way}")).text
        assert page.count("<rect") == 2
        assert page.count("$0.25") >= 3
    assert (await visitor.get("/figures?by=mood")).status_code == 422
    assert "Nothing was asked since then." in (await visitor.get("/figures?since=2999-01-01")).text


async def test_what_is_not_there_is_said_plainly(visitor: Visitor) -> None:
    for path in ("/c/20200101-1577836800000", "/c/..%2f..%2fetc", "/c/x", "/nowhere"):
        answer = await visitor.get(path)
        assert answer.status_code in {404, 422}, path
        assert "Traceback" not in answer.text


def conversation(number: int) -> dict[str, object]:
    messages = [{"role": "user", "content": "question?"}, {"role": "assistant", "content": "Answer."}]
    return {
        "conversationId": f"20250101-{1735689600000 + number}",
        "createdAt": "2025-01-01T00:00:00.000Z",
        "updatedAt": f"2025-01-01T00:00:{number:02}.000Z",
        "messageCount": len(messages),
        "messages": messages,
    }
