"""Read the steps of a session for playback: from an exported file, an evidence bundle, or a server."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from timemachine.client.errors import NotUnderstood, Refused
from timemachine.client.playback.pure.calls import PlayedCall, SessionSteps, calls_of
from timemachine.core.pure.content import MAX_DEPTH, parse_json, value_of
from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.zip_files import Archive, is_zip

if TYPE_CHECKING:
    from timemachine.client.client import Client

FORMAT: Final = "timemachine-session"
MOST_PARENTS: Final = 20
_NOT_FOUND: Final = 404
_DEEPEST: Final = MAX_DEPTH + 8
"""A payload, which may be nested `MAX_DEPTH` deep, is nested in its step."""
_LINES: Final = "events.jsonl"
_SNAPSHOTS: Final = "snapshots.json"
_STATEMENT: Final = "statement.json"
_OTHER_VALUES: Final = (LookupError, TypeError, AttributeError, ValueError, RecursionError)
"""Errors of a file in which a value is missing, or is not what we write."""
_ADVICE: Final = "Write a file with `timemachine session export ID -o FILE`."


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A recorded session: its key and its model calls, in order."""

    key: str
    calls: tuple[PlayedCall, ...]


def read_recording(file: Path) -> Recording:
    """Read a session exported in our format or as a ZIP, or an evidence bundle with one session.

    A bundle is not verified; `timemachine evidence verify` does that. Raises `NotUnderstood` for any other file, and
    `OSError`.
    """
    data = file.read_bytes()
    try:
        return _recording([_steps_in(data, file)])
    except InvalidInput as why:
        raise _refused(file, why.message) from why
    except _OTHER_VALUES as why:
        raise _refused(file, f"It is damaged ({type(why).__name__}: {why}).") from why


def _steps_in(data: bytes, file: Path) -> SessionSteps:
    if not is_zip(data):
        return _of_lines(data, file)
    archive = Archive(data)
    return _of_bundle(archive, file) if _STATEMENT in archive.names else _of_archive(archive, file)


def recording_on(client: Client, session: str) -> Recording:
    """Download a session, and those that it continues, as they are now. Raises `ClientError`."""
    parts: list[SessionSteps] = []
    through: int | None = None
    with TemporaryDirectory() as folder:
        file = Path(folder) / "session.jsonl"
        while len(parts) < MOST_PARENTS:
            try:
                client.sessions.export(session, file)
            except Refused as why:
                if not parts or why.status != _NOT_FOUND:
                    raise
                break  # the one that it continues is not on this server
            about, steps = _lines(file.read_bytes(), file)
            parts.insert(0, SessionSteps(key=str(about["key"]), steps=steps, through=through))
            parent = about.get("parent") or {}
            copied = any(each.get("copied_from") is not None for each in steps)
            if copied or parent.get("key") is None or parent.get("sequence") is None:
                break
            session, through = str(parent["key"]), int(parent["sequence"])
    return _recording(parts)


def _recording(parts: list[SessionSteps]) -> Recording:
    return Recording(key=parts[-1].key, calls=calls_of(parts))


def _refused(file: Path, why: str) -> NotUnderstood:
    return NotUnderstood(f"{file} cannot be played back: {why} {_ADVICE}", code="no_recording")


def _of_lines(data: bytes, file: Path) -> SessionSteps:
    about, steps = _lines(data, file)
    return SessionSteps(key=str(about.get("key")), steps=steps)


def _lines(data: bytes, file: Path) -> tuple[JsonObject, list[JsonObject]]:
    """The line about the session, and its steps. Raises `NotUnderstood` if the file is cut off."""
    lines = _objects(data)
    about = next(lines, {})
    if about.get("format") != FORMAT:
        raise _refused(file, "It is not a Time Machine session export.")
    steps = list(lines)
    if [each.get("sequence") for each in steps] != list(range(1, (about.get("through") or 0) + 1)):
        raise _refused(file, "It is truncated, or a step is missing.")
    return about, steps


