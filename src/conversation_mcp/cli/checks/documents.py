"""The check of the documents: how many can be searched, which are left out and why."""

from collections.abc import Iterable

from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.providers.base import Survey, VectorStanding, as_reader
from conversation_mcp.providers.catalog import ProviderContext, build_providers
from conversation_mcp.providers.choosing.names import split_name
from conversation_mcp.providers.client import LazyClient
from conversation_mcp.providers.configuration import configured_in, definitions_in
from conversation_mcp.providers.sides import is_here
from conversation_mcp.records.findings import Finding
from conversation_mcp.settings import Settings
from conversation_mcp.text import counted


def check_documents(settings: Settings) -> Iterable[Finding]:
    """Check the documents without reading them."""
    for provider in build_providers(ProviderContext(settings, LazyClient())):
        if reader := as_reader(provider):
            try:
                survey = reader.survey()
            except ConversationMCPError as error:
                yield Finding("fail", error.sentence())
            else:
                yield from _found(survey)
                yield from _meant(settings, reader.vectors())
                yield from _written(settings)


def _found(survey: Survey) -> Iterable[Finding]:
    count = counted(survey.read, "document")
    yield Finding("ok", f"{count} can be searched") if survey.read else Finding("fail", "no document can be searched")
    for reason, number, examples in survey.left_out:
        more = ", …" if number > len(examples) else ""
        yield Finding("ok", f"left out: {number:,} {reason}: {', '.join(examples)}{more}")


def _meant(settings: Settings, standing: VectorStanding | None) -> Iterable[Finding]:
    if standing is None:
        if settings.embeddings not in ("auto", "off"):
            yield Finding(
                "fail", f"documents are to be found by meaning with {settings.embeddings}, which is not there"
            )
        return
    where = f"; {standing.server} gets all passages and questions" if standing.server else ""
    size = f"{standing.size_bytes / 1_000_000:,.1f} MB"
    made = f"{standing.known:,} of {standing.passages:,} passages have a vector ({size})"
    state = "" if standing.is_whole else "; until all have one, only words are searched for"
    yield Finding("ok", f"found by meaning with {standing.model}: {made}{state}{where}")


def _written(settings: Settings) -> Iterable[Finding]:
    model = settings.documents_model
    if model is None:
        return
    named, configured = split_name(model, definitions_in(settings)), configured_in(settings)
    if named and named[0] not in configured:
        yield Finding("fail", f"answers are to be written by the model {model}, and {named[0]} is not configured")
    else:
        here = " of this machine" if named and is_here(configured[named[0]]) else ""
        yield Finding("ok", f"answers are written by the model {model}{here}; passages and questions are sent to it")
