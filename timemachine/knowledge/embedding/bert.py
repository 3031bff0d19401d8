"""The forward pass of a BERT encoder in numpy: returns one mean vector per window of tokens. No Django.

The architecture is that of Devlin et al. 2019 (arXiv 1810.04805): post-norm layers, exact GELU, learned
positions. Windows are concatenated for the dense layers and separate for attention, so there is no padding to
mask.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]

_EPSILON = np.float32(1e-12)
_CACHED = 65_536  # numbers that fit into a core's cache; larger parts take twice as long
_ERF_NEAR = np.float32(0.3275911 / 2**0.5)
_ERF_SERIES = [np.float32(a / 2) for a in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Dense:
    weight: Array  # (in, out)
    bias: Array

    def __call__(self, states: Array) -> Array:
        out: Array = states @ self.weight
        out += self.bias
        return out


@dataclass(frozen=True, slots=True, kw_only=True)
class _Norm:
    weight: Array
    bias: Array

    def __call__(self, states: Array) -> Array:
        states = states - states.mean(axis=1, keepdims=True)
        variance = np.einsum("ij,ij->i", states, states)[:, None] / np.float32(states.shape[1])
        states /= np.sqrt(variance + _EPSILON)
        states *= self.weight
        states += self.bias
        return states


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layer:
    attend: _Dense  # queries (scaled), keys and values side by side
    merge: _Dense
    merged: _Norm
    widen: _Dense
    narrow: _Dense
    narrowed: _Norm


@dataclass(frozen=True, slots=True, kw_only=True)
class Bert:
    """The weights of an encoder."""

    words: Array
    positions: Array  # with the type of the first text added
    embedded: _Norm
    layers: tuple[_Layer, ...]
    heads: int


def bert_of(tensors: Mapping[str, Array], *, heads: int) -> Bert:
    """Return the encoder for tensors with the names of the original implementation."""
    embeddings = {name: tensors[f"embeddings.{name}.weight"] for name in _EMBEDDINGS}
    prefixes = (f"encoder.layer.{number}." for number in range(len(tensors)))
    present = [prefix for prefix in prefixes if f"{prefix}output.dense.weight" in tensors]
    return Bert(
        words=embeddings["word_embeddings"],
        positions=embeddings["position_embeddings"] + embeddings["token_type_embeddings"][0],
        embedded=_norm(tensors, "embeddings.LayerNorm"),
        layers=tuple(_layer(tensors, prefix, heads) for prefix in present),
        heads=heads,
    )


def mean_vectors(bert: Bert, windows: Sequence[Sequence[int]]) -> Array:
    """Return the mean of the last states of each window's tokens, `(len(windows), width)`. No window may be empty."""
    bounds = [0, *accumulate(len(window) for window in windows)]
    spans = [slice(first, end) for first, end in pairwise(bounds)]
    tokens = np.fromiter((token for window in windows for token in window), dtype=np.int64, count=bounds[-1])
    places = np.concatenate([np.arange(len(window)) for window in windows])
    states = bert.embedded(bert.words[tokens] + bert.positions[places])
    for layer in bert.layers:
        states = _through(layer, states, spans, bert.heads)
    return np.stack([states[span].mean(axis=0) for span in spans])


_EMBEDDINGS = ("word_embeddings", "position_embeddings", "token_type_embeddings")


def _through(layer: _Layer, states: Array, spans: Sequence[slice], heads: int) -> Array:
    projected = layer.attend(states)
    mixed = np.concatenate([_attention(projected[span], heads) for span in spans])
    states = layer.merged(states + layer.merge(mixed))
    return layer.narrowed(states + layer.narrow(_gelu(layer.widen(states))))


def _attention(projected: Array, heads: int) -> Array:
    """Scaled dot-product attention of one window: `(tokens, 3 * width)` in, `(tokens, width)` out."""
    tokens, width = projected.shape[0], projected.shape[1] // 3
    queries, keys, values = projected.reshape(tokens, 3, heads, width // heads).transpose(1, 2, 0, 3)
    mixed = np.empty((tokens, heads, width // heads), dtype=np.float32)
    heads_at_once = max(1, _CACHED // (tokens * tokens))
    for first in range(0, heads, heads_at_once):
        some = slice(first, first + heads_at_once)
        weights = _exponentials(queries[some] @ keys[some].transpose(0, 2, 1))
        part = weights @ values[some]
        part /= weights.sum(axis=2, keepdims=True)
        mixed[:, some] = part.transpose(1, 0, 2)
    return mixed.reshape(tokens, width)


def _exponentials(scores: Array) -> Array:
    scores -= scores.max(axis=2, keepdims=True)
    return np.exp(scores, out=scores)


def _gelu(x: Array) -> Array:
    """x Φ(x), in place."""
    rows = max(1, _CACHED // x.shape[1])
    for first in range(0, x.shape[0], rows):
        _gelu_of_part(x[first : first + rows])
    return x


def _gelu_of_part(x: Array) -> None:
    """x Φ(x) = max(x, 0) - |x| (1 - erf(|x| / √2)) / 2, in place.

    The error function is that of Abramowitz and Stegun, 7.1.26 (absolute error below 1.5e-7), its constants scaled.
    """
    size = np.abs(x)
    near = size * _ERF_NEAR
    near += np.float32(1)
    np.divide(np.float32(1), near, out=near)
    tail = near * _ERF_SERIES[0]
    for coefficient in _ERF_SERIES[1:]:
        tail += coefficient
        tail *= near
    tail *= size
    size *= size
    size *= np.float32(-0.5)
    tail *= np.exp(size, out=size)
    np.maximum(x, np.float32(0), out=x)
    x -= tail


def _layer(tensors: Mapping[str, Array], prefix: str, heads: int) -> _Layer:
    own = f"{prefix}attention.self."
    queries, keys, values = (_dense(tensors, own + name) for name in ("query", "key", "value"))
    scale = np.float32(1 / np.sqrt(queries.bias.size / heads))
    return _Layer(
        attend=_Dense(
            weight=np.concatenate([queries.weight * scale, keys.weight, values.weight], axis=1),
            bias=np.concatenate([queries.bias * scale, keys.bias, values.bias]),
        ),
        merge=_dense(tensors, f"{prefix}attention.output.dense"),
        merged=_norm(tensors, f"{prefix}attention.output.LayerNorm"),
        widen=_dense(tensors, f"{prefix}intermediate.dense"),
        narrow=_dense(tensors, f"{prefix}output.dense"),
        narrowed=_norm(tensors, f"{prefix}output.LayerNorm"),
    )


def _dense(tensors: Mapping[str, Array], name: str) -> _Dense:
    return _Dense(weight=tensors[f"{name}.weight"].T, bias=tensors[f"{name}.bias"])


def _norm(tensors: Mapping[str, Array], name: str) -> _Norm:
    return _Norm(weight=tensors[f"{name}.weight"], bias=tensors[f"{name}.bias"])
