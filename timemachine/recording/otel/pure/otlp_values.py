"""The values of OTLP in both encodings, which spans and log records share: attributes, scopes and fields of JSON objects."""

import base64
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue

from timemachine.core.pure.json_types import JsonObject


def _number(found: float) -> Any:
    """Infinities and NaN, which JSON does not have, are stored by name."""
    return found if math.isfinite(found) else str(found)


def _typed(*kinds: type) -> Callable[[Any], Any]:
    """Return a reader for values of these types. None stays None; other types raise `TypeError`."""

    def read(found: Any) -> Any:
        if found is not None and type(found) not in kinds:
            raise TypeError(f"an attribute value is {type(found).__name__}")
        return found

    return read


def _whole_number(found: Any) -> int | None:
    """JSON writes 64-bit numbers as text or as number."""
    read = _typed(int, str)(found)
    return None if read is None else int(read)


def _double(found: Any) -> Any:
    read = _typed(int, float, str)(found)
    return None if read is None else _number(float(read))


_SCALARS: Final[dict[str, Callable[[Any], Any]]] = {
    "stringValue": _typed(str),
    "boolValue": _typed(bool),
    "intValue": _whole_number,
    "doubleValue": _double,
    "bytesValue": _typed(str),
}


def attributes_of(pairs: Iterable[KeyValue]) -> JsonObject:
    """Return attributes of a protobuf message by name."""
    return {pair.key: value_of(pair.value) for pair in pairs}


def value_of(value: AnyValue) -> Any:
    """Return a value of a protobuf message as JSON, bytes as base64."""
    kind = value.WhichOneof("value")
    if kind is None:
        return None
    found = getattr(value, kind)
    if kind == "array_value":
        return [value_of(each) for each in found.values]
    if kind == "kvlist_value":
        return attributes_of(found.values)
    if kind == "bytes_value":
        return base64.b64encode(found).decode()
    if kind == "double_value":
        return _number(found)
    return found


def json_attributes(owner: JsonObject) -> JsonObject:
    """Return the attributes of a JSON object by name. Raises `TypeError` or `ValueError` for a value of another type."""
    return {text_at(pair, "key"): json_value(pair.get("value")) for pair in objects_at(owner, "attributes")}


def json_value(value: Any) -> Any:
    """Return a value of OTLP in JSON without its wrapper. Raises `TypeError` or `ValueError` if it has another type."""
    if not isinstance(value, dict):
        return None
    if "arrayValue" in value:
        return [json_value(each) for each in objects_at(value["arrayValue"], "values")]
    if "kvlistValue" in value:
        pairs = objects_at(value["kvlistValue"], "values")
        return {text_at(pair, "key"): json_value(pair.get("value")) for pair in pairs}
    return next((read(value[name]) for name, read in _SCALARS.items() if name in value), None)


def scope_of(name: str, version: str, attributes: JsonObject) -> JsonObject:
    """Return what is known of an instrumentation scope."""
    fields = {"name": name, "version": version, "attributes": attributes}
    return {key: value for key, value in fields.items() if value}


def object_at(owner: JsonObject, name: str) -> JsonObject:
    """Return the object in this field, else an empty one."""
    found = owner.get(name)
    return found if isinstance(found, dict) else {}


def objects_at(owner: Any, name: str) -> Sequence[JsonObject]:
    """Return the objects of the list in this field."""
    found = owner.get(name) if isinstance(owner, dict) else None
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def text_at(owner: JsonObject, name: str) -> str:
    """Return the text in this field, else an empty one."""
    found = owner.get(name)
    return found if isinstance(found, str) else ""


def whole_at(owner: JsonObject, name: str) -> int:
    """Return the whole number in this field, 0 if it has none. Raises `ValueError` or `TypeError` for anything else."""
    return int(owner.get(name) or 0)
