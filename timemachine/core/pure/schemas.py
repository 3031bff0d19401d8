"""The bases of every schema of the HTTP API.

A schema is the type of a resource everywhere: what an operation returns, what the OpenAPI document says, and what clients are generated
from. It lives in the `schemas.py` of its domain, beside the function that builds it.
"""

from typing import Any, Self

from pydantic import BaseModel, ConfigDict


class Schema(BaseModel):
    """A resource as the API returns it, with these fields and no others.

    Build responses with `model_construct`: what the database holds needs no second check, and a recorded text may hold half a
    surrogate pair, which validation refuses. Mypy checks the fields; the API's tests validate every response against its schema.
    A field with a default is absent from the JSON unless it is given.
    """

    model_config = ConfigDict(extra="forbid", ser_json_inf_nan="constants")

    @classmethod
    def model_construct(cls, _fields_set: set[str] | None = None, **values: Any) -> Self:  # type: ignore[override]  # Pydantic's plugin has its own
        """The resource with these values, which nobody checks. Pydantic's own takes four times as long: a transcript has 10,000 turns."""
        given = set(values) if _fields_set is None else _fields_set
        fields = cls.__pydantic_fields__
        if len(values) < len(fields):
            absent = {name: each for name, each in fields.items() if name not in values}
            values |= {name: each.get_default() for name, each in absent.items() if not each.is_required()}
        made = cls.__new__(cls)
        for name, value in (
            ("__dict__", values),
            ("__pydantic_fields_set__", given),
            ("__pydantic_extra__", None),
            ("__pydantic_private__", None),
        ):
            object.__setattr__(made, name, value)
        return made

    def model_dump(self, **_: Any) -> dict[str, Any]:
        """The fields that were given, as JSON values.

        Recorded values are the same objects: Pydantic's own would copy them, which takes as long as to write them.
        """
        given = self.__pydantic_fields_set__
        return {name: _plain(value) for name, value in self.__dict__.items() if name in given}


class Page[Item](Schema):
    """A part of a list. `next` is the `after` of the next page, null on the last one."""

    items: list[Item]
    next: str | None


class Strict(BaseModel):
    """What a client sends: no unknown fields, no NaN."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, Schema):
        return value.model_dump()
    if isinstance(value, list) and value and isinstance(value[0], Schema):
        return [each.model_dump() for each in value]
    return value
