"""Sessions of Claude Code: the JSON lines in `~/.claude/projects/…/<session id>.jsonl`, and those of their sub-agents.

There is no published schema. Every line is an object with a `type`. Lines of type `user` and `assistant` have a
`message` of Anthropic's Messages API, and `parentUuid` links lines into a tree. Sessions keep the order of the file;
the tree remains in the `source` of each action. `actions` describes what each line becomes.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.names import shortened
from timemachine.recording.importing.pure.contents import Line
from timemachine.recording.importing.pure.drafts import first_words, session_draft
from timemachine.recording.importing.pure.formats.claude_code.actions import (
    AGENT,
    FORMAT,
    actions_of,
    moment_of,
    origin_of,
)
from timemachine.recording.importing.pure.formats.claude_code.titles import titles_in
from timemachine.recording.importing.pure.reader import Opening, Reader
from timemachine.recording.importing.pure.report import ParsedFile, SessionDraft
from timemachine.recording.importing.pure.values import text_at
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.sessions.pure.validation import key_of

NAME: Final = FORMAT
TITLE: Final = "Claude Code session (.jsonl file from ~/.claude/projects)"
_MARKS = ("sessionId", "session_id", "uuid", "leafUuid", "snapshot")
_NAME_OF_COMMAND: Final = re.compile(r"<command-name>(/?[^<>\s]+)</command-name>")
_ARGUMENTS: Final = re.compile(r"<command-args>([^<]*)</command-args>")
_METADATA = ("cwd", "gitBranch", "version", "userType")


def recognises(opening: Opening) -> bool:
    """Return whether one of the first lines looks like Claude Code."""
    return any(map(_looks_right, opening.lines))


def read(reader: Reader) -> ParsedFile:
    """Return the sessions of the file, in order of appearance, with the report about its lines.

    Lines are grouped by `sessionId`: a resumed file holds several sessions. A line without one (a summary, a file
    history snapshot) goes to the session of the line it points to, or else to the surrounding session. Every line is
    either stored in the `source` of exactly one action or skipped with a reason.

    Raises `InvalidInput` (`unknown_format`) if no line can be used.
    """
    lines = reader.lines(
        lambda record: isinstance(record.get("type"), str),
        "It has no `type`, so it is not a Claude Code line.",
        identity=_identity,
    )
    groups = _by_session(lines)
    owners = {text_at(line.record, "uuid"): key for key, own in groups.items() for line in own}
    return reader.parsed(_session(recorded_id, own, owners) for recorded_id, own in groups.items())


def _identity(line: Line) -> str | None:
    """Return what a line has in common with one that was written twice, None without a uuid, and for lines of an answer: their
    blocks are compared."""
    return line.digest if "uuid" in line.record and line.record["type"] != "assistant" else None


def _looks_right(record: JsonObject) -> bool:
    kind = record.get("type")
    if (
        not isinstance(kind, str) or "." in kind
    ):  # a list in a JSON Schema; dots in the types of Codex's events
        return False
    spoken = kind in {"user", "assistant"} and isinstance(record.get("message"), dict)
    return spoken or any(mark in record for mark in _MARKS)


def _by_session(lines: Sequence[Line]) -> dict[str, list[Line]]:
    # `claude --output-format stream-json` spells it `session_id`.
    own = [text_at(line.record, "sessionId", "session_id") for line in lines]
    session_of_uuid = {
        text_at(line.record, "uuid"): found for line, found in zip(lines, own, strict=True) if found
    }
    around = next(filter(None, own), "")
    groups: dict[str, list[Line]] = {}
    for line, found in zip(lines, own, strict=True):
        around = found or around
        # No uuid is empty, so a line that points nowhere matches no session.
        points_to = text_at(line.record, "leafUuid", "messageId") or ""
        groups.setdefault(found or session_of_uuid.get(points_to) or around, []).append(line)
    return groups


def _session(recorded_id: str, lines: Sequence[Line], owners: Mapping[str | None, str]) -> SessionDraft:
    """Return the session of these lines; `owners` has the recorded id of the session of each uuid in the file."""
    # Without a recorded id the key comes from the first line, which stays the same when the file grows.
    key = key_of(recorded_id or f"{NAME}-{lines[0].digest[:12]}", NAME)
    made = actions_of(lines)
    times = [time for time in map(moment_of, lines) if time is not None]
    names = _names(lines, made.actions)
    session = session_draft(
        key,
        made.actions,
        name=names[-1] if names else None,
        agent=AGENT,
        started_at=min(times, default=None),
        ended_at=max(times, default=None),
        metadata=_metadata(lines),
        forked_from=_parent(recorded_id, lines, owners),
    )
    return replace(
        session,
        anchors=made.anchors,
        awaited_calls=made.awaited_calls,
        earlier_names=(key, *names[:-1]),
        ids_are_global=True,
    )


def _parent(recorded_id: str, lines: Sequence[Line], owners: Mapping[str | None, str]) -> str | None:
    """Return the session that this one continues: that of its last copied line, or that of the line before its first."""
    copied = [origin[0] for line in lines if (origin := origin_of(line)) is not None]
    before = [
        owner
        for line in lines
        if (owner := owners.get(text_at(line.record, "parentUuid") or "")) and owner != recorded_id
    ]
    return next(iter([*reversed(copied), *(key_of(each, NAME) for each in before)]), None)


def _names(lines: Sequence[Line], actions: Sequence[ActionDraft]) -> list[str]:
    """Return the names that the file gives the session, and those that it gave while it was shorter. The best is the last.

    The file of a sub-agent gives none, because what the agent asked it for is not what the session is about.
    """
    kept = [each for each in actions if "rewound" not in each.tags]
    return [*filter(None, (_command(actions), *map(first_words, (actions, kept)))), *titles_in(lines)]


def _command(actions: Sequence[ActionDraft]) -> str | None:
    """Return the first command that a person gave, such as `/init`, with what was written after it."""
    texts = (str(each.output) for each in actions if "command" in each.tags)
    found = next(filter(None, map(_NAME_OF_COMMAND.search, texts)), None)
    if found is None:
        return None
    given = _ARGUMENTS.search(found.string)
    return shortened(f"{found[1]} {given[1] if given else ''}")


def _metadata(lines: Sequence[Line]) -> JsonObject:
    """Return where the lines were written: for each field its value, or a list if it changed."""
    found: JsonObject = {}
    for name in _METADATA:
        values = list(
            dict.fromkeys(value for line in lines if isinstance(value := line.record.get(name), str))
        )
        if values:
            found[name] = values[0] if len(values) == 1 else values
    return found
