"""The retired endpoint, and how its refusal is recognised."""

from conversation_mcp.errors import ProviderRejectedError
from conversation_mcp.providers.definitions import Configured
from conversation_mcp.providers.perplexity.facts import Retired
from conversation_mcp.providers.wire.problems import WireProblem


def retirement(problem: WireProblem, retired: Retired, configured: Configured) -> ProviderRejectedError | None:
    """Return the error for a request that went to the retired endpoint; None for any other problem."""
    is_it = retired.types.intersection(problem.kind.split()) or any(
        phrase in problem.cause for phrase in retired.phrases
    )
    if not is_it:
        return None
    definition = configured.definition
    what = f"{definition.title} retired this endpoint on {retired.since}"
    if configured.is_base_url_set:
        return ProviderRejectedError(
            f"{what}; {definition.base_url_name} points at an old gateway.",
            f"Unset it or use {(definition.base_url or '').removesuffix('/v1')}.",
        )
    return ProviderRejectedError(
        f"{what}, and this version still asks it.",
        f"Get a newer conversation-mcp, or set {definition.base_url_name} to a gateway that serves /v1/agent.",
    )
