"""The file of the reference memory server: a line for each entity with its observations, and for each relation."""

from collections.abc import Iterator, Sequence

from conversation_mcp.importing.base import ImportFormat, ImportProblem, Item, ReadOptions, Sourced, SourceFile
from conversation_mcp.importing.entries import each_object
from conversation_mcp.importing.messages import Data, list_of, name_of, object_of, text_of
from conversation_mcp.importing.remembered import PART, memory, once
from conversation_mcp.records.memories import Memory

GRAPH = ("entities", "relations")


def claims(_file: SourceFile, entry: object) -> bool:
    """Tell whether the entry is an entity, a relation, or a whole graph as a client was told it."""
    facts = object_of(entry)
    is_graph = all(isinstance(facts.get(name), list) for name in GRAPH)
    return is_graph or _is_entity(facts) or _is_relation(facts)


def read(files: Sequence[SourceFile], reading: ReadOptions) -> Iterator[Item]:
    """Yield a conversation for each file, with its memories; a line that is damaged costs nobody else."""
    for file in files:
        found: list[Memory] = []
        for entry in each_object((file,), reading):
            if isinstance(entry, ImportProblem):
                yield entry
                continue
            for facts in _each(entry.value):
                if made := _memories(facts):
                    found += made
                else:
                    yield ImportProblem(entry.place, "is neither an entity nor a relation")
        yield from _conversations(file.name.rpartition("/")[2], once(found))


def _conversations(name: str, memories: tuple[Memory, ...]) -> Iterator[Item]:
    for start in range(0, len(memories), PART):
        part = f" ({start // PART + 1})" if start else ""
        some = memories[start : start + PART]
        yield Sourced(f"{name}{part}", name, (), title=f"Memories of {name}{part}", memories=some)


def _each(entry: Data) -> Sequence[Data]:
    """Return the entities and relations of a graph, else the entry."""
    parts = [each for name in GRAPH for each in list_of(entry.get(name))]
    return [object_of(each) for each in parts] if parts else [entry]


def _is_entity(facts: Data) -> bool:
    return isinstance(facts.get("name"), str) and "entityType" in facts and isinstance(facts.get("observations"), list)


def _is_relation(facts: Data) -> bool:
    return all(isinstance(facts.get(name), str) for name in ("from", "to", "relationType"))


def _memories(facts: Data) -> list[Memory]:
    """Return what an entity or a relation says, as sentences that can be found by themselves."""
    if _is_relation(facts):
        start, end, kind = (text_of(facts[name]) for name in ("from", "to", "relationType"))
        said = f"{start} {kind.replace('_', ' ')} {end}"
        return [memory(said, (start, end), {"from": start, "to": end, "relationType": kind})]
    if not _is_entity(facts):
        return []
    name, kind = text_of(facts["name"]), name_of(facts["entityType"]) or ""
    said = [text for each in list_of(facts["observations"]) if (text := text_of(each)).strip()]
    told = {"entity": name, "entityType": kind}
    if not said:
        return [memory(f"{name} ({kind})" if kind else name, (kind, name), told)]
    return [memory(f"{name}: {text}", (kind, name), told) for text in said]


MEMORY_SERVER = ImportFormat("memory-server", "the reference memory server", claims, read)
