"""The composition of a request: what of a conversation, its files and images is sent with a question."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from conversation_mcp.attaching.contents import FilesRead
from conversation_mcp.errors import BlindModelError, ConversationTooLongError, FilesTooLargeError
from conversation_mcp.prompting import naming
from conversation_mcp.prompting.budget import Budget
from conversation_mcp.prompting.composed import Composition
from conversation_mcp.prompting.correction import TRUSTED_RATIOS
from conversation_mcp.prompting.measure import Measure
from conversation_mcp.prompting.media import NO_LIMITS, MediaLimits, notices_of_texts, within
from conversation_mcp.prompting.notices import notices_of
from conversation_mcp.prompting.presentation import NOWHERE, Contents, Presenter, Rendered, too_large_for
from conversation_mcp.prompting.selection import Omission, Sizes, cut_to_fit
from conversation_mcp.prompting.sizing import (
    ImageTokens,
    Scales,
    contents_of,
)
from conversation_mcp.prompting.summaries import (
    SUMMARY_SHARE,
    Lead,
    has_summaries,
    lead_of,
    left_out_line,
)
from conversation_mcp.prompting.transcript import Said, said_in, system_text, turns_of
from conversation_mcp.records.attached import AttachedFile, AttachedImage
from conversation_mcp.records.chat import ChatMessage
from conversation_mcp.records.models import Conversation

MOST_LISTED = 10


def uncorrected() -> float:
    """Return 1: the estimate is right."""
    return 1.0


def no_tokens(_width: int, _height: int) -> int:
    """Return 0: the size of images is unknown."""
    return 0


def compose(
    chain: Sequence[Conversation],
    question: str | None,
    read: FilesRead,
    kept: Contents,
    budget: Budget,
    *,
    sees: bool | None = None,
    image_tokens: ImageTokens = no_tokens,
    measure: Measure | None = None,
    correction: Callable[[], float] = uncorrected,
    withheld: Collection[str] = (),
    summarises: bool = False,
    role: str | None = None,
    media_limits: MediaLimits = NO_LIMITS,
) -> Composition:
    """Return the request for the question, or for what would be sent before one.

    `chain` are the parents, oldest first, and the conversation itself. `correction` returns how many tokens the model
    counts for one that is estimated; it is only called for requests that may be too large. Contents that are
    `withheld`, by hash, stay on this machine. `role` is sent in place of the system text.

    Raises:
        ConversationTooLongError: the system text, the last exchange and the question do not fit.
        FilesTooLargeError: nothing that the question names fits.
        BlindModelError: the question names images, and the model does not see them.
    """
    if read.images and sees is False:
        raise BlindModelError(budget.model)
    kept, measure, sees = naming.kept_with(kept, read), measure or Measure(), sees is not False
    wanted = _Wanted(
        chain, question, read, kept, budget, sees, image_tokens, measure, correction, withheld, summarises, role
    )
    return _Work(wanted, media_limits).composed()


@dataclass(frozen=True)
class _Wanted:
    """The arguments of a call of compose."""

    chain: Sequence[Conversation]
    question: str | None
    read: FilesRead
    kept: Contents
    budget: Budget
    sees: bool
    image_tokens: ImageTokens
    measure: Measure
    correction: Callable[[], float]
    withheld: Collection[str]
    summarises: bool
    role: str | None


class _Work:
    """One call of compose."""

    def __init__(self, wanted: _Wanted, media_limits: MediaLimits) -> None:
        self._wanted, self._budget, self._media_limits = wanted, wanted.budget, media_limits
        self._is_counted = False
        self._whole: Composition | None = None
        own = wanted.chain[-1]
        self._system = (
            (Said(own.conversation_id, 0, "user", text),) if (text := wanted.role or system_text(own)) else ()
        )
        self._said = said_in(wanted.chain)
        self._turns = turns_of(self._said)
        self._new = _asked(own, wanted)
        everything = (*self._said, *self._new)
        kept = within(wanted.kept, everything, media_limits, wanted.measure, wanted.withheld)
        wanted = self._wanted = replace(wanted, kept=kept)
        self._most_lines = naming.most_lines(wanted.budget.input_tokens)
        self._scales = Scales(kept, wanted.measure, wanted.image_tokens, everything, self._most_lines)
        self._contents = contents_of(
            everything, wanted.kept, wanted.withheld, new_from=len(self._said), sees=wanted.sees
        )
        self._earlier = [one for one in self._contents if one.last.message < len(self._said)]
        self._own = self._contents[len(self._earlier) :]

    def composed(self) -> Composition:
        """Return the request."""
        cut = None if self._surely_fits() else self._cut()
        if cut:
            return self._made(cut)
        return self._whole or self._made(Omission())

    def _made(self, cut: Omission) -> Composition:
        """Return the request without what is left out."""
        wanted = self._wanted
        first = sum(map(len, self._turns[: cut.turns]))
        gone = frozenset(one.key for one in (*self._earlier[: cut.files], *(self._own[place] for place in cut.own)))
        after = self._earlier[cut.files - 1].last if cut.files else NOWHERE
        presenter = Presenter(
            wanted.kept,
            wanted.measure,
            gone,
            after,
            wanted.withheld,
            sees=wanted.sees,
            most_lines=self._most_lines,
        )
        lead = lead_of(wanted.chain, self._said[:first], wanted.measure, self._summary_room())
        sent = (*self._said[first:], *self._without(cut))
        rendered = tuple(
            presenter.render(one, place, "" if place > first else lead.text) for place, one in enumerate(sent, first)
        )
        return self._composition(rendered, first, lead)

    def _surely_fits(self) -> bool:
        """Tell whether everything fits even if it is as long as it can be, so that nothing has to be counted."""
        most, everything = self._budget.corrected(TRUSTED_RATIOS[1]).input_tokens, (*self._said, *self._new)
        if most is None or self._scales.most((*self._system, *everything), self._contents) <= most:
            return True
        self._is_counted = True
        self._budget = self._budget.corrected(self._wanted.correction())
        return False

    def _cut(self) -> Omission | None:
        """Return what is left out; nothing if all of it fits as it stands, with only the changes of changed files."""
        scales, limit = self._scales, self._budget.input_tokens or 0
        system, question = sum(map(scales.said, self._system)), sum(map(scales.asked, self._new))
        # At its longest: how many messages it will count is not known yet.
        line = self._wanted.measure.tokens(left_out_line(len(self._said)) + "\n\n") if len(self._turns) > 1 else 0
        turns = tuple(sum(map(scales.said, turn)) for turn in self._turns)
        last = turns[-1] if turns else 0
        fixed = system + question + line
        if fixed + last > limit:
            takes = {"the system text": system, "the last exchange": last + line, "this question": question}
            raise self._too_long(fixed + last, takes)
        if fixed + sum(turns) <= limit:
            self._whole = self._made(Omission())
            if self._whole.tokens <= limit:
                return None
        newest = self._earlier[-1].last.message if self._earlier else None
        sizes = Sizes(
            fixed=fixed,
            turns=turns,
            files=tuple(map(scales.content, self._earlier)),
            own=tuple(map(scales.content, self._own)),
            summaries=min(self._summary_room() or 0, limit - fixed - last),
            newest=sum(one.last.message == newest for one in self._earlier),
        )
        cut = cut_to_fit(sizes, limit, self._budget.history, self._budget.files)
        if self._own and len(cut.own) == len(self._own):
            raise self._files_too_large(sizes, cut)
        return cut

    def _summary_room(self) -> int | None:
        """Return the room for summaries; None if it has no limit."""
        wanted = self._wanted
        if not (wanted.summarises or has_summaries(wanted.chain)):
            return 0
        limit = self._budget.input_tokens
        return None if limit is None else int(limit * SUMMARY_SHARE)

    def _too_long(self, tokens: int, takes: Mapping[str, int]) -> ConversationTooLongError:
        budget = self._budget
        shown = {name: budget.shown(size) for name, size in takes.items() if size}
        limit = budget.shown(budget.input_tokens or 0)
        return ConversationTooLongError(budget.model, budget.shown(tokens), limit, budget.source, shown)

    def _files_too_large(self, sizes: Sizes, cut: Omission) -> FilesTooLargeError:
        budget, own = self._budget, dict(zip((one.named.path for one in self._own), sizes.own, strict=True))
        largest = sorted(own.items(), key=lambda item: -item[1])[:MOST_LISTED]
        needed = sizes.fixed + (sizes.turns[-1] if sizes.turns else 0) + min(sizes.own)
        files = {path: budget.shown(size) for path, size in largest}
        return FilesTooLargeError(budget.model, budget.shown(needed), budget.shown(cut.own_room), files)

    def _without(self, cut: Omission) -> tuple[Said, ...]:
        """Return the question with those of its files marked as skipped for which there is no room."""
        if not cut.own:
            return self._new
        shown = self._budget.shown
        sizes = {one.key: shown(self._scales.content(one)) for one in (self._own[place] for place in cut.own)}
        room = max(0, shown(cut.own_room))
        reasons = {key: too_large_for(size, room) for key, size in sizes.items()}
        new = self._new[0]
        return (new._replace(**naming.without(new, reasons)),)

    def _composition(self, rendered: tuple[Rendered, ...], first: int, lead: Lead) -> Composition:
        wanted = self._wanted
        shown = rendered[-1].shown if self._new else ()
        records = tuple(map(naming.record_of, shown))
        system = tuple(ChatMessage("system", one.text) for one in self._system)
        earlier = [one for message in rendered[: len(rendered) - len(self._new)] for one in message.shown]
        return Composition(
            messages=(*system, *(one.message for one in rendered)),
            files=tuple(record for record in records if isinstance(record, AttachedFile)),
            images=tuple(record for record in records if isinstance(record, AttachedImage)),
            contents=naming.contents_to_keep(wanted.read, records),
            notices=(
                *notices_of(self._budget.model, len(self._said[:first]), lead.summarised, earlier, shown),
                *notices_of_texts(wanted.kept, self._new, self._media_limits),
            ),
            summaries=lead.needed if wanted.summarises else (),
            standing=lead.standing,
            left_out=self._said[:first],
            rendered=rendered,
            conversation_id=wanted.chain[-1].conversation_id,
            is_counted=self._is_counted,
            measure=wanted.measure,
            image_tokens=wanted.image_tokens,
        )


def _asked(own: Conversation, wanted: _Wanted) -> tuple[Said, ...]:
    if wanted.question is None:
        return ()
    number, files, images = len(own.messages) + 1, naming.files_named(wanted.read), naming.images_named(wanted.read)
    return (Said(own.conversation_id, number, "user", wanted.question, files, images),)
