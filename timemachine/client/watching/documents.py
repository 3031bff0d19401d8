"""Transcripts that are JSON documents with messages: older chats of Gemini CLI, and sessions of OpenCode.

A document is sent with its new messages only. The last message may change until it is complete, or nothing has changed for a while.
"""

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject

DATABASE: Final = "opencode.db"
_CHANGED: Final = """
SELECT id, max(
    time_updated,
    coalesce((SELECT max(time_updated) FROM message WHERE session_id = session.id), 0),
    coalesce((SELECT max(time_updated) FROM part WHERE session_id = session.id), 0)
) FROM session ORDER BY time_created"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A session in a document: what it is about, its messages, and when it last changed, in seconds since 1970."""

    path: Path
    about: JsonObject
    messages: list[JsonObject]
    changed: float

    def settled(self) -> int:
        """Return how many messages no longer change."""
        is_open = bool(self.messages) and not _is_complete(self.messages[-1])
        return len(self.messages) - is_open

    def mark(self, end: int) -> str:
        """Return the hash of the ids of the first messages, by which a document is recognised from which some were removed."""
        return _hash([_id(each) for each in self.messages[:end]])

    def open_mark(self) -> str:
        """Return the hash of the last message if it may change, else nothing."""
        return _hash(self.messages[-1]) if self.settled() < len(self.messages) else ""

    def part(self, first: int, end: int) -> JsonObject:
        """Return the document with some of its messages."""
        return {**self.about, "messages": self.messages[first:end]}


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:32]


def _id(message: JsonObject) -> Any:
    about = message.get("info")
    return (about if isinstance(about, dict) else message).get("id")


def _is_complete(message: JsonObject) -> bool:
    about = message.get("info")
    if not isinstance(about, dict):
        return False
    times = about.get("time")
    return isinstance(times, dict) and times.get("completed") is not None


def gemini_document(path: Path) -> Document | None:
    """Return a chat of Gemini CLI; None if it is half written."""
    changed = path.stat().st_mtime
    found = _read(path)
    messages = found.pop("messages", None) if found else None
    if not found or not isinstance(messages, list):
        return None
    return Document(path=path, about=found, messages=messages, changed=changed)


def opencode_documents(folder: Path) -> Iterator[tuple[Path, float]]:
    """Yield the sessions of OpenCode, each with a path that names it and when it last changed: from its database, or else its files."""
    database = folder / DATABASE
    if database.is_file():
        for name, changed in _rows(database, _CHANGED):
            yield database / str(name), float(changed or 0) / 1000
        return
    for path in sorted((folder / "storage" / "session").glob("*/*.json")):
        with suppress(OSError):
            yield path, _changed(path)


def _changed(session: Path) -> float:
    """Return when a session last changed: its files are written again while an answer comes."""
    messages = session.parents[2] / "message" / session.stem
    latest = max(messages.glob("*.json"), default=None)
    files = [session, messages]
    if latest is not None:
        parts = session.parents[2] / "part" / latest.stem
        files += [latest, parts, *parts.glob("*.json")]
    return max(each.stat().st_mtime for each in files if each.exists())


def opencode_document(path: Path, changed: float) -> Document | None:
    """Return a session of OpenCode; None if it is half written."""
    if path.parent.name == DATABASE:
        return _of_database(path.parent, path.name, changed)
    storage = path.parents[2]
    about = _read(path)
    if about is None:
        return None
    messages = []
    for file in sorted((storage / "message" / path.stem).glob("*.json")):
        parts = [_read(each) for each in sorted((storage / "part" / file.stem).glob("*.json"))]
        info = _read(file)
        if info is None or None in parts:
            return None
        messages.append({"info": info, "parts": parts})
    return Document(path=path, about={"info": about}, messages=messages, changed=changed)


def _of_database(database: Path, session: str, changed: float) -> Document | None:
    row = next(iter(_rows(database, "SELECT * FROM session WHERE id = ?", session, named=True)), None)
    if row is None:
        return None
    about: JsonObject = {
        "id": row["id"],
        "title": row["title"],
        "version": row["version"],
        "directory": row["directory"],
        "projectID": row["project_id"],
        "parentID": row["parent_id"],
        "slug": row["slug"],
        "time": {"created": row["time_created"], "updated": row["time_updated"]},
    }
    about = {name: value for name, value in about.items() if value is not None}
    parts: dict[str, list[JsonObject]] = {}
    for name, message, data in _rows(
        database, "SELECT id, message_id, data FROM part WHERE session_id = ? ORDER BY id", session
    ):
        parts.setdefault(message, []).append({"id": name, "messageID": message, **json.loads(data)})
    messages = [
        {"info": {"id": name, "sessionID": session, **json.loads(data)}, "parts": parts.get(name, [])}
        for name, data in _rows(
            database, "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id", session
        )
    ]
    return Document(path=database / session, about={"info": about}, messages=messages, changed=changed)


def _rows(database: Path, query: str, *values: str, named: bool = False) -> list[Any]:
    """Return the rows of a query. OpenCode writes to the database meanwhile, so it is only read. Raises `OSError`."""
    try:
        with closing(
            sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True, timeout=2)
        ) as opened:
            opened.row_factory = sqlite3.Row if named else None
            return opened.execute(query, values).fetchall()
    except sqlite3.Error as why:
        raise OSError(f"cannot read {database}: {why}") from why


def _read(path: Path) -> JsonObject | None:
    try:
        found = json.loads(path.read_bytes())
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
