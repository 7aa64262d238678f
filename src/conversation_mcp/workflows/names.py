"""The names of the workflows of the package, apart from what reads them, which takes long to import."""

SHIPPED: tuple[str, ...] = (
    "thinkdeep", "debug", "analyze", "codereview", "precommit", "secaudit", "refactor", "testgen", "docgen", "tracer",
    "planner", "challenge", "apilookup",
)  # fmt: skip
"""The workflows of the package, in the order of lists."""
