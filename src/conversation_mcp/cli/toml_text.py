"""Values as TOML."""

import json
from collections.abc import Iterable, Mapping
from typing import cast


def toml_value(value: object) -> str:
    """Return a string, number, boolean or list as TOML; anything else as the string that it shows as."""
    if isinstance(value, bool | int | float):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, cast('Iterable[object]', value)))}]"
    # What JSON escapes TOML escapes alike, but for DEL.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_table(name: str, entry: Mapping[str, object]) -> str:
    """Return a table, with the tables in it after it."""
    lines = [f"[{name}]"]
    tables: list[str] = []
    for key, value in entry.items():
        if isinstance(value, Mapping):
            tables.append(toml_table(f"{name}.{key}", cast("Mapping[str, object]", value)))
        else:
            lines.append(f"{key} = {toml_value(value)}")
    return "\n".join(lines) + "\n" + "".join(f"\n{table}" for table in tables)
