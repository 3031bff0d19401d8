"""A ZIP of `events.jsonl`, `snapshots.json` (the checkpoints, numbered from 1) and `metadata.json`. The same session
gives the same bytes.

An event has the names that such recordings use, and the complete action under `action`.
"""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from tempfile import SpooledTemporaryFile
from typing import IO, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.importing.pure.exports import Exported, line_of

NAME: Final = "zip"
TITLE: Final = "ZIP of events.jsonl, snapshots.json and metadata.json"
ENDING: Final = ".zip"
MEDIA_TYPE: Final = "application/zip"
_IN_MEMORY: Final = 1024 * 1024
_EARLIEST_DATE: Final = (1980, 1, 1, 0, 0, 0)
_READABLE: Final = 0o644 << 16
_EVENT_TYPES: Final = {"tool_call": "tool.call", "tool_result": "tool.result"}


class _Sink:
    """A write-only file whose content is taken out part by part."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> int:
        """Append bytes."""
        self._parts.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Do nothing; bytes are not buffered."""

    def take(self) -> bytes:
        """Return the bytes written since the last call."""
        parts, self._parts = self._parts, []
        return b"".join(parts)


def parts(session: Exported) -> Iterator[bytes]:
    """Yield the archive. Checkpoints are only in the snapshots, not among the events."""
    sink, numbers = _Sink(), count(1)
    with SpooledTemporaryFile(max_size=_IN_MEMORY) as snapshots:
        with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:  # type: ignore[call-overload]  # it is only written to
            snapshots.write(b"[")
            with _member(archive, "events.jsonl") as events:
                for step in session.steps:
                    if step.action["kind"] == "checkpoint":
                        snapshots.write(b",\n" if snapshots.tell() > 1 else b"\n")
                        snapshots.write(line_of(_snapshot(next(numbers), step.action)))
                    else:
                        events.write(line_of(_event(step.action)) + b"\n")
                    yield sink.take()
            snapshots.write(b"\n]\n")
            snapshots.seek(0)
            with _member(archive, "snapshots.json") as member:
                while part := snapshots.read(_IN_MEMORY):
                    member.write(part)
                    yield sink.take()
            with _member(archive, "metadata.json") as member:
                member.write(line_of({"session_id": session.about["key"], **session.about}) + b"\n")
        yield sink.take()


@contextmanager
def _member(archive: zipfile.ZipFile, name: str) -> Iterator[IO[bytes]]:
    about = zipfile.ZipInfo(name, _EARLIEST_DATE)
    about.compress_type = zipfile.ZIP_DEFLATED
    about.external_attr = _READABLE
    about.create_system = 3
    with archive.open(about, "w", force_zip64=True) as opened:
        yield opened


def _event(action: JsonObject) -> JsonObject:
    kind = action["kind"]
    if kind == "message":
        data = {"role": action["role"], "content": action["output"]}
    else:
        data = {name: action[name] for name in ("tool", "call_id", "name", "input", "output")}
    return {
        "event_type": _EVENT_TYPES.get(kind, kind),
        "layer": action["layer"],
        "role": action["role"],
        "agent": action["agent"],
        "timestamp": action["started_at"],
        "duration_ms": action["duration_ms"],
        "data": {name: value for name, value in data.items() if value is not None} | _error(action),
        **_copied(action),
        "action": action,
    }


def _error(action: JsonObject) -> JsonObject:
    error = action["error"]
    return {} if error is None else {"error": error["message"], "error_type": error["type"]}


def _copied(action: JsonObject) -> JsonObject:
    return {} if action["copied_from"] is None else {"copied_from": action["copied_from"]}


def _snapshot(number: int, action: JsonObject) -> JsonObject:
    return {
        "id": number,
        "sequence": action["sequence"],
        "role": action["role"],
        "agent": action["agent"],
        "name": action["name"],
        "timestamp": action["started_at"],
        "model": action["model"],
        "state": action["output"],
        **_error(action),
        **_copied(action),
        "action": action,
    }
