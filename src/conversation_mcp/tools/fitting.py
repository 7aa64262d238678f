"""An answer above the limit is cut at a paragraph, and says where the whole text is."""

from conversation_mcp.text import cut
from conversation_mcp.turns.result import TurnResult


def fit(result: TurnResult, max_chars: int) -> TurnResult:
    """Return the result with no more than `max_chars` of answer; one that stands in no file is never cut."""
    text = result.raw_result_text or ""
    if len(text) <= max_chars or result.message_count is None:
        return result
    head = cut(text, max_chars)
    notice = (
        f"the answer is cut here, at {len(head):,} of {len(text):,} characters; "
        f"the whole text is in {result.conversation_path}"
    )
    return result.model_copy(update={"raw_result_text": head, "notices": (*(result.notices or ()), notice)})
