"""What `branch`, `merge`, `rename`, `tag` and `archive` do."""

from collections.abc import Sequence

from conversation_mcp.app import App
from conversation_mcp.cli.changes.session import on_each, opened, resolved
from conversation_mcp.cli.output.terminal import put, put_json, say
from conversation_mcp.cli.usage import FAILED
from conversation_mcp.records.models import Conversation, ConversationId
from conversation_mcp.records.titles import title_of_conversation
from conversation_mcp.settings import Settings
from conversation_mcp.text import fold
from conversation_mcp.tooling.tidied import tidied


def branch_after(settings: Settings, wanted: str, number: int, *, as_json: bool) -> None:
    """Branch the conversation and print the new one."""
    [original] = resolved(settings, [wanted])

    async def work(app: App) -> None:
        branch = await app.tidier.branch(original, number)
        _show_new(branch, app, f"branched from {original} after message {number}", as_json=as_json)

    opened(settings, work)


def merge_into_one(settings: Settings, wanted: Sequence[str], *, as_json: bool) -> None:
    """Merge the conversations and print the new one."""
    originals = resolved(settings, wanted)

    async def work(app: App) -> None:
        merge, notices = await app.tidier.merge(originals)
        _show_new(merge, app, f"merged from {' and '.join(originals)}", notices, as_json=as_json)

    opened(settings, work)


def set_title(settings: Settings, wanted: str, title: str, *, as_json: bool) -> None:
    """Set or remove the title and print what the conversation is called."""
    [conversation_id] = resolved(settings, [wanted])

    async def work(app: App) -> None:
        renamed = await app.tidier.update(conversation_id, title=title)
        _show(renamed, app, f"is called: {title_of_conversation(renamed)}", as_json=as_json)

    opened(settings, work)


def set_tags(settings: Settings, wanted: str, given: Sequence[str], *, remove: bool, as_json: bool) -> None:
    """Add or remove the tags and print those that the conversation has then."""
    [conversation_id] = resolved(settings, [wanted])
    gone = {fold(" ".join(tag.split())) for tag in given} if remove else set[str]()

    def retag(known: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(tag for tag in known if fold(tag) not in gone) if remove else (*known, *given)

    async def work(app: App) -> None:
        tagged = await app.tidier.update(conversation_id, retag=retag)
        _show(tagged, app, f"tags: {', '.join(tagged.tags)}" if tagged.tags else "no tags", as_json=as_json)

    opened(settings, work)


def set_archived(settings: Settings, wanted: Sequence[str], *, archived: bool, as_json: bool) -> int:
    """Put the conversations away or bring them back, print each, and return the exit code."""
    ids = resolved(settings, wanted, archived=not archived)

    async def work(app: App) -> int:
        done: list[Conversation] = []

        async def one(conversation_id: ConversationId) -> None:
            done.append(await app.tidier.update(conversation_id, archived=archived))
            if not as_json:
                put(f"{conversation_id}  {'archived' if archived else 'not archived'}")

        problems = await on_each(ids, one)
        if as_json:
            put_json({"conversations": [tidied(each, app).data() for each in done], "problems": problems})
        return FAILED if problems else 0

    return opened(settings, work)


def _show_new(conversation: Conversation, app: App, what: str, notices: tuple[str, ...] = (), *, as_json: bool) -> None:
    _show(conversation, app, what, notices, as_json=as_json)
    if not as_json:
        say(f'Follow up with:  conversation-mcp ask -c {conversation.conversation_id} "…"')


def _show(conversation: Conversation, app: App, what: str, notices: tuple[str, ...] = (), *, as_json: bool) -> None:
    if as_json:
        put_json(tidied(conversation, app, notices=notices).data())
    else:
        put(f"{conversation.conversation_id}  {what}")
        for notice in notices:
            say(f"Notice: {notice}")