def _objects(data: bytes) -> Iterator[JsonObject]:
    for number, line in enumerate(data.split(b"\n"), start=1):
        if line.strip():
            try:
                found = json.loads(line)
            except (ValueError, RecursionError) as why:
                raise InvalidInput(f"Line {number} is not JSON: {why}.") from why
            if not isinstance(found, dict):
                raise InvalidInput(f"Line {number} is not a JSON object.")
            yield found


def _of_archive(archive: Archive, file: Path) -> SessionSteps:
    """The steps in a ZIP export: the events, and the checkpoints among the snapshots."""
    if _LINES not in archive.names:
        raise _refused(file, f"The archive has neither {_LINES} nor {_STATEMENT}.")
    events = list(_objects(archive.read(_LINES)))
    if _SNAPSHOTS in archive.names:
        events += parse_json(archive.read(_SNAPSHOTS), deepest=_DEEPEST + 2)
    steps = [each["action"] for each in events if isinstance(each.get("action"), dict)]
    if len(steps) < len(events):
        raise _refused(file, "Another tool wrote it. Import it first.")
    about = parse_json(archive.read("metadata.json"), deepest=_DEEPEST)
    return SessionSteps(
        key=str(about.get("key")), steps=sorted(steps, key=lambda step: int(step["sequence"]))
    )


def _of_bundle(archive: Archive, file: Path) -> SessionSteps:
    """The steps that an evidence bundle discloses. What it withholds is not recorded, for playback."""
    signed = parse_json(archive.read(_STATEMENT), deepest=_DEEPEST)
    stated = parse_json(base64.b64decode(signed["payload"]), deepest=_DEEPEST)
    trees = [each for each in stated["predicate"]["trees"] if each["of"] == "session"]
    if len(trees) != 1:
        raise _refused(file, f"It is a bundle of {len(trees):,} sessions.")
    path = trees[0]["path"]
    payloads = {each["sha256"]: _payload(each) for each in _objects(archive.read("payloads.jsonl"))}
    kinds = {each["index"]: each["kind"] for each in _objects(archive.read(f"{path}/records.jsonl"))}
    disclosed = {
        each["index"]: _Disclosed(each["fields"], payloads)
        for each in _objects(archive.read(f"{path}/disclosed.jsonl"))
    }
    about = disclosed.pop(0).json("about") if 0 in disclosed else {}
    steps = [_step(index, kinds[index], found) for index, found in sorted(disclosed.items())]
    return SessionSteps(key=str(about.get("key", trees[0]["id"])), steps=steps)


def _payload(line: JsonObject) -> bytes:
    return base64.b64decode(line["base64"]) if "base64" in line else line["text"].encode()


@dataclass(frozen=True, slots=True)
class _Disclosed:
    """The fields of one record: each with its salt, and its text or the hash of its payload."""

    fields: Mapping[str, Any]
    payloads: Mapping[str, bytes]

    def data(self, name: str) -> bytes | None:
        """The bytes of a field, None if it is withheld or was not recorded."""
        if name not in self.fields:
            return None
        _, text, *sha256 = self.fields[name]
        return text.encode() if text is not None else self.payloads.get(sha256[0])

    def json(self, name: str) -> Any:
        """The JSON in a field, an empty object if the field is missing."""
        data = self.data(name)
        return {} if data is None else parse_json(data, deepest=_DEEPEST)


def _step(index: int, kind: str, found: _Disclosed) -> JsonObject:
    facts = found.json("facts")
    media = facts.get("media") or {}
    payloads = {
        name: value_of(media.get(name, "text/plain"), data)
        for name in ("input", "output")
        if (data := found.data(name)) is not None
    }
    usage = {name: facts[name] for name in facts if name.endswith("_tokens")}
    return {
        **facts,
        **found.json("words"),
        **payloads,
        "sequence": index,
        "kind": kind,
        "usage": usage,
        "copied_from": found.json("copied_from") or None,
    }


def unused_steps(calls: Iterable[PlayedCall]) -> str:
    """The steps of these calls, as text: `3, 7 and 9`."""
    numbers = [f"{call.sequence}" for call in calls]
    return " and ".join(filter(None, [", ".join(numbers[:-1]), numbers[-1]])) if numbers else ""
