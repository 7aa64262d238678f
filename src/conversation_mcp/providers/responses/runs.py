"""How a response object tells the state of a run."""

from conversation_mcp.providers.responses.outcome import has_ended
from conversation_mcp.providers.responses.output import answer_text, page_count, reading
from conversation_mcp.providers.wire.json_values import JsonObject, objects_at
from conversation_mcp.providers.wire.runs import RunReading
from conversation_mcp.providers.wire.visible_text import visible_so_far


def visible(response: JsonObject) -> str:
    """Return what can be shown of its text."""
    return visible_so_far(answer_text(objects_at(response, "output")))


def doing(response: JsonObject) -> str:
    """Return what the run is doing."""
    if response.get("status") == "queued":
        return "waiting for its turn"
    if visible(response):
        return "writing the answer"
    pages = page_count(objects_at(response, "output"))
    return reading(pages) if pages else "researching"


READING = RunReading(has_ended, doing, visible)
