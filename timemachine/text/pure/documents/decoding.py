"""The bytes of a text file as text: UTF-8, or UTF-16 with a byte order mark."""

from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, register_error
from typing import Any, Final

from timemachine.core.pure.errors import InvalidInput
from timemachine.text.pure.documents.binary import binary_kind

_MARKS: Final = ((BOM_UTF8, "utf-8"), (BOM_UTF16_LE, "utf-16-le"), (BOM_UTF16_BE, "utf-16-be"))
_CONTROLS: Final = "timemachine.controls"
_WITH_CONTROLS: Final = (
    "cp1252",
    "cp1254",
)  # of every byte that these leave open a browser makes a control character


def _as_controls(why: Any) -> tuple[str, int]:
    return why.object[why.start : why.end].decode("latin-1"), why.end


register_error(_CONTROLS, _as_controls)


def decoded(data: bytes, *, otherwise: str = "utf-8") -> str:
    """The text without its byte order mark; `otherwise` is the encoding of a file that has none.

    Raises `InvalidInput` where the bytes are not text: they cannot be decoded, or hold U+0000.
    """
    mark, encoding = next((each for each in _MARKS if data.startswith(each[0])), (b"", otherwise))
    try:
        text = data.removeprefix(mark).decode(encoding, _CONTROLS if encoding in _WITH_CONTROLS else "strict")
    except UnicodeDecodeError as why:
        place = why.start + len(mark) + 1
        _refuse_binary(data)
        raise InvalidInput(
            f"Byte {place:,} is not {encoding.upper()} text; save the file as UTF-8 and send it again.",
            code="not_text",
            byte=place,
        ) from why
    if "\x00" in text:
        _refuse_binary(data)
        raise InvalidInput(
            "This is not a text: it holds NUL bytes. Send text, Markdown, HTML, PDF or JSONL.",
            code="not_text",
        )
    return text


def _refuse_binary(data: bytes) -> None:
    kind = binary_kind(data)
    if kind is not None:
        raise InvalidInput(
            f"This is {kind}, not a text. Send text, Markdown, HTML, PDF or JSONL.", code="not_text"
        )
