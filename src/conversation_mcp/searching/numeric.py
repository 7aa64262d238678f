"""numpy, imported when it is first needed, and only where it is installed."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec

THREADS = ("OPENBLAS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def has_numpy() -> bool:
    """Tell whether numpy is installed, without importing it."""
    return find_spec("numpy") is not None


def prepare_numpy() -> None:
    """Import numpy for the work of one thread, unless the user's environment says otherwise.

    Its threads wait for each other busily, which takes longer than the arithmetic of small arrays, and would take more
    than a fair share of the machine in the background.
    """
    with _environment(dict.fromkeys(THREADS, "1")):  # which numpy reads on import, and never again
        import_module("numpy")


@contextmanager
def _environment(wanted: dict[str, str]) -> Generator[None]:
    added = {name: value for name, value in wanted.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)
