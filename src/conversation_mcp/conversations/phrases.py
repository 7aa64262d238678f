"""The wording of facts about conversations, the same in results, in exports and on a terminal."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from conversation_mcp.records.found import SHOWN_PROBLEMS, Page
from conversation_mcp.text import dollars

if TYPE_CHECKING:
    from conversation_mcp.records.usage import Usage


def dotted(*facts: str | None) -> str:
    """Return the known facts on one line, separated by dots."""
    return " · ".join(fact for fact in facts if fact)


def paragraphs(*texts: str | None) -> str:
    """Return the texts that are not empty, separated by blank lines."""
    return "\n\n".join(text for text in texts if text)


def answered_by(provider: str | None, preset: str | None, model: str | None) -> str:
    """Return who answered, as `perplexity low (openai/gpt-6-luna)`; `local` is shown without a model."""
    name = " ".join(part for part in (provider, preset) if part)
    if not model or model == provider:
        return name
    return f"{name} ({model})" if name else model


def charged(usage: "Usage | None") -> str:
    """Return the cost in dollars, and how much of the input came from the provider's cache; empty if unknown."""
    if usage is None:
        return ""
    return ", ".join(filter(None, (dollars(usage.cost_usd), cached(usage.cached_input_tokens, usage.input_tokens))))


def cached(cached_tokens: int | None, input_tokens: int | None) -> str:
    """Return the share of the input that came from the provider's cache, as `62 % cached`; empty if that is none."""
    share = min(100, round(100 * (cached_tokens or 0) / input_tokens)) if input_tokens else 0
    return f"{share} % cached" if share else ""


def merged_from(parents: Iterable[Mapping[str, object]] | None) -> str:
    """Return which conversations were merged, with the number of messages of each; empty if it is not a merge."""
    parts = [f"{one.get('conversationId')} ({one.get('messageCount')} messages)" for one in parents or ()]
    return f"Merged from {' and '.join(parts)}" if parts else ""


def minute(time: str | None) -> str:
    """Return an ISO 8601 time without its seconds, in its own time zone."""
    return (time or "")[:16].replace("T", " ") + (" UTC" if (time or "").endswith("Z") else "")


def noted(notices: Iterable[str] | None) -> str:
    """Return the notices of a result, each on a line of its own."""
    return "\n".join(f"Notice: {notice}" for notice in notices or ())


def notices_of(page: Page) -> Iterator[str]:
    """Yield the notices of a page."""
    yield from page.notices
    if page.unreadable_count:
        yield skipped(page.unreadable_count, page.problems)


def skipped(count: int, problems: Sequence[str]) -> str:
    """Return how many conversations cannot be read, and why the first few of them."""
    some = (
        "a conversation that cannot be read was" if count == 1 else f"{count:,} conversations that cannot be read were"
    )
    reasons = "; ".join(problem.rstrip(".") for problem in problems[:SHOWN_PROBLEMS])
    return f"{some} skipped: {reasons}{'; …' if count > SHOWN_PROBLEMS else ''}"
