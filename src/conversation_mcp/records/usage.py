"""The record of what an answer took."""

from typing import Annotated, Self

from pydantic import Field

from conversation_mcp.records.record import Record

MAX_TOKENS, MAX_COST_USD = 10**12, 10**9
"""Far above any real amount, and far below where sums lose precision."""
Tokens = Annotated[int, Field(ge=-MAX_TOKENS, le=MAX_TOKENS)]
CostUsd = Annotated[float, Field(ge=-MAX_COST_USD, le=MAX_COST_USD)]


class Usage(Record):
    """The tokens and cost of an answer, as the provider reported them."""

    input_tokens: Tokens | None = None
    """Tokens sent, those read from the provider's cache included."""
    cached_input_tokens: Tokens | None = None
    """Tokens of them that the provider read from its cache, usually at a lower price."""
    written_input_tokens: Tokens | None = None
    """Tokens of them that the provider wrote to its cache, if it charges more for that."""
    output_tokens: Tokens | None = None
    """Tokens received."""
    reasoning_tokens: Tokens | None = None
    """Tokens received that were spent on hidden reasoning."""
    searches: Tokens | None = None
    """Searches for the answer that are charged beside the tokens."""
    cost_usd: CostUsd | None = None
    """The amount charged, in US dollars."""

    @classmethod
    def told(cls, **amounts: float | None) -> Self | None:
        """Make the record from another program's counts, without impossible ones; return None if none remains."""
        most = {name: MAX_COST_USD if name == "cost_usd" else MAX_TOKENS for name in amounts}
        known = {name: amount for name, amount in amounts.items() if amount is not None and 0 <= amount <= most[name]}
        return cls.model_validate(known) if known else None
