"""Recognition of the formats of a source's files by their content."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from conversation_mcp.errors import InvalidInputError
from conversation_mcp.importing.base import ImportFormat, ImportProblem, Item, ReadOptions, SourceFile
from conversation_mcp.importing.entries import UNREADABLE, DamagedFileError, sample
from conversation_mcp.importing.formats.llm_database import is_database
from conversation_mcp.importing.sources import Listing

SHOWN_PROBLEMS = 3
PAGES, NOTES = (".html", ".htm"), ".md"
"""What is no JSON; of Markdown, most of which holds no conversation, nobody is told that it was not read."""


@dataclass
class Recognition:
    """The files of a source by their formats."""

    groups: dict[str, tuple[ImportFormat, list[SourceFile]]] = field(
        default_factory=dict[str, tuple[ImportFormat, "list[SourceFile]"]]
    )
    problems: list[ImportProblem] = field(default_factory=list[ImportProblem])
    others: int = 0
    """The number of files that hold something else."""
    unread: list[str] = field(default_factory=list[str])
    """The names of those others that could have held conversations."""

    @property
    def total_bytes(self) -> int:
        """The size of all files to read."""
        return sum(file.size for _, files in self.groups.values() for file in files)

    def items(self, reading: ReadOptions) -> Iterator[tuple[str, Item]]:
        """Yield the items of each format with its name, after the problems of the source."""
        for problem in self.problems:
            yield "", problem
        for name, (chosen, files) in self.groups.items():
            for item in chosen.read(files, reading):
                yield name, item


def plan_of(listing: Listing, formats: Sequence[ImportFormat], wanted: str | None = None) -> Recognition:
    """Assign each file to the wanted format, or else to the first that claims it.

    Raises:
        InvalidInputError: no file has a known format; the message says which formats exist and what was found.
    """
    plan = Recognition(problems=list(listing.problems), others=listing.others)
    for file in listing.files:
        try:
            chosen = _format_of(file, formats, wanted)
        except DamagedFileError as error:
            plan.problems.append(ImportProblem(file.name, str(error)))
        except UNREADABLE as error:
            plan.problems.append(ImportProblem(file.name, f"cannot be read: {error}"))
        else:
            if chosen is None:
                plan.others += 1
                plan.unread += [] if file.name.lower().endswith(NOTES) else [file.name]
            else:
                plan.groups.setdefault(chosen.name, (chosen, []))[1].append(file)
    if not plan.groups:
        raise InvalidInputError(_nothing(plan, formats))
    return plan


def _format_of(file: SourceFile, formats: Sequence[ImportFormat], wanted: str | None) -> ImportFormat | None:
    if file.name.lower().endswith((*PAGES, NOTES)):
        return next((each for each in formats if wanted in {None, each.name} and each.claims(file, None)), None)
    for value in [None] if is_database(file) else sample(file):
        for each in formats:
            if each.name == wanted or (wanted is None and each.claims(file, value)):
                return each
    return None


def _nothing(plan: Recognition, formats: Sequence[ImportFormat]) -> str:
    seen = [f"{problem.place} {problem.reason}" for problem in plan.problems[:SHOWN_PROBLEMS]]
    if plan.others:
        seen.append(f"{plan.others:,} file{' holds' if plan.others == 1 else 's hold'} something else")
    known = ", ".join(f"{each.title} ({each.name})" for each in formats)
    return f"nothing to import was found: {'; '.join(seen) or 'there is no file'}. What can be imported: {known}."
