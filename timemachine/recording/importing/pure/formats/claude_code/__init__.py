"""Sessions of Claude Code: the JSON lines in `~/.claude/projects/…/<session id>.jsonl`.

There is no published schema. Every line is an object with a `type`. Lines of type `user` and `assistant` have a
`message` of Anthropic's Messages API, and `parentUuid` links lines into a tree. Sessions keep the order of the file;
the tree remains in the `source` of each action. `actions` describes what each line becomes.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from timemachine.recording.importing.pure.formats.claude_code.actions import actions_of
from timemachine.recording.importing.pure.formats.claude_code.lines import AGENT, moment_of, text_at
from timemachine.recording.importing.pure.jsonl import Line, lines_of
from timemachine.recording.importing.pure.mapped_bytes import Contents
from timemachine.recording.importing.pure.opening import Opening
from timemachine.recording.importing.pure.report import (
    ParsedFile,
    SessionDraft,
    Skipped,
    parsed_file,
    shortened,
)
from timemachine.recording.importing.pure.session_builder import unreadable_file
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.sessions.pure.validation import key_of

NAME: Final = "claude_code"
TITLE: Final = "a Claude Code session (a .jsonl file from ~/.claude/projects)"
_MARKS = ("sessionId", "session_id", "uuid", "leafUuid", "snapshot")
_METADATA = ("cwd", "gitBranch", "version", "userType")


def recognises(opening: Opening) -> bool:
    """Return whether one of the first lines looks like Claude Code."""
    return any(map(_looks_right, opening.lines))


def read(data: Contents) -> ParsedFile:
    """Return the sessions of the file, in order of appearance, with the report about its lines.

    Lines are grouped by `sessionId`: a resumed file holds several sessions. A line without one (a summary, a file
    history snapshot) goes to the session of the line it points to, or else to the surrounding session. Every line is
    either stored in the `source` of exactly one action or skipped with a reason.

    Raises `InvalidInput` (`unknown_format`) if no line can be used.
    """
    usable: list[Line] = []
    skipped: list[Skipped] = []
    for line in lines_of(data):
        if isinstance(line, Skipped):
            skipped.append(line)
        elif isinstance(line.record.get("type"), str):
            usable.append(line)
        else:
            skipped.append(
                Skipped(line=line.number, reason="It has no `type`, so it is not a line of Claude Code.")
            )
    if not usable:
        problem = f"line {skipped[0].line}: {skipped[0].reason}" if skipped else "it is empty."
        raise unreadable_file(TITLE, problem)
    sessions = tuple(_session(recorded_id, lines) for recorded_id, lines in _by_session(usable).items())
    return parsed_file(sessions, lines=len(usable) + len(skipped), skipped=tuple(skipped))


def _looks_right(record: dict[str, Any]) -> bool:
    kind = record.get("type")
    if not isinstance(kind, str):  # in a JSON Schema it may be a list
        return False
    spoken = kind in {"user", "assistant"} and isinstance(record.get("message"), dict)
    return spoken or any(mark in record for mark in _MARKS)


def _by_session(lines: Sequence[Line]) -> dict[str, list[Line]]:
    own = [_session_id(line.record) for line in lines]
    session_of_uuid = {
        text_at(line.record, "uuid"): found for line, found in zip(lines, own, strict=True) if found
    }
    around = next(filter(None, own), "")
    groups: dict[str, list[Line]] = {}
    for line, found in zip(lines, own, strict=True):
        around = found or around
        groups.setdefault(found or session_of_uuid.get(_points_to(line.record)) or around, []).append(line)
    return groups


def _session_id(record: dict[str, Any]) -> str | None:
    # `claude --output-format stream-json` spells it `session_id`.
    return text_at(record, "sessionId") or text_at(record, "session_id")


def _points_to(record: dict[str, Any]) -> str | None:
    # No uuid is empty, so a line that points nowhere matches no session.
    return text_at(record, "leafUuid") or text_at(record, "messageId") or ""


def _session(recorded_id: str, lines: Sequence[Line]) -> SessionDraft:
    # Without a recorded id the key comes from the first line, which stays the same when the file grows.
    key = key_of(recorded_id or f"{NAME}-{lines[0].digest[:12]}", NAME)
    actions = actions_of(lines)
    times = [time for time in map(moment_of, lines) if time is not None]
    return SessionDraft(
        key=key,
        name=_summary(lines) or _first_words(actions) or key,
        agent=AGENT,
        started_at=min(times, default=None),
        ended_at=max(times, default=None),
        metadata=_metadata(lines),
        actions=actions,
    )


def _summary(lines: Sequence[Line]) -> str | None:
    """Return the latest summary, preferring one whose `leafUuid` is a line of this session."""
    uuids = {text_at(line.record, "uuid") for line in lines} - {None}
    found = [
        line.record for line in lines if line.record["type"] == "summary" and text_at(line.record, "summary")
    ]
    ours = [record for record in found if text_at(record, "leafUuid") in uuids]
    return shortened((ours or found)[-1]["summary"]) if found else None


def _first_words(actions: Iterable[ActionDraft]) -> str | None:
    """Return the first text that a person wrote, else the first that the agent gave to a subagent."""
    texts = [
        action
        for action in actions
        if (action.kind, action.role) == ("message", "user")
        and isinstance(action.output, str)
        and not {"meta", "command"} & set(action.tags)
    ]
    texts.sort(key=lambda action: "sidechain" in action.tags)
    return next(filter(None, (shortened(action.output) for action in texts)), None)


def _metadata(lines: Sequence[Line]) -> dict[str, Any]:
    """Return where the lines were written: for each field its value, or a list if it changed."""
    found: dict[str, Any] = {}
    for name in _METADATA:
        values = list(
            dict.fromkeys(value for line in lines if isinstance(value := line.record.get(name), str))
        )
        if values:
            found[name] = values[0] if len(values) == 1 else values
    return found
