"""The check of the documents: how many can be searched, which are left out and why."""

from collections.abc import Iterable

from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.providers.base import Reader, Survey
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
        if isinstance(provider, Reader):
            try:
                survey = provider.survey()
            except ConversationMCPError as error:
                yield Finding("fail", error.sentence())
            else:
                yield from _found(survey)
                yield from _written(settings)


def _found(survey: Survey) -> Iterable[Finding]:
    count = counted(survey.read, "document")
    yield Finding("ok", f"{count} can be searched") if survey.read else Finding("fail", "no document can be searched")
    for reason, number, examples in survey.left_out:
        more = ", …" if number > len(examples) else ""
        yield Finding("ok", f"left out: {number:,} {reason}: {', '.join(examples)}{more}")


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
