"""Sessions of Claude Code: the JSON lines it keeps under `~/.claude/projects/…/<session id>.jsonl`. Pure.

There is no published schema. Every line is an object with a `type`; lines of `user` and `assistant` carry a `message` of
Anthropic's Messages API, and `parentUuid` makes a tree of them. Sessions keep the order of the file, and the tree stays in
each action's `source`. What one line becomes stands in `claude_code_actions`.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.importing.pure.formats.claude_code.actions import actions_of
from timemachine.recording.importing.pure.formats.claude_code.lines import AGENT, moment_of, text_at
from timemachine.recording.importing.pure.jsonl import Line, lines_of
from timemachine.recording.importing.pure.mapped_bytes import Contents
from timemachine.recording.importing.pure.opening import Opening
from timemachine.recording.importing.pure.report import Imported, SessionDraft, Skipped, imported, shortened
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.sessions.pure.validation import key_of

NAME: Final = "claude_code"
TITLE: Final = "a Claude Code session (a .jsonl file from ~/.claude/projects)"
_MARKS = ("sessionId", "session_id", "uuid", "leafUuid", "snapshot")
_METADATA = ("cwd", "gitBranch", "version", "userType")


def recognises(opening: Opening) -> bool:
    """Whether one of the first lines looks like a line of Claude Code."""
    return any(map(_looks_right, opening.lines))


def read(data: Contents) -> Imported:
    """The sessions in the file, in the order in which they first appear, and the report about its lines.

    Lines are grouped by `sessionId`: a resumed file holds several sessions. A line without one (a summary, a file history
    snapshot) goes to the session of the line that it points to, else to the session it stands in. Every line is held whole
    in the `source` of exactly one action, or is skipped with its reason. Raises `InvalidInput` (`unknown_format`) where no
    line can be used.
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
                Skipped(line=line.number, reason="It has no type, which every line of Claude Code has.")
            )
    if not usable:
        raise InvalidInput(_hopeless(skipped), code="unknown_format")
    sessions = tuple(_session(recorded_id, lines) for recorded_id, lines in _by_session(usable).items())
    return imported(sessions, lines=len(usable) + len(skipped), skipped=tuple(skipped))


def _looks_right(record: dict[str, Any]) -> bool:
    kind = record.get("type")
    if not isinstance(kind, str):  # a JSON Schema has lists there
        return False
    spoken = kind in {"user", "assistant"} and isinstance(record.get("message"), dict)
    return spoken or any(mark in record for mark in _MARKS)


def _hopeless(skipped: Sequence[Skipped]) -> str:
    found = f"line {skipped[0].line}: {skipped[0].reason}" if skipped else "it is empty."
    return f"No line of this file can be read; send {TITLE}. What was found: {found}"


def _by_session(lines: Sequence[Line]) -> dict[str, list[Line]]:
    own = [_session_id(line.record) for line in lines]
    homes = {text_at(line.record, "uuid"): found for line, found in zip(lines, own, strict=True) if found}
    around = next(filter(None, own), "")
    groups: dict[str, list[Line]] = {}
    for line, found in zip(lines, own, strict=True):
        around = found or around
        groups.setdefault(found or homes.get(_points_to(line.record)) or around, []).append(line)
    return groups


def _session_id(record: dict[str, Any]) -> str | None:
    # `session_id` is its spelling in what `claude --output-format stream-json` prints.
    return text_at(record, "sessionId") or text_at(record, "session_id")


def _points_to(record: dict[str, Any]) -> str | None:
    # No uuid is empty, so a line that points nowhere finds no home.
    return text_at(record, "leafUuid") or text_at(record, "messageId") or ""


def _session(recorded_id: str, lines: Sequence[Line]) -> SessionDraft:
    # Without any recorded id the first line names the session: it stays the first when the file grows.
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
    """The latest summary, before all others one whose `leafUuid` is a line of this session."""
    uuids = {text_at(line.record, "uuid") for line in lines} - {None}
    found = [
        line.record for line in lines if line.record["type"] == "summary" and text_at(line.record, "summary")
    ]
    ours = [record for record in found if text_at(record, "leafUuid") in uuids]
    return shortened((ours or found)[-1]["summary"]) if found else None


def _first_words(actions: Iterable[ActionDraft]) -> str | None:
    """The first text that a person wrote; where there is none, the first that the agent gave to an agent of its own."""
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
    """What the lines say about where they were written: a text, or a list of texts where it changed on the way."""
    found: dict[str, Any] = {}
    for name in _METADATA:
        values = list(
            dict.fromkeys(value for line in lines if isinstance(value := line.record.get(name), str))
        )
        if values:
            found[name] = values[0] if len(values) == 1 else values
    return found
