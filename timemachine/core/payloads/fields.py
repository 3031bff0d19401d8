"""Model fields for hashes, and for any text: what PostgreSQL cannot store is encoded by `core.pure.postgres_text`, and decoded when
read.
"""

from typing import Any, TypeVar

from django.db import models

from timemachine.core.pure.postgres_text import ESCAPE, original, original_json, storable, storable_json

_ST = TypeVar(
    "_ST", contravariant=True
)  # django-stubs recognizes these names and makes a nullable field's type optional
_GT = TypeVar("_GT", covariant=True)


class FaithfulTextField(models.TextField[_ST, _GT]):
    """A text column that preserves every character, including U+0000 and lone surrogates."""

    def get_prep_value(self, value: Any) -> Any:
        prepared = super().get_prep_value(value)
        return storable(prepared) if isinstance(prepared, str) else prepared

    def from_db_value(self, value: str | None, *_: Any) -> str | None:
        return original(value) if isinstance(value, str) else value


class Sha256Field(models.BinaryField[_ST, _GT]):
    """A hash: 32 bytes in the database, 64 lower-case hexadecimal digits in Python. Other text equals no hash."""

    def get_prep_value(self, value: Any) -> Any:
        prepared = super().get_prep_value(value)
        return hash_bytes(prepared) if isinstance(prepared, str) else prepared

    def from_db_value(self, value: bytes | memoryview | None, *_: Any) -> str | None:
        return None if value is None else value.hex()


def hash_bytes(sha256: str) -> bytes:
    """Return the bytes of a hash in hexadecimal digits; of other text no bytes."""
    try:
        return bytes.fromhex(sha256)
    except ValueError:
        return b""


class FaithfulJSONField(models.JSONField[_ST, _GT]):
    """A jsonb column that preserves every character of its strings."""

    def get_prep_value(self, value: Any) -> Any:
        return storable_json(super().get_prep_value(value))

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        found = super().from_db_value(value, expression, connection)
        return original_json(found) if not isinstance(value, str) or ESCAPE in value else found
