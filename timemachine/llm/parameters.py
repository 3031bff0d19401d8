"""Which requested parameters are sent, under which names, and which a model rejects."""

import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from timemachine.llm.pure.completion import ModelRequest

# Only sampling parameters can be omitted. Without its limit, a request would be a different and more expensive one.
_CAN_BE_LEFT_OUT = ("temperature", "seed")
_REJECTION = re.compile(
    r"deprecated|unsupported|not supported|not support|not permitted|not allowed|unknown|unrecognized|unexpected"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """The parameters that are sent, under our names (`asked`) and the provider's (`wire`), and the omitted ones."""

    asked: Mapping[str, float | int]
    wire: Mapping[str, float | int]
    left_out: tuple[str, ...]


def parameters_for(request: ModelRequest, left_out: AbstractSet[str] = frozenset()) -> Parameters:
    """Return what to send: all parameters of the request except those in `left_out` or unknown to the provider."""
    names = {
        "temperature": "temperature",
        "seed": request.connection.seed_parameter,
        "max_tokens": request.connection.limit_parameter,
    }
    stated = {name: value for name in names if (value := getattr(request, name)) is not None}
    sent = {name: value for name, value in stated.items() if names[name] and name not in left_out}
    return Parameters(
        asked=sent,
        wire={str(names[name]): value for name, value in sent.items()},
        left_out=tuple(name for name in stated if name not in sent),
    )


def parameter_rejected(words: str, parameters: Parameters) -> str | None:
    """Return the parameter that this model does not support according to the provider's error, or None.

    Newer models reject a temperature or a seed, and which ones do changes by the month. So we ask them instead of
    keeping a list. Values out of range are for the caller to fix and are never omitted.
    """
    error = words.lower()
    if not _REJECTION.search(error):
        return None
    wires = dict(zip(parameters.asked, parameters.wire, strict=True))
    found = (name for name in _CAN_BE_LEFT_OUT if name in wires and re.search(rf"\b{wires[name]}\b", error))
    return next(found, None)


STREAM, STREAM_OPTIONS = "stream", "stream_options"


def streaming(left_out: AbstractSet[str]) -> dict[str, bool]:
    """Return the parameter that requests streaming, unless the server does not support it."""
    return {} if STREAM in left_out else {STREAM: True}


def streaming_rejected(words: str, left_out: AbstractSet[str]) -> str | None:
    """Return the streaming parameter that the provider's error rejects, or None: usage at the end, or streaming."""
    if STREAM in left_out:
        return None
    if STREAM_OPTIONS not in left_out and re.search(r"stream_options|include_usage", words):
        return STREAM_OPTIONS
    return STREAM if re.search(r"\bstream(ed|ing)?\b", words.lower()) else None
