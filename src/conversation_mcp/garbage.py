"""How a process that imports a lot and then serves for long gives memory back."""

import gc
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress

YOUNG_OBJECTS = 20_000
"""How many objects are made before the youngest are searched for garbage.

A long conversation is a hundred thousand of them, of which none is: with Python's 700, the search takes as long as
reading the file.
"""
ARENAS_VARIABLE = "MALLOC_ARENA_MAX"
M_ARENA_MAX = -8
MOST_ARENAS = 2


@contextmanager
def collecting_later() -> Generator[None]:
    """Collect no garbage during the block, never look for any in what it leaves behind, and seldom afterwards.

    It imports: almost all that it makes stays, and searching that again and again takes an eighth of the start.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.set_threshold(YOUNG_OBJECTS)
        gc.enable()


def share_arenas() -> None:
    """Have all threads allocate from the same few arenas, unless the user's environment says how many.

    The C library of most Linux systems gives each thread one of its own, up to eight for a core. What a thread has left
    there serves no other one, so that the memory of a server with many threads grows for days.
    """
    if sys.platform == "linux" and ARENAS_VARIABLE not in os.environ:
        import ctypes

        with suppress(AttributeError, OSError):  # another C library
            ctypes.CDLL(None).mallopt(M_ARENA_MAX, MOST_ARENAS)
