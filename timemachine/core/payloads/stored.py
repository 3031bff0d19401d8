"""Turn stored payloads into the bytes that were recorded, the only place that does.

A query sends what is stored as one value, so that no reader can forget how it is stored: a byte that says whether it is
packed, if so its size in 8 bytes, and the stored bytes.
"""

from typing import Any, Final

from django.db.models import BinaryField, F, Func
from django.db.models.sql.compiler import SQLCompiler

from timemachine.core.pure.errors import DamagedContent
from timemachine.core.pure.packing import Damaged, pack, packed_length, unpack, unpack_first

NOTE: Final = b"The stored bytes are damaged and cannot be read."
"""What is shown in place of the beginning of a damaged payload."""
_START: Final = 9


def to_store(data: bytes) -> tuple[bytes, bool]:
    """Return the bytes as they are stored, and whether they are packed."""
    packed = pack(data)
    return (data, False) if packed is None else (packed, True)


def unpacked(stored: bytes | memoryview, size: int, *, packed: bool) -> bytes:
    """Return the recorded bytes of a row. Raises `DamagedContent`."""
    try:
        return unpack(stored, size) if packed else bytes(stored)
    except Damaged as why:
        raise DamagedContent(size) from why


def sent_sql(payload: str, first: str = "", packed_first: str = "") -> str:
    """Return the SQL of what `received` reads: of the payload in this row, or NULL without one.

    `first` and `packed_first` are the SQL of how many bytes are needed at most, and of their `packed_length`.
    """
    return columns_sql(f"{payload}.packed", f"{payload}.size", f"{payload}.data", first, packed_first)


def columns_sql(packed: str, size: str, data: str, first: str = "", packed_first: str = "") -> str:
    """Return the same for a payload whose columns have other names."""
    plain, shorter = (f"substring({data} FOR {each})" if each else data for each in (first, packed_first))
    return rf"CASE WHEN {packed} THEN '\x01'::bytea || int8send({size}) || {shorter} ELSE '\x00'::bytea || {plain} END"


def received(sent: bytes | memoryview, first: int | None = None) -> bytes:
    """Return the recorded bytes, or the `first` ones if the query asked for those. Raises `DamagedContent`."""
    if not sent[0]:
        return bytes(sent[1:])
    size = int.from_bytes(sent[1:_START])
    try:
        if first is None or first >= size:
            return unpack(sent[_START:], size)
        return unpack_first(sent[_START:], first)
    except Damaged as why:
        raise DamagedContent(size) from why


def shown(sent: bytes | memoryview, first: int) -> bytes:
    """Return the first bytes for people, and of damaged ones a note: a list must not fail because of one of its rows."""
    try:
        return received(sent, first)
    except DamagedContent:
        return NOTE


def bytes_of(payload: str = "", first: int | None = None) -> Func:
    """Return the recorded bytes as an expression: of the rows themselves, or of the payload that this foreign key names."""
    return _Sent(payload, first, _Received(first))


def shown_of(first: int) -> Func:
    """Return the first bytes of the rows themselves as `shown` does."""
    return _Sent("", first, _Shown(first))


class _Sent(Func):
    """The value that `sent_sql` describes."""

    def __init__(self, payload: str, first: int | None, output_field: "_Received") -> None:
        names = (f"{payload}__{name}" if payload else name for name in ("packed", "size", "stored"))
        self._first = first
        super().__init__(*(F(name) for name in names), output_field=output_field)

    def as_sql(self, compiler: SQLCompiler, *_: Any, **__: Any) -> tuple[str, tuple[str | int, ...]]:
        packed, size, data = (compiler.compile(each)[0] for each in self.get_source_expressions())
        if self._first is None:
            return columns_sql(packed, size, data), ()
        return columns_sql(packed, size, data, str(self._first), str(packed_length(self._first))), ()


class _Received(BinaryField[Any, Any]):
    """Bytes that are read with `received`."""

    def __init__(self, first: int | None) -> None:
        super().__init__()
        self._bytes_read = first

    def from_db_value(self, value: Any, *_: Any) -> bytes | None:
        return None if value is None else received(value, self._bytes_read)


class _Shown(_Received):
    """Bytes that are read with `shown`."""

    def from_db_value(self, value: Any, *_: Any) -> bytes | None:
        return None if value is None or self._bytes_read is None else shown(value, self._bytes_read)
