"""What a provider takes at once: which PDFs are sent as they are, and which images are too many."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from conversation_mcp.prompting.frames import quoted
from conversation_mcp.prompting.measure import Measure
from conversation_mcp.prompting.presentation import Contents, SentPdf
from conversation_mcp.prompting.transcript import Said, key_of
from conversation_mcp.records.attached import AttachedFile


class MediaLimits(NamedTuple):
    """What the asked model takes in one request; by default no PDF at all, and any number of images."""

    max_bytes: int = 0
    max_pages: int = 0
    tokens_per_page: int = 0
    max_images: int | None = None
    max_image_bytes: int | None = None


NO_LIMITS = MediaLimits()


@dataclass
class _Room:
    limits: MediaLimits
    bytes: int = 0
    pages: int = 0

    def takes(self, size: int, pages: int) -> bool:
        """Add a PDF if there is room for it."""
        fits = self.bytes + size <= self.limits.max_bytes and self.pages + pages <= self.limits.max_pages
        if fits:
            self.bytes, self.pages = self.bytes + size, self.pages + pages
        return fits


def within(
    kept: Contents, said: Sequence[Said], limits: MediaLimits, measure: Measure, withheld: Collection[str]
) -> Contents:
    """Return the contents with what is chosen of them: the oldest PDFs, as in the request before; the newest images."""
    if kept.images:
        kept = replace(kept, crowded=_crowded(kept, said, limits))
    if not limits.max_pages or not kept.pdfs:
        return kept
    room, sent = _Room(limits), dict[str, SentPdf]()
    for key, file in _named(said, kept.pdfs):
        data, pages = kept.pdfs[key], file.pages or 0
        if key not in sent and key not in withheld and room.takes(len(data), pages):
            sent[key] = SentPdf(data, measure.tokens(kept.texts[key]) + pages * limits.tokens_per_page)
    return replace(kept, sent_pdfs=sent)


def notices_of_texts(kept: Contents, asked: Sequence[Said], limits: MediaLimits) -> tuple[str, ...]:
    """Return a notice for each PDF of the question that is sent as text because of the limits."""
    if not limits.max_pages:
        return ()
    most = f"{limits.max_pages:,} pages and {limits.max_bytes:,} bytes"
    return tuple(
        f"{quoted(file.path)} is sent as text, because the PDFs of a request may have at most {most}"
        for key, file in _named(asked, kept.pdfs)
        if key not in kept.sent_pdfs
    )


def _crowded(kept: Contents, said: Sequence[Said], limits: MediaLimits) -> frozenset[str]:
    """Return the images that are too many, or too large together with newer ones."""
    keys = dict.fromkeys(key for one in reversed(said) for image in one.images if (key := key_of(image)))
    count, size, crowded = 0, 0, set[str]()
    for key in keys:
        if key not in kept.images:
            continue
        count, size = count + 1, size + len(kept.images[key].data)
        if crowded or count > (limits.max_images or count) or size > (limits.max_image_bytes or size):
            crowded.add(key)
    return frozenset(crowded)


def _named(said: Sequence[Said], pdfs: Mapping[str, bytes]) -> Iterator[tuple[str, AttachedFile]]:
    for file in (file for one in said for file in one.files):
        key = key_of(file)
        if key and key in pdfs and file.pages and not file.lines:
            yield key, file
