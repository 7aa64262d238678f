"""What `delete` and `trash` do."""

from collections.abc import Iterable, Sequence

from conversation_mcp.app import App
from conversation_mcp.cli.changes.session import on_each, opened, resolved
from conversation_mcp.cli.output.agreement import agreed
from conversation_mcp.cli.output.terminal import console, is_terminal, printable, put, put_fields, put_json, say
from conversation_mcp.cli.output.times import when
from conversation_mcp.cli.selection.ids import LAST
from conversation_mcp.cli.usage import FAILED, WrongUsageError
from conversation_mcp.clock import utc_now
from conversation_mcp.conversations.trash_can import TrashedConversation
from conversation_mcp.errors import ConversationNotFoundError
from conversation_mcp.records.models import ConversationId, parse_time
from conversation_mcp.settings import Settings
from conversation_mcp.stores.base import Trashed
from conversation_mcp.text import counted, shorten

UNREADABLE = "(cannot be read)"
SHOWN_CHARS = 60
FOR_GOOD = {"to": "delete for good", "otherwise": "Nothing was deleted."}


def delete_all(settings: Settings, wanted: Sequence[str], *, for_good: bool, sure: bool, as_json: bool) -> int:
    """Move the conversations to the trash, or remove them for good; print each and return the exit code."""
    ids = resolved(settings, wanted)
    if for_good:
        agreed(f"Delete {counted(len(ids), 'conversation')} for good: {', '.join(ids)}?", sure=sure, **FOR_GOOD)

    async def work(app: App) -> int:
        deleted: list[Trashed] = []

        async def one(conversation_id: ConversationId) -> None:
            deleted.append(await app.tidier.delete(conversation_id, _Waiting().report))

        problems = await on_each(ids, one)
        shown = [await app.trash.facts_of(trashed) for trashed in deleted]
        if for_good:
            await _erase(app, deleted)
        _show(shown, "deleted for good" if for_good else "in the trash", problems, as_json=as_json)
        if shown and not for_good and not as_json:
            say(f"Bring back with:  conversation-mcp trash restore {shown[-1].conversation_id}")
        return FAILED if problems else 0

    return opened(settings, work)


def list_trash(settings: Settings, *, as_json: bool) -> None:
    """Print what is in the trash, the latest deletion first."""

    async def work(app: App) -> list[TrashedConversation]:
        return [await app.trash.facts_of(trashed) for trashed in await app.trash.entries()]

    found = opened(settings, work)
    if as_json:
        put_json({"conversations": [each.data() for each in found]})
    elif is_terminal():
        _show_table(found)
    else:
        put_fields((each.conversation_id, each.deleted_at, each.title or UNREADABLE) for each in found)


def restore_all(settings: Settings, wanted: Sequence[str], *, as_json: bool) -> int:
    """Bring the conversations back as they were last deleted, print each and return the exit code."""

    async def work(app: App) -> int:
        entries = await app.trash.entries()
        chosen = [_matching(entries, text)[0] for text in wanted]
        restored: list[TrashedConversation] = []

        async def one(trashed: Trashed) -> None:
            facts = await app.trash.facts_of(trashed)
            await app.trash.restore(trashed.conversation_id)
            restored.append(facts.model_copy(update={"conversation_path": app.store.location(trashed.conversation_id)}))

        problems = await on_each(dict.fromkeys(chosen), one)
        _show(restored, "restored", problems, as_json=as_json)
        return FAILED if problems else 0

    return opened(settings, work)


def empty_trash(settings: Settings, wanted: Sequence[str], *, sure: bool, as_json: bool) -> None:
    """Remove all that is in the trash for good, or those conversations, and print each."""

    async def look(app: App) -> Sequence[Trashed]:
        entries = await app.trash.entries()
        chosen = [trashed for text in wanted for trashed in _matching(entries, text)]
        return list(dict.fromkeys(chosen)) if wanted else entries

    chosen = opened(settings, look)
    if not chosen and not as_json:
        say("The trash is empty.")
        return
    if chosen:
        agreed(f"Delete {counted(len(chosen), 'conversation')} in the trash for good?", sure=sure, **FOR_GOOD)

    async def work(app: App) -> None:
        shown = [await app.trash.facts_of(trashed) for trashed in chosen]
        await _erase(app, chosen)
        _show(shown, "deleted for good", [], as_json=as_json)

    opened(settings, work)


async def _erase(app: App, trashed: Sequence[Trashed]) -> None:
    for conversation_id in await app.trash.erase(trashed):
        say(f"Notice: that {conversation_id} was deleted could not be noted; an import may bring it back.")


def _matching(entries: Sequence[Trashed], text: str) -> Sequence[Trashed]:
    """Return the entries of the one conversation that is meant, the latest deletion first."""
    if text == LAST:
        text = entries[0].conversation_id if entries else text
    found = [trashed for trashed in entries if text and trashed.conversation_id.startswith(text)]
    if not found:
        raise ConversationNotFoundError(shorten(text, SHOWN_CHARS), "the trash")
    if len(ids := sorted({trashed.conversation_id for trashed in found})) > 1:
        raise WrongUsageError(f"{len(ids)} conversations in the trash begin with {text}. Type more of the id.")
    return found


def _show(shown: Iterable[TrashedConversation], what: str, problems: Sequence[str], *, as_json: bool) -> None:
    if as_json:
        put_json({"conversations": [each.data() for each in shown], "problems": list(problems)})
        return
    for each in shown:
        put(f"{each.conversation_id}  {what}: {each.title or UNREADABLE}")


def _show_table(found: Sequence[TrashedConversation]) -> None:
    if not found:
        say("The trash is empty.")
        return
    from rich.table import Table

    table, now = Table(box=None, pad_edge=False, header_style="bold"), utc_now().astimezone()
    table.add_column("deleted", no_wrap=True)
    table.add_column("title", no_wrap=True, overflow="ellipsis", ratio=1)
    table.add_column("id", no_wrap=True, style="dim")
    for each in found:
        table.add_row(when(parse_time(each.deleted_at), now), printable(each.title or UNREADABLE), each.conversation_id)
    console().print(table)


class _Waiting:
    """Says once that a running question is waited for."""

    def __init__(self) -> None:
        self._is_told = False

    async def report(self, headline: str) -> None:
        if not self._is_told:
            self._is_told = True
            say(headline.partition(",")[0])
