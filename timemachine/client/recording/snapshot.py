"""A caller's value as it was at one moment, and what of it is written.

`frozen` runs on the caller's thread and is one pass of C over the value: what is changed afterwards changes no record. `written` runs on
the recorder's thread and makes of it what JSON and the server take. Nothing is left out: what has no form in JSON is written in
another one, which is told here.

    dataclass, pydantic model, named tuple, mapping  →  object          set, deque, generator's list, numpy array  →  list
    date, time, path, UUID, Decimal                  →  text            enum  →  its value            exception  →  {type, message}
    NaN and infinities  →  "nan", "inf", "-inf"      bytes  →  {"base64": …}      deeper than 56 levels, anything else  →  its repr
"""

import base64
import dataclasses
import datetime as dt
import decimal
import enum
import io
import math
import pathlib
import pickle
import uuid
from collections import deque
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Final

DEEPEST: Final = 56
"""Levels of lists and objects; the server takes 64, and an action stands some levels deep in its request."""
_LONGEST_INTEGER: Final = 14_000  # bits: Python writes no integer of more than 4,300 digits
_AS_TEXT: Final = (pathlib.PurePath, uuid.UUID, decimal.Decimal)
_MOMENTS: Final = (dt.date, dt.time)


class Frozen:
    """A value that was frozen before the one that it is in."""

    __slots__ = ("data",)

    def __init__(self, value: Any) -> None:
        self.data = frozen(value)


def frozen(value: Any) -> bytes:
    """The value as it is now. Never raises: what cannot be kept is kept as its `repr`."""
    try:
        return _frozen(value)
    except Exception:  # noqa: BLE001  # it changed meanwhile, holds itself, or its own code raises
        return pickle.dumps(_textual(value), 5)


def thawed(data: bytes) -> Any:
    """The value that was frozen."""
    return pickle.loads(data)  # noqa: S301  # made by `frozen` in this very process, of plain values alone


def plain(value: Any) -> Any:
    """The value as JSON has it, now. Never raises, as `frozen`."""
    return written(thawed(frozen(value)))


def written(value: Any, level: int = 0) -> Any:
    """The value as JSON has it."""
    kind = type(value)
    if kind is str or value is None or kind is bool:
        return value
    if kind in _SINGLE:
        return _SINGLE[kind](value)
    if level >= DEEPEST:
        return said(value)
    if type(value) is dict:
        return _object(value, level + 1)
    if isinstance(value, set | frozenset):
        value = sorted(value, key=said)
    return [written(each, level + 1) for each in value]


def _integer(value: int) -> Any:
    return value if value.bit_length() < _LONGEST_INTEGER else hex(value)


def _number(value: float) -> Any:
    return value if math.isfinite(value) else repr(value)


def _bytes(value: bytes) -> Any:
    return {"base64": base64.b64encode(value).decode("ascii")}


_SINGLE: Final[dict[type, Callable[[Any], Any]]] = {
    int: _integer,
    float: _number,
    bytes: _bytes,
    bytearray: _bytes,
    complex: str,
}


def said(value: Any) -> str:
    """What a value says of itself; its type alone where that raises."""
    try:
        return repr(value)
    except Exception:  # noqa: BLE001  # anybody's own code
        return f"<{type(value).__name__}>"


class _Freezer(pickle.Pickler):
    """Plain values are written by C; everything else comes by here, and leaves as a plain value."""

    def reducer_override(self, value: Any) -> Any:
        if value is _same or value is thawed:
            return NotImplemented
        if type(value) is Frozen:
            return thawed, (value.data,)
        return _same, (_plain(value),)


def _same(value: Any) -> Any:
    return value


def _frozen(value: Any) -> bytes:
    target = io.BytesIO()
    _Freezer(target, 5).dump(value)
    return target.getvalue()


def _textual(value: Any) -> Any:
    if type(value) is not dict:
        return said(value)
    kept = {}
    for name, each in list(value.items()):
        try:
            _frozen(each)
            kept[name if type(name) is str else said(name)] = each
        except Exception:  # noqa: BLE001  # as above, and the rest of the action stays what it is
            kept[name if type(name) is str else said(name)] = said(each)
    return kept


def _plain(value: Any) -> Any:
    """A value of another type as one of the plain types, one level of it."""
    try:
        for fits, made in _FORMS:
            if fits(value):
                return made(value)
    except Exception:  # noqa: BLE001  # anybody's own code
        return said(value)
    return said(value)


def _fields(value: Any) -> dict[str, Any]:
    return {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}


def _failure(value: BaseException) -> dict[str, str]:
    return {"type": type(value).__name__, "message": str(value)}


def _of(*types: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, types)


def _has(name: str) -> Callable[[Any], bool]:
    return lambda value: not isinstance(value, type) and callable(getattr(value, name, None))


# the first that fits; a class, a function or a module fits none and says its repr
_FORMS: Final[tuple[tuple[Callable[[Any], bool], Callable[[Any], Any]], ...]] = (
    (_of(type), said),
    (_of(enum.Enum), lambda value: value.value),
    (_of(str), str.__str__),
    (_of(bool), bool),
    (_of(int), int.__int__),
    (_of(float), float.__float__),
    (_of(*_MOMENTS), lambda value: value.isoformat()),
    (_of(*_AS_TEXT), str),
    (_of(BaseException), _failure),
    (_has("model_dump"), lambda value: value.model_dump()),
    (dataclasses.is_dataclass, _fields),
    (_has("_asdict"), lambda value: dict(value._asdict())),
    (_of(Mapping), dict),
    (_of(list, tuple, deque, AbstractSet), list),
    (_of(bytes, bytearray, memoryview), bytes),
    (_has("tolist"), lambda value: value.tolist()),
)


def _object(value: dict[Any, Any], level: int) -> Any:
    names = [each if type(each) is str else _name(each) for each in value]
    if len(set(names)) < len(names):  # 1 and "1": as one object they would be one
        return [[written(name, level + 1), written(each, level + 1)] for name, each in value.items()]
    return {name: written(each, level) for name, each in zip(names, value.values(), strict=True)}


def _name(key: Any) -> str:
    return key if isinstance(key, str) else said(key)
