"""The base classes of all schemas of the HTTP API.

A schema is the type of a resource everywhere: what an operation returns, what the OpenAPI document describes, and
what clients are generated from. It is in the `schemas.py` of its domain, next to the function that builds it.
"""

from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from typing import Any, ClassVar, Final, Self, cast, get_args
from uuid import UUID

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler
from pydantic_core import CoreSchema

from timemachine.core.pure.clock import written


def _schema_in(annotation: Any) -> type["Schema"] | None:
    """Return the first schema in a type such as `list[X]` or `X | None`."""
    if isinstance(annotation, type) and issubclass(annotation, Schema):
        return annotation
    return next(filter(None, map(_schema_in, get_args(annotation))), None)


class Schema(BaseModel):
    """A resource as the API returns it, with these fields and no others.

    Build responses with `model_construct`: stored data needs no second check, and recorded text may contain a lone
    surrogate, which validation refuses. Mypy checks the fields; the API's tests validate every response against its
    schema. A field with a default is absent from the JSON unless it is given.
    """

    model_config = ConfigDict(extra="forbid", ser_json_inf_nan="constants")
    _defaults: ClassVar[dict[str, Any]] = {}
    _nested: ClassVar[dict[str, type["Schema"]]] = {}
    _aliases: ClassVar[dict[str, str]] = {}
    _required: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def from_attributes(cls, source: Any, /, **given: Any) -> Self:
        """Build the resource from the attributes of an object that have the names of the fields.

        Values that are given are used instead of attributes; a field with a default must be given. Times and ids become
        text, decimals numbers, tuples lists, and objects are built by the schema of the field. Stored JSON stays as it
        is. Raises `AttributeError` if the object does not have an attribute.
        """
        values = {name: given[name] if name in given else getattr(source, name) for name in cls._required}
        values |= given
        for name, value in values.items():
            if type(value) not in _PLAIN:  # most values are, and a page has thousands
                values[name] = _from_value(value, cls._nested.get(name))
        return cast("Self", cls.model_construct(**values))

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        """Store which fields have a default, contain other schemas, or have another name in JSON."""
        fields = cls.__pydantic_fields__.items()
        cls._defaults = {name: field.default for name, field in fields if not field.is_required()}
        cls._nested = {
            name: schema for name, field in fields if (schema := _schema_in(field.annotation)) is not None
        }
        cls._aliases = {name: field.alias for name, field in fields if field.alias}
        cls._required = tuple(name for name, field in fields if field.is_required())

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Describe a field with the default None as one that is absent or has a value, but is never null."""
        document = handler(core_schema)
        fields = handler.resolve_ref_schema(document).get("properties", {})
        for name in (name for name, default in cls._defaults.items() if default is None):
            field = fields.get(cls._aliases.get(name, name), fields.get(name, {}))
            field.pop("default", None)
            kinds = [each for each in field.pop("anyOf", ()) if each != {"type": "null"}]
            field.update(kinds[0] if len(kinds) == 1 else {"anyOf": kinds} if kinds else {})
        return document

    @classmethod
    def model_construct(cls, _fields_set: set[str] | None = None, **values: Any) -> Self:  # type: ignore[override]  # Pydantic's plugin has its own signature
        """Build the resource from these values without checking them.

        Pydantic's own method takes several times as long, and a page has hundreds of resources.
        """
        made = cls.__new__(cls)
        put = object.__setattr__
        put(made, "__pydantic_fields_set__", set(values) if _fields_set is None else _fields_set)
        put(made, "__pydantic_extra__", None)
        put(made, "__pydantic_private__", None)
        for name, default in cls._defaults.items():
            values.setdefault(name, default)
        put(made, "__dict__", values)
        return made

    def model_dump(self, **_: Any) -> dict[str, Any]:
        """Return the fields that were given, as JSON values.

        Recorded values are not copied. Pydantic's own method copies them, which takes as long as writing them.
        """
        found = self.__dict__.copy()
        for name in self._defaults:
            if name not in self.__pydantic_fields_set__:
                del found[name]
        for name in self._nested:
            if name in found:
                found[name] = _plain(found[name])
        return (
            {self._aliases.get(name, name): each for name, each in found.items()} if self._aliases else found
        )


class Page[Item](Schema):
    """One page of a list. `next` is the `after` of the next page, null on the last one."""

    items: list[Item]
    next: str | None


class Strict(BaseModel):
    """The base of request bodies: no unknown fields, no NaN."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, Schema):
        return value.model_dump()
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value


_PLAIN: Final = frozenset({str, int, float, bool, dict, type(None)})
_AS_JSON: Final[dict[type, Callable[[Any], Any]]] = {
    datetime: written,
    date: date.isoformat,
    UUID: str,
    Decimal: float,
}


def _from_value(value: Any, schema: type[Schema] | None) -> Any:
    if isinstance(value, list | tuple):
        return [_from_value(each, schema) for each in value]
    if schema is None or value is None or isinstance(value, Schema | dict):
        convert = _AS_JSON.get(type(value))
        return value if convert is None else convert(value)
    return schema.from_attributes(value)
