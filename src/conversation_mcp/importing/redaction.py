"""Redaction of what an import brings, before it is stored or compared with what is."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial

from conversation_mcp.conversations.rewriting import cleaned, cleaned_record
from conversation_mcp.importing.base import Sourced
from conversation_mcp.records.models import Conversation
from conversation_mcp.records.transcript import contents_named_in
from conversation_mcp.redacting.kinds import SensitiveKind
from conversation_mcp.redacting.texts import CountedTexts, TextRedaction


def redacted(found: Sourced, redaction: TextRedaction) -> tuple[Sourced, Counter[SensitiveKind]]:
    """Return what was found redacted, with the contents that it names, and how often something was replaced.

    The ids by which a later import recognizes it stay. It may take time, so that it belongs into a thread.
    """
    clean = redaction.counting()
    return _cleaned(found, clean) if redaction.is_on else found, clean.counts


def as_redacted(stored: Conversation, redaction: TextRedaction) -> Conversation:
    """Return a stored conversation as it would have been imported; what its questions name stays as it is."""
    return cleaned(stored, {}, redaction.counting())[0] if redaction.is_on else stored


def _cleaned(found: Sourced, clean: CountedTexts) -> Sourced:
    if found.whole is not None:
        named = contents_named_in(found.whole)
        whole, contents = cleaned(found.whole, found.contents(named) if named else {}, clean)
        return replace(found, whole=whole, messages=whole.messages, contents=partial(_picked, contents))
    return replace(
        found,
        messages=tuple(cleaned_record(message, clean) for message in found.messages),
        title=clean.maybe(found.title),
        memories=tuple(cleaned_record(memory, clean) for memory in found.memories),
        unanswered=tuple(cleaned_record(turn, clean) for turn in found.unanswered),
        failed=tuple(cleaned_record(turn, clean) for turn in found.failed),
    )


def _picked(contents: Mapping[str, bytes], hashes: Collection[str]) -> Mapping[str, bytes]:
    return {name: contents[name] for name in hashes if name in contents}
