"""The entry: the change of a repository as a summary and a diff of each file, under the rules for files."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from conversation_mcp.attaching.contents import FileContent
from conversation_mcp.attaching.git.asked import AskedChange
from conversation_mcp.attaching.git.listing import NO_CHANGE_HERE, Changed, ChangeListing
from conversation_mcp.attaching.git.patches import has_hunk, patch_text, sides_of
from conversation_mcp.attaching.git.program import GitOutput, Program
from conversation_mcp.attaching.git.repository import NO_REPOSITORY, Repository, may_read, repository_at
from conversation_mcp.attaching.git.shadow import Shadow, shadow_of
from conversation_mcp.attaching.git.summary import summary_of
from conversation_mcp.attaching.limits import RefusedError
from conversation_mcp.attaching.names import shown
from conversation_mcp.attaching.outcome import SECRET, Outcome
from conversation_mcp.attaching.places import Exempt, Places
from conversation_mcp.attaching.tools import Tools
from conversation_mcp.documents.skips import Reason

CONTEXT_LINES = 10
TOGETHER = 50
"""How many files git is asked for at once."""
SUMMARY = " (summary)"
"""What tells the summary from a file, also where what was sent is written to a folder."""
NOTHING_CHANGED = "nothing has changed there"
SEVERAL = "there are several repositories; name one, as in git:/path/of/repository:staged"
HEADER_BYTES = 16_384
"""How much longer than its file a diff may be."""


@dataclass(frozen=True)
class Change:
    """A change that can be read file by file."""

    summary: FileContent
    changed: tuple[Changed, ...]
    """The files whose diffs can be sent."""
    left_out: Mapping[str, str]
    """The others, by their path in the repository: why not."""


class ChangeReader:
    """Reads the changes that one question names."""

    def __init__(self, tools: Tools, places: Places, exempt: Exempt, outcome: Outcome) -> None:
        self._tools = tools
        self._places = places
        self._exempt = exempt
        self._outcome = outcome

    def read(self, asked: AskedChange, folder: str | None) -> None:
        """Take a change in: a summary, then a diff of each file.

        Args:
            asked: the change.
            folder: where the repository is, if it is not named; None for the only one that may be read.

        Raises:
            RefusedError: there is no such change, or it must not be read.
            StoppedError: nobody waits for it.
        """
        program = Program(self._tools.environment, self._tools.check_time)
        repository = self._repository(asked, folder, program)
        with shadow_of(repository, self._places, program, self._tools.check_time) as shadow:
            listing = ChangeListing(shadow, asked)
            change = self._change(asked, shadow, listing)
            self._outcome.take(change.summary)
            for path, reason in change.left_out.items():
                self._outcome.leave_out(self._label(asked, repository, path), reason, is_named=False)
            for start in range(0, len(change.changed), TOGETHER):
                self._take(change.changed[start : start + TOGETHER], asked, listing, repository)

    def _take(
        self, changed: Sequence[Changed], asked: AskedChange, listing: ChangeListing, repository: Repository
    ) -> None:
        limits = self._tools.limits
        outputs: Sequence[GitOutput | RefusedError]
        try:
            self._tools.check_time()
            self._outcome.check_room()
            outputs = listing.patches(changed, CONTEXT_LINES, limits.file_bytes + HEADER_BYTES)
        except RefusedError as refused:
            outputs = [refused] * len(changed)
        for one, output in zip(changed, outputs, strict=True):
            label = self._label(asked, repository, one.path)
            try:
                if diff := self._diff(label, one, output, repository):
                    self._outcome.take(diff)
            except RefusedError as refused:
                self._outcome.leave_out(label, str(refused), is_named=False)

    def _repository(self, asked: AskedChange, folder: str | None, program: Program) -> Repository:
        if asked.repository or folder:
            return repository_at(asked.repository or folder or "", self._places, program)
        there: dict[str, Repository] = {}
        refusal = RefusedError(NO_REPOSITORY)
        for root in self._places.roots:
            try:
                repository = repository_at(root, self._places, program)
            except RefusedError as refused:
                refusal = refusal if str(refused) == NO_REPOSITORY else refused
            else:
                there[repository.folder] = repository
        if len(there) > 1:
            raise RefusedError(SEVERAL)
        if not there:
            raise refusal
        return next(iter(there.values()))

    def _change(self, asked: AskedChange, shadow: Shadow, listing: ChangeListing) -> Change:
        repository = shadow.repository
        changed = [one for one in listing.changed() if self._is_within(repository, one)]
        untracked = [name for name in listing.untracked() if self._is_untracked(repository, name)]
        if not changed and not untracked:
            raise RefusedError(NOTHING_CHANGED)
        left_out = {one.path: why for one in changed if (why := self._why_not(repository, one))}
        named = self._with_harmless_names(changed, [shown(path) for one in changed for path in one.paths])
        secret_names = len(changed) - len(named)
        facts = [f"In {listing.branch()}.", *shadow.states]
        if secret_names:
            facts.append(f"{secret_names:,} files are not named here, because their names hold secrets.")
        if asked.below:
            facts.append(f"Only what is below {asked.below}.")
        if outside := self._outside(repository):
            facts.append(outside)
        text = summary_of(repository.folder, listing.comparison.title, facts, named, left_out, untracked)
        summary = FileContent(f"{asked.label} {shown(repository.folder)}{SUMMARY}", text.encode(), text)
        return Change(summary, tuple(one for one in named if one.path not in left_out), left_out)

    def _outside(self, repository: Repository) -> str:
        top = repository.top
        return "" if top is None or may_read(top, self._places) else "Only what is in the folders that may be read."

    def _is_within(self, repository: Repository, one: Changed) -> bool:
        return all(may_read(_real(repository, path), self._places) for path in one.paths)

    def _is_untracked(self, repository: Repository, name: str) -> bool:
        real = _real(repository, name)
        return may_read(real, self._places) and not self._tools.secrets.by_content(shown(name))

    def _with_harmless_names(self, changed: list[Changed], names: list[str]) -> list[Changed]:
        secrets = self._tools.secrets
        if secrets.by_content("\n".join(names)) is None:
            return changed
        return [one for one in changed if not any(secrets.by_content(shown(path)) for path in one.paths)]

    def _why_not(self, repository: Repository, one: Changed) -> str | None:
        """Return why a file is not sent, as far as its name and what git lists of it tell."""
        for path in one.paths:
            what = self._tools.secrets.by_name(_real(repository, path))
            if what and not self._exempt.takes(_real(repository, path)):
                return f"{SECRET}name: {what}"
        if one.is_submodule:
            return "submodules are not entered"
        if one.is_binary:
            return Reason.BINARY
        if self._tools.formats.of(one.path.rpartition("/")[2]) == Reason.GENERATED:
            return Reason.GENERATED
        return None

    def _diff(
        self, label: str, one: Changed, output: GitOutput | RefusedError, repository: Repository
    ) -> FileContent | None:
        """Return the diff of a file; None if its content is the same, as of one that was only renamed."""
        limits = self._tools.limits
        if isinstance(output, RefusedError):
            raise output
        if output.is_cut:
            raise RefusedError(limits.too_large(is_document=False))
        if output.code:
            raise RefusedError(NO_CHANGE_HERE)
        text = patch_text(output.data)
        if not has_hunk(text):
            return None
        if len(text) > limits.file_bytes:
            raise RefusedError(limits.too_large(is_document=False))
        self._check_secrets(text, repository, one)
        return FileContent(label, text.encode(), text)

    def _check_secrets(self, text: str, repository: Repository, one: Changed) -> None:
        if all(self._exempt.takes(_real(repository, path)) for path in one.paths):
            return
        for side in sides_of(text):
            if what := self._tools.secrets.by_content(side):
                raise RefusedError(f"{SECRET}content: {what}")

    def _label(self, asked: AskedChange, repository: Repository, path: str) -> str:
        return f"{asked.label} {shown(_real(repository, path))}"


def _real(repository: Repository, path: str) -> str:
    return os.path.normpath(os.path.join(repository.folder, path))  # noqa: PTH118 -- of each file
