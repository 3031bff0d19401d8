"""Which of the parameters asked for are sent, under which names, and which a model does not take. Pure."""

import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from timemachine.llm.pure.completion import ModelRequest

# Only what shapes the sampling may be left out: an answer without its limit would be another, dearer request.
_CAN_BE_LEFT_OUT = ("temperature", "seed")
_NOT_TAKEN = re.compile(
    r"deprecated|unsupported|not supported|not support|not permitted|not allowed|unknown|unrecognized|unexpected"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """`asked` and sent under our names, `wire` the same under the provider's, and the names of those left out."""

    asked: Mapping[str, float | int]
    wire: Mapping[str, float | int]
    left_out: tuple[str, ...]


def parameters_for(request: ModelRequest, left_out: AbstractSet[str] = frozenset()) -> Parameters:
    """What to send: all that the request states, but what is left out and what the provider has no name for."""
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


def parameter_not_taken(words: str, parameters: Parameters) -> str | None:
    """The parameter that a provider's words say this model does not take, or None.

    Newer models refuse a temperature or a seed outright, and which do changes by the month; so they are asked, not listed.
    A value that is out of range is the caller's to mend and never left out.
    """
    said = words.lower()
    if not _NOT_TAKEN.search(said):
        return None
    wires = dict(zip(parameters.asked, parameters.wire, strict=True))
    found = (name for name in _CAN_BE_LEFT_OUT if name in wires and re.search(rf"\b{wires[name]}\b", said))
    return next(found, None)


STREAM, STREAM_OPTIONS = "stream", "stream_options"


def streaming(left_out: AbstractSet[str]) -> dict[str, bool]:
    """What asks for a streamed answer, as far as the server takes that."""
    return {} if STREAM in left_out else {STREAM: True}


def streaming_not_taken(words: str, left_out: AbstractSet[str]) -> str | None:
    """What of streaming a provider's words say that it refuses, or None: its usage at the end, or streaming itself."""
    if STREAM in left_out:
        return None
    if STREAM_OPTIONS not in left_out and re.search(r"stream_options|include_usage", words):
        return STREAM_OPTIONS
    return STREAM if re.search(r"\bstream(ed|ing)?\b", words.lower()) else None
