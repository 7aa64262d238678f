"""How an interaction tells the state of a run."""

from conversation_mcp.providers.interactions.outcome import has_ended
from conversation_mcp.providers.interactions.steps import answer_text, doing
from conversation_mcp.providers.wire.json_values import JsonObject, objects_at
from conversation_mcp.providers.wire.runs import RunReading
from conversation_mcp.providers.wire.visible_text import visible_so_far
from conversation_mcp.text import shorten

MAX_PROGRESS_CHARS = 160


def visible(run: JsonObject) -> str:
    """Return what can be shown of its text."""
    return visible_so_far(answer_text(objects_at(run, "steps")))


def doing_now(run: JsonObject) -> str:
    """Return what the run is doing."""
    if run.get("status") == "queued":
        return "waiting for its turn"
    return shorten(doing(objects_at(run, "steps")), MAX_PROGRESS_CHARS)


READING = RunReading(has_ended, doing_now, visible)
