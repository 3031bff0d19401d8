"""Write and read sample files in the imported formats."""

import io
import json
import zipfile
from typing import Any

from timemachine.recording.importing.pure.registry import FORMATS, choose_format
from timemachine.recording.importing.pure.report import ParsedFile


def lines(*records: Any) -> bytes:
    """A file of JSON lines."""
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def read(data: bytes, format_name: str | None = None, filename: str | None = None) -> ParsedFile:
    """The sessions of a file in the given or the detected format."""
    return FORMATS[choose_format(format_name, data, filename)].read(data)


def document(value: Any) -> bytes:
    """A file with a single JSON document."""
    return json.dumps(value, indent=1).encode()


def codex_line(kind: str, second: int = 0, /, **payload: Any) -> dict[str, Any]:
    """A Codex line."""
    return {"timestamp": f"2026-03-01T10:00:{second:02}.000Z", "type": kind, "payload": payload}


def archive(members: dict[str, Any]) -> bytes:
    """A ZIP archive of these members: bytes are stored unchanged, all else as JSON."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as made:
        for name, value in members.items():
            made.writestr(
                zipfile.ZipInfo(name, (2026, 3, 1, 10, 0, 0)),
                value if isinstance(value, bytes) else json.dumps(value),
            )
    return held.getvalue()
