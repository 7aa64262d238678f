"""How a process that serves for long gives memory back."""

import os
import subprocess
import sys

import pytest

ARENAS = """
import ctypes, sys, threading
from conversation_mcp.garbage import share_arenas

library = ctypes.CDLL(None)
if not hasattr(library, "mallopt") or not hasattr(library, "malloc_info"):
    sys.exit("no glibc")
if sys.argv[1:]:
    share_arenas()
library.malloc.restype = ctypes.c_void_p
together = threading.Barrier(8)

def allocate():
    together.wait()
    library.malloc(ctypes.c_size_t(10_000))
    together.wait()

threads = [threading.Thread(target=allocate) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
library.fdopen.restype = ctypes.c_void_p
library.malloc_info(0, ctypes.c_void_p(library.fdopen(1, b"w")))
library.fflush(None)
"""


def arena_count(*arguments: str, **environment: str) -> int:
    """Return in how many arenas the threads of a process have allocated."""
    given = {name: value for name, value in os.environ.items() if name != "MALLOC_ARENA_MAX"} | environment
    run = subprocess.run(
        [sys.executable, "-c", ARENAS, *arguments], check=False, capture_output=True, text=True, env=given
    )
    if "no glibc" in run.stderr:
        pytest.skip("this C library has no arenas")
    assert run.returncode == 0, run.stderr
    return run.stdout.count("<heap nr=")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only the C library of Linux systems has arenas")
def test_all_threads_share_few_arenas_unless_the_environment_says_otherwise() -> None:
    assert arena_count("share") <= 2 < arena_count()
    assert arena_count("share", MALLOC_ARENA_MAX="5") > 2
