"""How a file ends that could not be written to its end, where a server can only end an answer as if it were whole. Pure."""

from collections.abc import Iterator
from typing import Final

CUT_OFF: Final = b'\n{"cut off": "It could not be written to its end; ask for it again."'
"""No JSON, no line of it and no archive is whole with this behind it."""


def told_where_cut_off(parts: Iterator[bytes]) -> Iterator[bytes]:
    """The parts; where one cannot be made, `CUT_OFF` instead of it, and then what it raised."""
    try:
        yield from parts
    except Exception:
        yield CUT_OFF
        raise
