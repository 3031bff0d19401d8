"""Read a recording from a ZIP of `events.jsonl`, `snapshots.json` and `metadata.json`, without a server.

Members are read by name and in memory. Nothing is unpacked to disk, and ZIP bombs, paths outside the archive and links are refused, as in
an import. `session.pkl`, which some recordings have, is a Python pickle that can run code, so it is never opened.
"""

import copy
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from timemachine.client.errors import NotFound, NotUnderstood
from timemachine.core.pure.content import parse_json
from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.zip_files import Archive, is_zip

LARGEST: Final = 512 * 1024 * 1024
_STATES: Final = ("state", "agent")
_NAMES: Final = ("id", "snapshot_id")
_PARTS: Final = (
    "system_prompt",
    "working_directory",
    "tools",
    "last_query",
    "last_result",
    "model",
    "environment",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedSession:
    """The content of the archive in order. `skipped` are the numbers of the lines of `events.jsonl` that are not JSON objects."""

    events: list[JsonObject]
    snapshots: list[JsonObject]
    metadata: JsonObject
    skipped: list[int]

    def get_events_by_layer(self, layer: str) -> list[JsonObject]:
        """The events of a layer: sys, tool or agent."""
        return [each for each in self.events if each.get("layer") == layer]

    def resume_from_snapshot(self, number: int, agent: Any = None) -> JsonObject:
        """Set the messages of an agent, and its system prompt if any, to those of a snapshot; `messages_restored` counts the messages.

        `number` is the number of the snapshot, from 1; `step` of the result is where the session set it, if that is known. Returns `messages`
        and the other parts of the snapshot, too. Raises `NotFound`.
        """
        snapshot = self._snapshot(number)
        state = next((snapshot[name] for name in _STATES if isinstance(snapshot.get(name), dict)), snapshot)
        messages: list[Any] = copy.deepcopy(
            next(
                (state[name] for name in ("messages", "agent_messages") if isinstance(state.get(name), list)),
                [],
            )
        )
        if agent is not None:
            agent.messages = messages
            if state.get("system_prompt") is not None and hasattr(agent, "system_prompt"):
                agent.system_prompt = state["system_prompt"]
        parts = {name: copy.deepcopy(state.get(name, snapshot.get(name))) for name in _PARTS}
        return {
            **parts,
            "snapshot": number,
            "step": snapshot.get("sequence"),
            "messages": messages,
            "messages_restored": len(messages),
        }

    def resume_and_continue(self, number: int, query: str, agent: Callable[[str], Any]) -> JsonObject:
        """The same as `resume_from_snapshot`, then call the agent with the query; `result` is what it returns. Raises what it raises."""
        resumed = self.resume_from_snapshot(number, agent)
        return {**resumed, "query": query, "result": agent(query)}

    def _snapshot(self, number: int) -> JsonObject:
        named = [name for name in _NAMES if any(name in each for each in self.snapshots)]
        if named:
            found = [each for each in self.snapshots if each.get(named[0]) == number]
        else:
            found = self.snapshots[number - 1 : number] if number > 0 else []
        if not found:
            raise NotFound(
                f"The recording has no snapshot {number}. It has {len(self.snapshots)}.", code="no_snapshot"
            )
        return found[0]


def load_session(source: str | os.PathLike[str] | bytes) -> LoadedSession:
    """Read a recording from a file or bytes. Raises `NotUnderstood` if it is not a recording or not safe, and `OSError`."""
    try:
        data = _bytes(source)
        _check_archive(data, source)
        archive = Archive(data)
        names = {name.rpartition("/")[2]: name for name in archive.names}
        if "events.jsonl" not in names:
            raise NotUnderstood("This archive has no events.jsonl.", code="no_recording")
        events, skipped = _events(archive.read(names["events.jsonl"]))
        about = {
            name: parse_json(archive.read(names[name])) if name in names else None
            for name in ("snapshots.json", "metadata.json")
        }
    except InvalidInput as why:
        raise NotUnderstood(why.message, code=why.code) from why
    snapshots, metadata = about["snapshots.json"], about["metadata.json"]
    return LoadedSession(
        events=events,
        snapshots=[each for each in _listed(snapshots) if isinstance(each, dict)],
        metadata=metadata if isinstance(metadata, dict) else {},
        skipped=skipped,
    )


def _check_archive(data: bytes, source: object) -> None:
    called = "These bytes" if isinstance(source, bytes) else str(source)
    verb = "are" if isinstance(source, bytes) else "is"
    if not data:
        raise NotUnderstood(
            f"{called} {verb} empty. Write a recording with `timemachine session export ID --format zip -o FILE`.",
            code="no_recording",
        )
    if not is_zip(data):
        raise NotUnderstood(
            f"{called} {verb} not a ZIP archive with an events.jsonl. Write one with `timemachine session export ID --format zip -o FILE`, "
            "or import other formats with `timemachine session import FILE`.",
            code="no_recording",
        )


def _bytes(source: str | os.PathLike[str] | bytes) -> bytes:
    if isinstance(source, bytes):
        return source
    path = Path(source)
    if path.stat().st_size > LARGEST:
        raise NotUnderstood(f"{path} is larger than {LARGEST:,} bytes.", code="no_recording")
    return path.read_bytes()


def _events(data: bytes) -> tuple[list[JsonObject], list[int]]:
    events, skipped = [], []
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            event = parse_json(line)
        except InvalidInput:
            event = None
        if isinstance(event, dict):
            events.append(event)
        else:
            skipped.append(number)
    return events, skipped


def _listed(value: Any) -> list[Any]:
    if isinstance(value, dict) and isinstance(value.get("snapshots"), list):
        return list(value["snapshots"])
    return value if isinstance(value, list) else [value]
