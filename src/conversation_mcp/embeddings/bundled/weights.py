"""The file of the weights, in the data distribution that `make minilm` builds."""

import json
import mmap
import struct
from importlib.resources import as_file, files
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

PACKAGE = "conversation_mcp_minilm"
LENGTH = struct.Struct("<Q")
TYPES = {"F32": "<f4", "I8": "i1"}


def load_tensors() -> dict[str, npt.NDArray[np.generic]]:
    """Read the tensors. Their bytes are those of the file, which processes share."""
    with as_file(files(PACKAGE).joinpath("model.safetensors")) as path, path.open("rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    (size,) = LENGTH.unpack(data[: LENGTH.size])
    start = LENGTH.size + size
    header: dict[str, Any] = json.loads(data[LENGTH.size : start])
    return {
        name: np.frombuffer(
            data, TYPES[facts["dtype"]], count=prod(facts["shape"]), offset=start + facts["data_offsets"][0]
        ).reshape(facts["shape"])
        for name, facts in header.items()
    }


def load_vocabulary() -> list[str]:
    """Read the pieces of words in the order of their numbers."""
    return files(PACKAGE).joinpath("vocab.txt").read_text("utf-8").splitlines()
