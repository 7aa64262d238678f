"""The facets of a conversation as the database keeps them."""

BETWEEN = "\x1f"


def facet_text(kind: str, value: str) -> str:
    """Return a facet as one text, which the database can store."""
    return f"{kind}{BETWEEN}{value}".replace("\0", "\ufffd")
