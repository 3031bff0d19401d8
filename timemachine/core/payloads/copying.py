"""Insert many rows of one table with `COPY`, which takes a fifth of the time of `bulk_create` for rows with many
columns.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import connection, models
from psycopg.sql import SQL, Identifier

from timemachine.core.payloads.fields import FaithfulTextField

type Prepare = Callable[[Any], Any]


def copy_rows(model: type[models.Model], rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows of a model in their order. Each has a value for every column without a database default. Returns no
    ids.
    """
    if not rows:
        return
    into, plan = _plan(model)
    with connection.cursor() as cursor, cursor.copy(into) as copying:
        for row in rows:
            copying.write_row(
                [
                    row[name] if prepare is None or row[name] is None else prepare(row[name])
                    for name, prepare in plan
                ]
            )


@cache
def _plan(model: type[models.Model]) -> tuple[bytes, list[tuple[str, Prepare | None]]]:
    """Return the statement, and for each column its name and the function that prepares its values, if any."""
    meta = model._meta
    fields = [field for field in meta.concrete_fields if not (field.primary_key or field.generated)]
    columns = SQL(", ").join([Identifier(str(field.column)) for field in fields])
    into = SQL("COPY {} ({}) FROM STDIN").format(Identifier(meta.db_table), columns)
    return into.as_bytes(), [(field.attname, _preparation(field)) for field in fields]


def _preparation(field: models.Field[Any, Any]) -> Prepare | None:
    if isinstance(field, FaithfulTextField):
        return field.get_prep_value
    if isinstance(field, models.JSONField | ArrayField):
        return lambda value: field.get_db_prep_save(value, connection)
    return None
