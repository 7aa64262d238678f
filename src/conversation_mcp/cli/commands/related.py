"""The command `related`: shows which conversations are near another one, and keeps what somebody confirms."""

from typing import TYPE_CHECKING, Annotated

import typer

from conversation_mcp.cli.changes.session import opened
from conversation_mcp.cli.exit_codes import FAILED
from conversation_mcp.cli.options import AsJson, Id, LogsDir, Owner
from conversation_mcp.cli.output.progress import progress
from conversation_mcp.cli.output.terminal import put, put_json, say
from conversation_mcp.cli.selection.completion import complete_ids
from conversation_mcp.cli.selection.ids import resolve
from conversation_mcp.cli.selection.pages import COMPARING
from conversation_mcp.cli.setup import finder_of, settings_from
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.records.relations import Relation, RelationType
from conversation_mcp.stores.headway import Headway

if TYPE_CHECKING:
    from conversation_mcp.app import App
    from conversation_mcp.conversations.vicinity import Vicinity
    from conversation_mcp.records.models import ConversationId
    from conversation_mcp.settings import Settings
    from conversation_mcp.stores.finder import Finder

LIMIT = 100


def related(
    *,
    conversation_id: Id,
    keep: Annotated[
        str | None,
        typer.Option(metavar="OTHER", help="Keep that this one belongs with it.", autocompletion=complete_ids),
    ] = None,
    kept_as: Annotated[
        RelationType | None,
        typer.Option("--as", help="What it is to this one; follow_up goes on where this one ends. Default: related."),
    ] = None,
    forget: Annotated[
        str | None,
        typer.Option(metavar="OTHER", help="Forget that this one belongs with it.", autocompletion=complete_ids),
    ] = None,
    by_words: Annotated[bool, typer.Option("--words", help="Compare words alone, not the meaning.")] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=LIMIT, help="How many that nobody confirmed.")] = 10,
    as_json: AsJson = False,
    logs_dir: LogsDir = None,
    owner: Owner = None,
) -> None:
    """Show which conversations are near another one, and why.

    Those that somebody has confirmed come first. The others have a score from 0 to 1, the words that both share, and
    whether words or meaning found them. In a pipe, each is a line of id, confirmed type, score, what found it, words
    and title, separated by tabs. Nothing is sent anywhere. Without any, the exit code is 1.
    """
    if keep and forget:
        raise InvalidInputError("--keep and --forget cannot be combined.")
    if kept_as and not keep:
        raise InvalidInputError("--as says what --keep keeps, which is missing.")
    settings = settings_from({"logs_dir": logs_dir, "owner": owner}).settings
    finder = finder_of(settings)
    chosen = resolve(finder, conversation_id)
    if keep:
        _keep(settings, finder, chosen, resolve(finder, keep), kept_as or "related")
    elif forget:
        _forget(settings, chosen, resolve(finder, forget))
    else:
        _show(settings, finder, chosen, limit, by_words=by_words, as_json=as_json)


def _keep(
    settings: "Settings", finder: "Finder", chosen: "ConversationId", other: "ConversationId", kind: RelationType
) -> None:
    near = (each for each in _near(settings, finder, chosen, LIMIT).found if each.facts.conversation_id == other)
    score = next((round(each.score, 2) for each in near), None)
    relation = Relation.of(conversation_id=other, type=kind, score=score)

    async def work(app: "App") -> None:
        await app.tidier.relate(chosen, relation)

    opened(settings, work)
    put(f"{other} is kept as {kind.replace('_', '-')} of {chosen}.")


def _forget(settings: "Settings", chosen: "ConversationId", other: "ConversationId") -> None:
    async def work(app: "App") -> bool:
        return await app.tidier.unrelate(chosen, other)

    if not opened(settings, work):
        raise InvalidInputError(f"nobody has confirmed that {chosen} and {other} belong together.")
    put(f"{chosen} and {other} are not related any more.")


def _show(
    settings: "Settings", finder: "Finder", chosen: "ConversationId", limit: int, *, by_words: bool, as_json: bool
) -> None:
    from conversation_mcp.cli.output.relations import put_relations, relations_data
    from conversation_mcp.conversations.vicinity import confirmed

    kept = confirmed(finder, chosen, Headway())
    names = {each.conversation_id for each in kept}
    vicinity = _near(settings, finder, chosen, limit + len(names), by_words=by_words)
    near = [each for each in vicinity.found if each.facts.conversation_id not in names][:limit]
    if as_json:
        put_json(relations_data(chosen, kept, near, vicinity.notice))
        return
    if vicinity.notice:
        say(f"Notice: {vicinity.notice}.")
    put_relations(chosen, kept, near)
    if not kept and not near:
        say("No conversation is near this one.")
        raise typer.Exit(FAILED)


def _near(
    settings: "Settings", finder: "Finder", chosen: "ConversationId", limit: int, *, by_words: bool = False
) -> "Vicinity":
    from conversation_mcp.conversations.turn_meaning import open_meaning
    from conversation_mcp.conversations.vicinity import near_conversations
    from conversation_mcp.providers.embedders import embedders_in

    turns, meaning, headway = finder.turns, None, Headway()
    if not by_words and turns and turns.vectors.models():
        meaning = open_meaning(lambda: embedders_in(settings), turns)
    with progress(COMPARING, headway):
        return near_conversations(finder, chosen, limit, meaning, headway)
