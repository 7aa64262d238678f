"""Vectors as they are kept: the signs of their numbers choose candidates, and the numbers as int8 rank these."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from conversation_mcp.searching.vectors.pieces import PackedVector

Floats = npt.NDArray[np.float32]

LARGEST = 127
SMALLEST = np.float32(1e-30)
WORD_BITS = 64
FLOAT_BYTES = 4
CHUNK = 65_536
"""How many codes are compared at once, so that what is in between stays in the caches."""


def packed(vectors: Floats) -> Iterator[PackedVector]:
    """Yield the vectors as they are kept."""
    scales = np.maximum(np.abs(vectors).max(axis=1, keepdims=True), SMALLEST) / LARGEST
    rounded = np.rint(vectors / scales).astype(np.int8)
    for code, scale, numbers in zip(codes_of(vectors), scales[:, 0], rounded, strict=True):
        yield PackedVector(code.tobytes(), float(scale), numbers.tobytes())


def unpacked(found: Sequence[tuple[float, bytes]]) -> Floats:
    """Return the vectors that are kept as scale and numbers."""
    rounded = np.frombuffer(b"".join(numbers for _, numbers in found), np.int8).reshape(len(found), -1)
    return rounded * np.array([[scale] for scale, _ in found], np.float32)


def codes_of(vectors: Floats) -> npt.NDArray[np.uint64]:
    """Return the signs of the numbers as bits, in whole words."""
    bits = np.packbits(vectors > 0, axis=1)
    bits = np.pad(bits, ((0, 0), (0, -bits.shape[1] % (WORD_BITS // 8))))
    return bits.view(np.uint64)


def distances(codes: npt.NDArray[np.uint64], code: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint16]:
    """Return how many bits differ from the code, for each column of `codes`, which has a row for each word."""
    found = np.empty(codes.shape[1], np.uint16)
    for start in range(0, len(found), CHUNK):
        part = found[start : start + CHUNK]
        part[:] = 0
        for row, word in zip(codes, code, strict=True):
            # This function came with numpy 2.
            part += np.bitwise_count(row[start : start + CHUNK] ^ word)
    return found


def is_sound(vectors: Floats, dimensions: int) -> bool:
    """Tell whether all of the vectors have this length and can be compared: no number is missing, no vector is zero."""
    if vectors.ndim != 2 or vectors.shape[1] != dimensions or not np.isfinite(vectors).all():  # noqa: PLR2004 -- rows
        return False
    return bool((np.abs(vectors).max(axis=1, initial=0) > 0).all())


def given_vector(numbers: bytes, dimensions: int) -> Floats | None:
    """Return a vector that was given as 32-bit floats, with the length 1; None if it cannot be used."""
    if len(numbers) != dimensions * FLOAT_BYTES:
        return None
    vector = np.frombuffer(numbers, "<f4")[None]
    # Divided by its largest number first, because squares may be too large or too small.
    return unit(vector / np.abs(vector).max())[0] if is_sound(vector, dimensions) else None


def unit(vectors: Floats) -> Floats:
    """Return the vectors with the length 1."""
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
