"""Conversations near another one: by the words that the two share, and by the meaning of their turns."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from conversation_mcp.conversations.filters import naming
from conversation_mcp.documents.query_words import load_stopwords
from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.records.facts import described, facts_of
from conversation_mcp.records.found import FoundBy, Listed, Wanted
from conversation_mcp.records.ids import SHAPE
from conversation_mcp.records.plain import read_data
from conversation_mcp.searching.stemming import stem
from conversation_mcp.stores.finder import pages
from conversation_mcp.text import PUNCTUATION, fold, index_text, is_searchable

if TYPE_CHECKING:
    from conversation_mcp.embeddings.meaning import Meaning
    from conversation_mcp.records.models import ConversationId
    from conversation_mcp.searching.vectors.near import Kinship
    from conversation_mcp.stores.finder import Finder
    from conversation_mcp.stores.headway import Headway

WEIGHT = 0.4
"""How much meaning counts, as in a search for conversations; words count the rest."""
QUERY_WORDS = 30
CANDIDATES = 50
"""The most that words propose, and the most that meaning does."""
NEAR_TURNS = 300
UNUSUAL, SIMILAR = 1.0, 0.25
"""As in a search, for what is near in meaning alone."""
LEAST_SCORE = 0.05
READ_CHARS = 200_000
TITLE_WEIGHT = 3
SHOWN_WORDS = 5
LEAST_CHARS, MOST_CHARS = 3, 60
"""Of a word in ASCII letters; a shorter or longer one tells nothing."""
UNMADE = "this conversation has no vectors yet, so only words were compared"


class NearConversation(NamedTuple):
    """A conversation near another one, and why."""

    facts: Listed
    score: float
    """From 0 to 1."""
    found_by: FoundBy
    shared_words: tuple[str, ...]
    """The words that tell most, as the other conversation has them."""


class Vicinity(NamedTuple):
    """The conversations near another one, the nearest first, without archived ones."""

    found: tuple[NearConversation, ...]
    notice: str | None = None
    """Why their meaning did not count, or not as usual."""


class Confirmed(NamedTuple):
    """A conversation that somebody has confirmed to belong with another one."""

    conversation_id: str
    type: str
    score: float | None
    facts: Listed | None
    """None if it is gone."""
    is_named_there: bool = False
    """Whether the other conversation names this one, and not the other way round."""


class Profile(NamedTuple):
    """The words of a conversation: how often each stem occurs, and how it is written."""

    counts: Mapping[str, int]
    written: Mapping[str, str]


def near_conversations(
    finder: "Finder",
    conversation_id: "ConversationId",
    limit: int,
    meaning: "Meaning | None",
    headway: "Headway",
) -> Vicinity:
    """Find those near one; blocks.

    Raises:
        ConversationNotFoundError: nothing is stored under the id.
        ConversationCorruptedError: it cannot be read.
    """
    stopwords = load_stopwords()
    own_data = read_data(finder.read(conversation_id), finder.location(conversation_id), conversation_id)
    own = _profile(own_data, conversation_id, stopwords)
    by_words: dict[str, Listed] = {}
    if query := _query(own):
        # One more, because the conversation itself will be among them.
        page = next(pages(finder, Wanted(query), CANDIDATES + 1, None, headway))
        by_words = {facts.conversation_id: facts for facts in page.found}
    kin: Mapping[str, Kinship] = meaning.kin(conversation_id, NEAR_TURNS) if meaning else {}
    best = sorted(kin, key=lambda name: -kin[name].similarity)
    meant = [name for name in best if _is_certain(kin[name])][:CANDIDATES]
    names = [name for name in dict.fromkeys((*by_words, *meant)) if name != conversation_id]
    read = {name: data for name in names if (data := _data(finder, name))}
    profiles = {name: _profile(data, name, stopwords) for name, data in read.items()}
    rarity = _rarity([own, *profiles.values()])
    found: list[NearConversation] = []
    for name, profile in profiles.items():
        facts = by_words.get(name) or facts_of(read[name], name, 0)
        if not facts.archived:
            found.append(
                _compared(facts, own, profile, rarity, kin.get(name), is_meant=name in meant, words_alone=not kin)
            )
    found = [near for near in found if near.score >= LEAST_SCORE]
    found.sort(key=lambda near: (-near.score, near.facts.conversation_id))
    return Vicinity(tuple(found[:limit]), (meaning.problem or (None if kin else UNMADE)) if meaning else None)


def confirmed(finder: "Finder", conversation_id: "ConversationId", headway: "Headway") -> list[Confirmed]:
    """Return what belongs with one as somebody has confirmed, here or there; blocks, and raises as above."""
    own = read_data(finder.read(conversation_id), finder.location(conversation_id), conversation_id)
    named: list[dict[str, Any]] = list(own.get("related") or ())
    ids = (cast("ConversationId", each["conversationId"]) for each in named if SHAPE.fullmatch(each["conversationId"]))
    known = {facts.conversation_id: facts for facts in finder.facts(ids)}
    found = {
        each["conversationId"]: Confirmed(
            each["conversationId"], each["type"], each.get("score"), known.get(each["conversationId"])
        )
        for each in named
    }
    for page in pages(finder, naming(conversation_id), None, None, headway):
        for facts in page.found:
            there = _data(finder, facts.conversation_id) or {}
            for each in there.get("related") or ():
                if each["conversationId"] == conversation_id:
                    said = Confirmed(facts.conversation_id, each["type"], each.get("score"), facts, is_named_there=True)
                    found.setdefault(facts.conversation_id, said)
    return list(found.values())


def _is_certain(kinship: "Kinship") -> bool:
    return kinship.nearness >= UNUSUAL and kinship.similarity >= SIMILAR


def _data(finder: "Finder", name: str) -> Mapping[str, Any] | None:
    """Return the data of a conversation; None if it is gone or cannot be read."""
    conversation_id = cast("ConversationId", name)
    try:
        return read_data(finder.read(conversation_id), finder.location(name), conversation_id)
    except ConversationMCPError:
        return None


def _profile(data: Mapping[str, Any], name: str, stopwords: frozenset[str]) -> Profile:
    indexed = described(data, name, 0)
    counts, written = Counter[str](), dict[str, str]()
    left = READ_CHARS
    for text, weight in ((indexed.facts.title, TITLE_WEIGHT), *((text, 1) for text in indexed.texts.values())):
        for word in index_text(fold(text[:left])).split():
            bare = word.strip(PUNCTUATION)
            if bare in stopwords or not is_searchable(bare) or not _tells(bare):
                continue
            root = stem(bare) if bare.isascii() else bare
            counts[root] += weight
            written.setdefault(root, bare)
        left -= len(text)
        if left <= 0:
            break
    return Profile(counts, written)


def _tells(word: str) -> bool:
    return len(word) <= MOST_CHARS and (len(word) >= LEAST_CHARS or not word.isascii())


def _query(own: Profile) -> str:
    """Return the words that stand for the conversation, those that occur most."""
    words = (root for root in own.counts if not own.written[root].isdigit())
    most = sorted(words, key=lambda root: (-own.counts[root], root))[:QUERY_WORDS]
    return " ".join(own.written[root] for root in most)


def _rarity(profiles: Sequence[Profile]) -> Mapping[str, float]:
    """Return how much each word tells, by how many of these have it."""
    having = Counter(root for profile in profiles for root in profile.counts)
    return {root: math.log(1 + len(profiles) / count) for root, count in having.items()}


def _compared(
    facts: Listed,
    own: Profile,
    other: Profile,
    rarity: Mapping[str, float],
    kinship: "Kinship | None",
    *,
    is_meant: bool,
    words_alone: bool,
) -> NearConversation:
    mine, theirs = _weights(own, rarity), _weights(other, rarity)
    parts = {root: mine[root] * theirs[root] for root in mine.keys() & theirs.keys()}
    by_words = sum(parts.values()) / ((_norm(mine.values()) * _norm(theirs.values())) or 1.0)
    by_meaning = max(0.0, kinship.similarity) if kinship else 0.0
    score = by_words if words_alone else (1 - WEIGHT) * by_words + WEIGHT * by_meaning
    telling = sorted(parts, key=lambda root: (-parts[root], root))[:SHOWN_WORDS]
    return NearConversation(
        facts=facts,
        score=min(1.0, score),
        found_by=("both" if parts else "meaning") if is_meant else "words",
        shared_words=tuple(other.written[root] for root in telling),
    )


def _weights(profile: Profile, rarity: Mapping[str, float]) -> dict[str, float]:
    return {root: (1 + math.log(count)) * rarity[root] for root, count in profile.counts.items()}


def _norm(weights: Iterable[float]) -> float:
    return math.sqrt(sum(weight * weight for weight in weights))
