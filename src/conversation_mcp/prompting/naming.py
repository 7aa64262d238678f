"""The records of what a new question names, and what must be kept for it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from conversation_mcp.attaching.contents import FilesRead, LeftOut
from conversation_mcp.documents.skips import Reason
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.prompting.frames import quoted
from conversation_mcp.prompting.presentation import Contents, ShownContent
from conversation_mcp.prompting.transcript import Said, key_of
from conversation_mcp.records.attached import AttachedFile, AttachedImage
from conversation_mcp.records.chat import ImagePart
from conversation_mcp.text import listed

LINE_TOKENS, LINES_SHARE, FEWEST_LINES = 50, 0.05, 3
"""About what the line of a file that is not sent takes, and how much of a request such lines of a message may take."""
RECORDS_SHARE, FEWEST_RECORDS, FEWEST_LISTED = 0.25, 100, 20
"""Files are recorded as if each took a line of such a share of the request, but always so many."""
NO_ROOM = "without room in the request"

Named = TypeVar("Named", AttachedFile, AttachedImage)


def few_enough(read: FilesRead, limit_tokens: int | None) -> FilesRead:
    """Return what was read without the last files of too many, for most of which there cannot be room."""
    if limit_tokens is None:
        return read
    most = max(FEWEST_RECORDS, int(limit_tokens * RECORDS_SHARE / LINE_TOKENS))
    if len(read.files) + len(read.left_out) <= most:
        return read
    files, left_out = read.files[:most], read.left_out[: max(most - len(read.files), FEWEST_LISTED)]
    more = Counter(read.more_left_out) + Counter(one.reason for one in read.left_out[len(left_out) :])
    more[NO_ROOM] += len(read.files) - len(files)
    return replace(read, files=files, left_out=left_out, more_left_out=+more)


def without_scans(read: FilesRead, model: str) -> FilesRead:
    """Return what was read without the PDFs that have no text, which the model could not read.

    Raises:
        InvalidInputError: nothing else is there to be sent.
    """
    scans = [file.path for file in read.files if file.is_scan]
    if not scans:
        return read
    files = tuple(file for file in read.files if not file.is_scan)
    if not files and not read.images:
        paths = listed(map(quoted, scans))
        raise InvalidInputError(f"{paths}: {Reason.NO_TEXT}, and {model} takes no PDF; name a model that does", "files")
    why = f"{Reason.NO_TEXT}, and {model} takes no PDF"
    return replace(read, files=files, left_out=(*read.left_out, *(LeftOut(path, why) for path in scans)))


def most_lines(limit_tokens: int | None) -> int | None:
    """Return how many lines of a message may stand for files that are not sent; None if there is no limit."""
    return None if limit_tokens is None else max(FEWEST_LINES, int(limit_tokens * LINES_SHARE / LINE_TOKENS))


def files_named(read: FilesRead) -> tuple[AttachedFile, ...]:
    """Return the records of the files; as if each were sent whole, until the request is made."""
    named = (
        AttachedFile.of(
            path=file.path,
            sha256=file.sha256,
            bytes=len(file.data),
            lines=file.lines,
            text=None if file.text_sha256 == file.sha256 else file.text_sha256,
            pages=file.pages,
            sent="whole",
        )
        for file in read.files
    )
    skipped = (one for one in read.left_out if not one.is_image)
    return (*named, *(AttachedFile.of(path=one.path, sent="skipped", reason=one.reason) for one in skipped))


def images_named(read: FilesRead) -> tuple[AttachedImage, ...]:
    """Return the records of the images; as if each were sent, until the request is made."""
    named = (
        AttachedImage.of(
            path=image.path,
            sha256=image.sha256,
            bytes=len(image.data),
            media_type=image.media_type,
            width=image.sent.width,
            height=image.sent.height,
            shown=image.smaller and image.smaller.sha256,
            sent="whole",
        )
        for image in read.images
    )
    skipped = (one for one in read.left_out if one.is_image)
    return (*named, *(AttachedImage.of(path=one.path, sent="skipped", reason=one.reason) for one in skipped))


def kept_with(kept: Contents, read: FilesRead) -> Contents:
    """Return what is kept together with what was read."""
    texts = {file.text_sha256: file.text for file in read.files}
    sent = (image.sent for image in read.images if image.sent.sha256 not in kept.images)
    images = {image.sha256: ImagePart(image.media_type, image.data) for image in sent}
    pdfs = {file.text_sha256: file.data for file in read.files if file.pages}
    return replace(
        kept,
        texts={**kept.texts, **texts},
        images={**kept.images, **images},
        pdfs={**kept.pdfs, **pdfs},
        oversized=kept.oversized - images.keys(),
    )


def record_of(shown: ShownContent) -> AttachedFile | AttachedImage:
    """Return the record of what the new question names, as it was sent."""
    changes: dict[str, object] = {"sent": shown.sent}
    if shown.pdf:
        changes["as_pdf"] = True
    if shown.why and not shown.named.reason:
        changes["reason"] = shown.why
    if shown.changed_since and shown.changed_since.is_own:
        changes["changed_since"] = shown.changed_since.number
    return shown.named.model_copy(update=changes)


def without(said: Said, reasons: Mapping[str, str]) -> dict[str, Any]:
    """Return the files and images of the question; those are skipped whose hash has a reason."""

    def skipped(named: Named) -> Named:
        reason = reasons.get(key_of(named) or "")
        return named if reason is None else type(named).of(path=named.path, sent="skipped", reason=reason)

    return {"files": tuple(map(skipped, said.files)), "images": tuple(map(skipped, said.images))}


def contents_to_keep(read: FilesRead, records: Iterable[AttachedFile | AttachedImage]) -> Mapping[str, bytes]:
    """Return what must be kept for the question, by hash: the bytes, and texts that are not those bytes themselves."""
    wanted = {key for one in records for key in (one.sha256, key_of(one)) if key}
    return {key: data for key, data in _contents(read) if key in wanted}


def _contents(read: FilesRead) -> Iterator[tuple[str, bytes]]:
    for image in read.images:
        yield image.sha256, image.data
        yield image.sent.sha256, image.sent.data
    for file in read.files:
        yield file.sha256, file.data
        if file.text_sha256 != file.sha256:
            yield file.text_sha256, file.text.encode("utf-8", "surrogatepass")
