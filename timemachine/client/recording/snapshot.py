"""Copies of a caller's values, and their JSON form.

`frozen` runs on the caller's thread in one pass of C, so later changes of the value do not change the record. `written` runs on the
recorder's thread and converts the copy for JSON. Nothing is left out; values without a JSON form are converted:

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

from timemachine.core.pure.json_types import JsonObject

DEEPEST: Final = 56
"""Levels of lists and objects; the server accepts 64, including those of the request around an action."""
_LONGEST_INTEGER: Final = 14_000  # bits: Python writes no integer of more than 4,300 digits
_AS_TEXT: Final = (pathlib.PurePath, uuid.UUID, decimal.Decimal)
_MOMENTS: Final = (dt.date, dt.time)


class Frozen:
    """A value that was frozen earlier than the value it is part of."""

    __slots__ = ("data",)

    def __init__(self, value: Any) -> None:
        self.data = frozen(value)


def frozen(value: Any) -> bytes:
    """A copy of the value. Never raises: what cannot be copied becomes its `repr`."""
    try:
        return _frozen(value)
    except Exception:  # noqa: BLE001  # it is being changed, contains itself, or its own code raises
        return pickle.dumps(_textual(value), 5)


def thawed(data: bytes) -> Any:
    """The value that was frozen."""
    return pickle.loads(data)  # noqa: S301  # made by `frozen` in this process, from plain values only


def plain(value: Any) -> Any:
    """The value in its JSON form. Never raises, like `frozen`."""
    return written(thawed(frozen(value)))


def written(value: Any, level: int = 0) -> Any:
    """The JSON form of a thawed value."""
    kind = type(value)
    if kind is str or value is None or kind is bool:
        return value
    if kind in _SINGLE:
        return _SINGLE[kind](value)
    if level >= DEEPEST:
        return safe_repr(value)
    if type(value) is dict:
        return _object(value, level + 1)
    if isinstance(value, set | frozenset):
        value = sorted(value, key=safe_repr)
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


def safe_repr(value: Any) -> str:
    """The `repr` of a value, or its type if that raises."""
    try:
        return repr(value)
    except Exception:  # noqa: BLE001  # code of the application
        return f"<{type(value).__name__}>"


class _Freezer(pickle.Pickler):
    """Plain values are pickled by C; everything else is converted to a plain value here."""

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
        return safe_repr(value)
    copied = {}
    for name, each in list(value.items()):
        try:
            _frozen(each)
            copied[name if type(name) is str else safe_repr(name)] = each
        except Exception:  # noqa: BLE001  # as above; the other fields of the action stay
            copied[name if type(name) is str else safe_repr(name)] = safe_repr(each)
    return copied


def _plain(value: Any) -> Any:
    """One level of a value of another type as a plain type."""
    try:
        for fits, made in _FORMS:
            if fits(value):
                return made(value)
    except Exception:  # noqa: BLE001  # code of the application
        return safe_repr(value)
    return safe_repr(value)


def _fields(value: Any) -> JsonObject:
    return {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}


def _failure(value: BaseException) -> dict[str, str]:
    return {"type": type(value).__name__, "message": str(value)}


def _of(*types: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, types)


def _has(name: str) -> Callable[[Any], bool]:
    return lambda value: not isinstance(value, type) and callable(getattr(value, name, None))


# the first match applies; classes, functions and modules match none and become their repr
_FORMS: Final[tuple[tuple[Callable[[Any], bool], Callable[[Any], Any]], ...]] = (
    (_of(type), safe_repr),
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
    if len(set(names)) < len(names):  # 1 and "1" would be the same key
        return [[written(name, level + 1), written(each, level + 1)] for name, each in value.items()]
    return {name: written(each, level) for name, each in zip(names, value.values(), strict=True)}


def _name(key: Any) -> str:
    return key if isinstance(key, str) else safe_repr(key)
