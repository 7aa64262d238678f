"""The adapter for Perplexity's Agent API: Responses at another endpoint, with presets in place of models."""

from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import replace

from conversation_mcp import __version__
from conversation_mcp.errors import ProviderRejectedError
from conversation_mcp.providers.base import Request
from conversation_mcp.providers.definitions import Configured
from conversation_mcp.providers.perplexity.facts import FACTS
from conversation_mcp.providers.perplexity.request import AgentDraft, PresetField, draft, is_model, is_preset
from conversation_mcp.providers.perplexity.retirement import retirement
from conversation_mcp.providers.responses.provider import Creation, ResponsesProvider
from conversation_mcp.providers.wire.http import Sent
from conversation_mcp.providers.wire.inquiry import Inquiry
from conversation_mcp.providers.wire.problems import BAD_REQUEST, WireProblem

VERSION = "/v1"


class PerplexityProvider(ResponsesProvider):
    """Asks the Agent API. It learns and remembers the name of the preset field there."""

    path = "agent"
    # The API is renaming the field.
    _preset_fields: tuple[PresetField, ...] = ("preset", "effort")

    @property
    def _headers(self) -> Mapping[str, str]:
        """The header by which Perplexity knows the calling program."""
        return {"X-Pplx-Integration": f"conversation-mcp/{__version__}"}

    def _addressed(self, configured: Configured) -> Configured:
        """Return the provider with the version at the end of its address, even if a gateway was set without it."""
        return replace(configured, base_url=f"{configured.base_url.removesuffix(VERSION).rstrip('/')}{VERSION}")

    def _special_error(self, problem: WireProblem) -> ProviderRejectedError | None:
        """Return the error for a request that went to the retired endpoint."""
        return retirement(problem, FACTS.retired, self.configured)

    def serves(self, model: str) -> bool:
        """Tell whether this is a preset, pinned or not, or has the form `provider/model`."""
        return is_preset(model, self.configured.definition) or is_model(model)

    def _put(self, request: Request) -> tuple[Inquiry, Creation]:
        """Return what the answer needs to know of the question, and the create call."""
        drafted = draft(request, FACTS, self.configured.definition)
        return drafted.inquiry, self._create(drafted)

    async def _create(self, drafted: AgentDraft) -> Creation:
        for preset_field in self._preset_fields:
            is_renamed = False
            async with aclosing(self._api.create(self.path, drafted.payload(preset_field))) as steps:
                async for step in steps:
                    if isinstance(step, WireProblem):
                        # A refusal of the field itself is free, so the question is sent again with its other name.
                        is_renamed = step.status == BAD_REQUEST and step.param == "preset" == preset_field
                        if not is_renamed:
                            raise self._api.errors.of_create(step)
                        continue
                    if isinstance(step, Sent) and drafted.inquiry.preset and preset_field == "effort":
                        self._preset_fields = ("effort",)
                    yield step
            if not is_renamed:
                return
