"""Rows of a model by a statement that is written once and prepared: for Django's `raw` to work out columns and converters takes as long as the query."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from django.db import connection, models

from timemachine.retrieval import prepared

type Read = Callable[[Any], Any]


def columns(model: type[models.Model]) -> str:
    """The columns of a model as they stand behind SELECT, in the order in which `rows_of` reads them."""
    return ", ".join(connection.ops.quote_name(str(field.column)) for field in model._meta.concrete_fields)


def rows_of[Row: models.Model](model: type[Row], sql: str, facts: Mapping[str, Any]) -> Iterator[Row]:
    """The rows that a statement returns with the `columns` of the model. One query."""
    names, readers = _plan(model)
    for row in prepared.rows(sql, facts):
        values = list(row)
        for at, read in readers:
            values[at] = read(values[at])
        yield model.from_db(connection.alias, names, values)


@cache
def _plan(model: type[models.Model]) -> tuple[list[str], list[tuple[int, Read]]]:
    """The names of a model's attributes, and what reads the columns that are not their values as they are."""
    fields = model._meta.concrete_fields
    readers = [(at, read) for at, field in enumerate(fields) if (read := _reader(field))]
    return [field.attname for field in fields], readers


def _reader(field: models.Field[Any, Any]) -> Read | None:
    column = field.get_col(field.model._meta.db_table)
    converters = [*connection.ops.get_db_converters(column), *field.get_db_converters(connection)]
    if not converters:
        return None

    def read(value: Any) -> Any:
        for convert in converters:
            value = convert(value, column, connection)
        return value

    return read
