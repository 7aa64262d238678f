"""The notices about what a request leaves out."""

from collections.abc import Iterable, Iterator, Sequence

from conversation_mcp.prompting.frames import quoted
from conversation_mcp.prompting.presentation import (
    CROWDED,
    LEFT_OUT,
    NOT_KEPT,
    NOT_SEEN,
    OVERSIZED,
    WITHHELD,
    ShownContent,
)
from conversation_mcp.records.attached import AttachedFile
from conversation_mcp.text import counted, listed

MOST_NAMED = 5


def notices_of(
    model: str, messages: int, summarised: int, earlier: Sequence[ShownContent], own: Sequence[ShownContent]
) -> tuple[str, ...]:
    """Return a notice about what earlier messages hold and is not sent, and one about what the question names."""
    return (*_earlier(model, messages, summarised, earlier), *_own(own))


def _earlier(model: str, messages: int, summarised: int, earlier: Sequence[ShownContent]) -> Iterator[str]:
    left_out = [counted(messages, "earlier message")] if messages else []
    left_out += _counts([one for one in earlier if one.why == LEFT_OUT])
    if left_out:
        summary = f"; a summary stands for {counted(summarised, 'message')}" if summarised else ""
        name = model or "the model"
        yield f"not sent, because the request would be too large for {name}: {listed(left_out)}{summary}"
    if unseen := _counts([one for one in earlier if one.why == NOT_SEEN]):
        yield f"not sent, because {model or 'the model'} does not see images: {listed(unseen)} of earlier messages"
    if held := _counts([one for one in earlier if one.why == WITHHELD]):
        yield f"not sent, because only this machine had it until now: {listed(held)}; name a file to send it"
    if crowded := _counts([one for one in earlier if one.why == CROWDED]):
        yield f"not sent, because a request has no room for more images: {listed(crowded)} of earlier messages"
    if large := _counts([one for one in earlier if one.why == OVERSIZED]):
        yield f"not sent, because larger than this provider takes: {listed(large)} of earlier messages"
    if lost := _counts([one for one in earlier if one.why == NOT_KEPT]):
        yield f"not sent, because their content is no longer kept: {listed(lost)} of earlier messages"


def _counts(shown: Iterable[ShownContent]) -> list[str]:
    kinds = ["file" if isinstance(one.named, AttachedFile) else "image" for one in shown]
    return [counted(kinds.count(kind), kind) for kind in ("file", "image") if kind in kinds]


def _own(own: Sequence[ShownContent]) -> Iterator[str]:
    skipped = [one for one in own if one.sent == "skipped"]
    if skipped:
        named = [f"{quoted(one.named.path)} ({one.why})" for one in skipped[:MOST_NAMED]]
        more = [f"{len(skipped) - MOST_NAMED} more"] if len(skipped) > MOST_NAMED else []
        yield f"{len(skipped)} of {counted(len(own), 'attachment')} not sent: {listed([*named, *more])}"
