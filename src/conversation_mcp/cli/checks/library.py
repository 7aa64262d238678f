"""The check of everything stored: each conversation, its unanswered question, leftover files, and the index.

Nothing is changed.
"""

from collections.abc import Iterable, Iterator

from conversation_mcp.cli.checks.contents import check_contents
from conversation_mcp.cli.output.progress import progress
from conversation_mcp.conversations.order import order_problems
from conversation_mcp.errors import ConversationMCPError, ConversationNotFoundError
from conversation_mcp.records.codec import decode
from conversation_mcp.records.findings import SHOWN, Finding, some
from conversation_mcp.records.models import Conversation
from conversation_mcp.stores.finder import Finder, Index
from conversation_mcp.stores.headway import Headway
from conversation_mcp.text import counted

READING, COMPARING = "reading the conversations", "comparing the index with them"
ANEW = "try conversation-mcp index --rebuild"


def check_library(finder: Finder) -> Iterator[Finding]:
    """Yield the findings, one kind after the other."""
    try:
        if absence := finder.inspector.absence():
            yield Finding("ok", absence)
            return
        yield from _conversations(finder)
        yield from finder.inspector.check_leftovers()
        if finder.index is not None:
            yield from _index(finder.index)
    except ConversationMCPError as error:
        yield Finding("fail", error.message)


def _conversations(finder: Finder) -> Iterator[Finding]:
    ids = finder.ids()
    headway, findings, broken = Headway(total=len(ids)), list[Finding](), 0
    with progress(READING, headway):
        for conversation_id in ids:
            try:
                conversation = decode(finder.read(conversation_id), finder.location(conversation_id), conversation_id)
            except ConversationNotFoundError:  # deleted since the ids were listed
                pass
            except ConversationMCPError as error:
                broken += 1
                findings.append(Finding("fail", error.message))
            else:
                findings += _conversation(finder, conversation)
            headway.seen += 1
    yield from findings
    count = f"{counted(len(ids), 'conversation')} in {finder.place}"
    if broken:
        yield Finding("fail", f"{count}, {broken:,} cannot be read; mend them by hand or restore a copy")
    else:
        yield Finding("ok", f"{count}, all can be read")


def _conversation(finder: Finder, conversation: Conversation) -> Iterator[Finding]:
    conversation_id = conversation.conversation_id
    problems = list(order_problems(conversation))
    for problem in problems[:SHOWN]:
        yield Finding("warn", f"{conversation_id}: {problem}")
    if len(problems) > SHOWN:
        yield Finding("warn", f"{conversation_id}: {len(problems) - SHOWN:,} more like that")
    yield from _pending(finder, conversation)
    yield from check_contents(finder, conversation)


def _pending(finder: Finder, conversation: Conversation) -> Iterable[Finding]:
    pending, name = conversation.pending_turn, conversation.conversation_id
    if pending is None:
        return
    if pending.status == "failed":
        yield Finding("ok", f"{name}: the last question failed; ask again, or ask another")
    elif finder.is_being_answered(name):
        yield Finding("ok", f"{name}: a question is being answered")
    elif pending.response_id:
        where = pending.provider or "its provider"
        yield Finding("warn", f"{name}: an answer may wait at {where}; get it with conversation-mcp resume {name}")
    else:
        yield Finding("warn", f"{name}: a question was interrupted; ask again, or ask another")


def _index(index: Index) -> Iterator[Finding]:
    headway = Headway()
    with progress(COMPARING, headway):
        check = index.check(headway)
    if check is None:
        yield Finding("ok", "there is no index yet; the first search makes it")
    elif check.damage is not None:
        yield Finding("fail", f"the index cannot be used: {check.damage}; {ANEW}")
    elif check.wrong:
        what = counted(len(check.wrong), "conversation")
        yield Finding("fail", f"the index is wrong about {what}: {some(check.wrong)}; {ANEW}")
    else:
        changed = f"; {check.unseen_count:,} changed since, the next search reads them" if check.unseen_count else ""
        known = counted(check.known_count, "conversation")
        yield Finding("ok", f"the index agrees with the files of {known}{changed}")
