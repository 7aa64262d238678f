"""The count of a request by the provider that would be asked, which gets the words for it."""

from conversation_mcp.errors import Argument, InvalidInputError
from conversation_mcp.prompting.composed import Composition
from conversation_mcp.providers.base import Provider, Request, TokenCounter
from conversation_mcp.providers.choosing.choice import Choice
from conversation_mcp.providers.choosing.providers import Providers
from conversation_mcp.records.chat import ChatMessage
from conversation_mcp.records.models import Conversation
from conversation_mcp.text import listed
from conversation_mcp.turns.disclosure import sharing_notices

QUESTION = ChatMessage("user", "?")
"""Stands for the question that is not asked yet: what ends with an answer cannot be counted everywhere."""


class VendorCount:
    """Has requests counted, under the rules for words that leave this machine."""

    def __init__(self, providers: Providers) -> None:
        self._providers = providers

    async def require_counter(self, provider: Provider) -> TokenCounter:
        """Return the provider's counter.

        Raises:
            InvalidInputError: it has none; the message names the configured ones that have.
        """
        if isinstance(provider, TokenCounter):
            return provider
        able = [one.name for one in await self._providers.all() if isinstance(one, TokenCounter)]
        there = f"of the configured providers, only {listed(able)} can" if able else "no configured provider can"
        raise InvalidInputError(
            f"{provider.name} cannot count tokens exactly; {there}. Nothing was sent. Leave ",
            Argument("exact"),
            " out to get the estimate.",
        )

    async def count(
        self, holder: Conversation, choice: Choice, model: str | None, composition: Composition
    ) -> tuple[int, tuple[str, ...]]:
        """Return the tokens as the provider counts them, and notices about who gets the words.

        Args:
            holder: the conversation that tells who has the words so far.
            choice: the provider and model.
            model: the model that the call names.
            composition: what the next question would carry.

        Raises:
            InvalidInputError: the provider has no counter.
            WordsStayError: the words were only on this machine, and the call does not name the provider.
            ProviderError: the provider cannot be asked, or gives no number.
        """
        counter = await self.require_counter(choice.provider)
        may_leave = choice.is_named_by(model) or self._providers.shares_always
        shared = sharing_notices(holder, choice, self._providers.sides, may_leave=may_leave)
        is_asked = bool(composition.messages) and composition.messages[-1].role == "user"
        messages = composition.messages if is_asked else (*composition.messages, QUESTION)
        return await counter.count(Request("chat", messages, preset="", model=choice.model)), shared
