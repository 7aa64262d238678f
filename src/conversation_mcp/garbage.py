"""The collector of garbage in a process that imports a lot and then serves for long."""

import gc
from collections.abc import Generator
from contextlib import contextmanager

YOUNG_OBJECTS = 20_000


@contextmanager
def collecting_later() -> Generator[None]:
    """Collect no garbage during the block, and never look for any in what it leaves behind.

    It imports: almost all that it makes stays, and searching that again and again takes an eighth of the start.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.set_threshold(YOUNG_OBJECTS)
        gc.enable()
