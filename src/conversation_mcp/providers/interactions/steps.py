"""Readers for the steps of an interaction: its text, its thoughts, its searches, and what went wrong."""

from collections.abc import Iterable, Iterator, Sequence

from conversation_mcp.providers.wire.json_values import (
    NOTHING,
    JsonObject,
    items_at,
    object_at,
    objects_at,
    raw_text_at,
    text_at,
)
from conversation_mcp.text import counted

OUTPUT, THOUGHT = "model_output", "thought"


def answer_parts(steps: Sequence[JsonObject]) -> list[JsonObject]:
    """Return the texts of the answer: those of the last steps of output, between which there may be thoughts.

    What a model says before it searches is not part of its answer.
    """
    found: list[JsonObject] = []
    for step in reversed(steps):
        kind = step.get("type")
        if kind == OUTPUT:
            found = [*texts(step), *found]
        elif kind != THOUGHT and found:
            break
    return found


def texts(step: JsonObject) -> list[JsonObject]:
    """Return the texts of a step of output, each with its annotations."""
    return [part for part in objects_at(step, "content") if raw_text_at(part, "text")]


def answer_text(steps: Sequence[JsonObject]) -> str:
    """Return the text of the answer as the model wrote it."""
    return "".join(text_at(part, "text") for part in answer_parts(steps))


def thoughts(steps: Iterable[JsonObject]) -> str:
    """Return the summaries of what the model thought."""
    parts = [part for step in steps if step.get("type") == THOUGHT for part in objects_at(step, "summary")]
    return "\n\n".join(text for part in parts if (text := text_at(part, "text").strip()))


def queries(steps: Iterable[JsonObject]) -> list[str]:
    """Return what was searched for, each query once."""
    calls = (object_at(step, "arguments") for step in steps if step.get("type") == "google_search_call")
    found = [query for call in calls for query in items_at(call, "queries") if isinstance(query, str) and query.strip()]
    return list(dict.fromkeys(found))


def pages(steps: Iterable[JsonObject]) -> Iterator[JsonObject]:
    """Yield the pages with an address in the results of tools; the usual search names none there."""
    for step in steps:
        yield from (page for page in objects_at(step, "result") if raw_text_at(page, "url"))


def calls_tools(steps: Iterable[JsonObject]) -> bool:
    """Tell whether the model asked for a tool that it was not given."""
    return any(step.get("type") == "function_call" for step in steps)


def trouble(run: JsonObject, steps: Iterable[JsonObject]) -> JsonObject:
    """Return the error that the run or its last step of output reports; empty if there is none."""
    errors = [error for step in steps if step.get("type") == OUTPUT and (error := object_at(step, "error"))]
    return next(iter([*reversed(errors), *objects_at(run, "errors")]), object_at(run, "error"))


def doing(steps: Sequence[JsonObject]) -> str:
    """Return what the last step does, as a short phrase."""
    last = steps[-1] if steps else NOTHING
    match raw_text_at(last, "type"):
        case "thought":
            return "thinking"
        case "google_search_call":
            return searching(queries([last]))
        case "url_context_call":
            return f"reading {counted(len(items_at(object_at(last, 'arguments'), 'urls')), 'page')}"
        case "model_output":
            return "writing the answer"
        case _:
            return "researching"


def searching(searched: list[str]) -> str:
    """Return the phrase for searches."""
    return "searching: " + " | ".join(searched) if searched else "searching"
