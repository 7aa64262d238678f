"""The layers of a small BERT, computed by numpy."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

# Facts about this model, which the file of its weights does not hold.
HEADS = 12
EPSILON = 1e-12


@dataclass(frozen=True)
class Linear:
    """A matrix, transposed, and what is added to its products."""

    matrix: Floats
    bias: Floats

    def of(self, values: Floats) -> Floats:
        """Return the products of the rows of `values`."""
        made = values @ self.matrix
        made += self.bias
        return made


@dataclass(frozen=True)
class Norm:
    """Brings each row to mean 0 and variance 1, then to weight and bias that were learned."""

    weight: Floats
    bias: Floats

    def of(self, values: Floats) -> Floats:
        """Return the normalised rows of `values`, which it changes."""
        values -= values.mean(axis=-1, keepdims=True)
        variance = np.einsum("...i,...i->...", values, values)[..., None] / values.shape[-1]
        values *= self.weight / np.sqrt(variance + np.float32(EPSILON))
        values += self.bias
        return values


@dataclass(frozen=True)
class Layer:
    """Attention, then two linear layers, each added to what came in."""

    attended: Linear
    """Makes queries, keys and values in one go."""
    joined: Linear
    norm: Norm
    widened: Linear
    narrowed: Linear
    last_norm: Norm

    def of(self, values: Floats) -> Floats:
        """Return the rows of a text after this layer."""
        length, width = values.shape
        query, key, value = self.attended.of(values).reshape(length, 3, HEADS, width // HEADS).transpose(1, 2, 0, 3)
        shares = query @ key.swapaxes(-1, -2)
        # The largest becomes 0, so that no power overflows.
        shares -= shares.max(axis=-1, keepdims=True)
        np.exp(shares, out=shares)
        seen = shares @ value
        seen /= shares.sum(axis=-1, keepdims=True)
        joined = self.joined.of(seen.swapaxes(0, 1).reshape(length, width))
        joined += values
        values = self.norm.of(joined)
        narrowed = self.narrowed.of(gelu(self.widened.of(values)))
        narrowed += values
        return self.last_norm.of(narrowed)


class Bert:
    """The model: the numbers of the pieces of a text in, its vector out."""

    def __init__(self, tensors: Mapping[str, npt.NDArray[np.generic]]) -> None:
        self._tensors = tensors
        self._pieces = cast("npt.NDArray[np.int8]", tensors["embeddings.word_embeddings.weight"])
        self._piece_scales = self._floats("embeddings.word_embeddings.weight.scale")
        kinds = self._matrix("embeddings.token_type_embeddings.weight")
        self._places = self._matrix("embeddings.position_embeddings.weight") + kinds[0]
        self._norm = self._norm_of("embeddings.LayerNorm")
        count = sum(name.endswith("attention.self.query.bias") for name in tensors)
        self._layers = [self._layer(f"encoder.layer.{number}") for number in range(count)]
        self.max_pieces, self.dimensions = self._places.shape

    def vector(self, numbers: Sequence[int]) -> Floats:
        """Return the mean of the last layer, of length 1.

        Texts are computed one by one: several at once take longer, because their arrays no longer fit into the caches.
        """
        pieces = np.asarray(numbers)
        values = self._norm.of(self._pieces[pieces] * self._piece_scales[pieces] + self._places[: len(pieces)])
        for layer in self._layers:
            values = layer.of(values)
        mean = values.mean(axis=0)
        return mean / np.linalg.norm(mean)

    def _layer(self, name: str) -> Layer:
        query, key, value = (self._linear(f"{name}.attention.self.{part}") for part in ("query", "key", "value"))
        # What each text would be multiplied by is put into the weights, once.
        root = np.float32(1 / math.sqrt(query.matrix.shape[1] / HEADS))
        return Layer(
            Linear(
                np.hstack([query.matrix * root, key.matrix, value.matrix]),
                np.hstack([query.bias * root, key.bias, value.bias]),
            ),
            self._linear(f"{name}.attention.output.dense"),
            self._norm_of(f"{name}.attention.output.LayerNorm"),
            self._linear(f"{name}.intermediate.dense"),
            self._linear(f"{name}.output.dense"),
            self._norm_of(f"{name}.output.LayerNorm"),
        )

    def _linear(self, name: str) -> Linear:
        return Linear(np.ascontiguousarray(self._matrix(f"{name}.weight").T), self._floats(f"{name}.bias"))

    def _norm_of(self, name: str) -> Norm:
        return Norm(self._floats(f"{name}.weight"), self._floats(f"{name}.bias"))

    def _matrix(self, name: str) -> Floats:
        return self._tensors[name].astype(np.float32) * self._floats(f"{name}.scale")

    def _floats(self, name: str) -> Floats:
        return self._tensors[name].astype(np.float32)


def gelu(values: Floats) -> Floats:
    """Return x times the share of a normal distribution that is below x, in the place of `values`."""
    # numpy has no error function; this one (Abramowitz and Stegun 7.1.26) is off by at most 1.5e-7.
    # All is done in place, because new arrays of this size take longer than the arithmetic.
    size = np.abs(values)
    size *= np.float32(math.sqrt(0.5))
    part = size * np.float32(0.3275911)
    part += 1
    np.divide(1, part, out=part)
    above = part * np.float32(1.061405429)
    for factor in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        above += np.float32(factor)
        above *= part
    np.multiply(size, -size, out=part)
    above *= np.exp(part, out=part)
    above *= size
    above *= np.float32(math.sqrt(0.5))
    np.maximum(values, 0, out=values)
    values -= above
    return values
