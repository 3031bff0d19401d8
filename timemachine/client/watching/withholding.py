"""What is not sent: sessions and files that a `.timemachineignore` names, and what a redaction profile finds."""

import json
import os.path
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from pathspec import GitIgnoreSpec

from timemachine.client.errors import ClientError
from timemachine.core.pure.json_types import JsonObject

IGNORE_FILE: Final = ".timemachineignore"
MARK: Final = f"[withheld: {IGNORE_FILE}]"
_GIVEN: Final = ("input", "args", "arguments")
_RETURNED: Final = ("output", "result", "resultDisplay", "content", "metadata", "title")
_IDS: Final = ("id", "call_id", "callID")
_RESULT_OF: Final = ("tool_use_id", "call_id", "callID")
_PATHS: Final = ("file_path", "filePath", "filename", "absolute_path", "notebook_path", "path")
_WORD: Final = re.compile(r"[^\s\"'`<>|;&()=,]+")
_PART: Final = re.compile(r"[^:@{}]+")
"""A part of a word that can be a path of its own: `HEAD:.env`, `@.env`, `./.env:/mounted`."""
_STRUCTURE: Final = frozenset(
    [
        "uuid",
        "parentUuid",
        "logicalParentUuid",
        "sessionId",
        "session_id",
        "sessionID",
        "timestamp",
        "requestId",
        "id",
        "tool_use_id",
        "call_id",
        "callID",
        "messageId",
        "messageID",
        "leafUuid",
        "messageUuid",
        "agentId",
        "type",
        "role",
        "model",
        "modelID",
        "providerID",
        "usage",
        "tokens",
        "info_tokens",
        "stop_reason",
        "version",
        "turn_id",
        "forked_from_id",
        "parent_thread_id",
        "projectHash",
        "startTime",
        "lastUpdated",
        "toolUseID",
        "parentToolUseID",
        "parentID",
        "parentToolUseId",
        "time",
        "cost",
        "kind",
        "name",
        "isSidechain",
    ]
)
_CONTENT: Final = frozenset(
    {*_GIVEN, "output", "result", "resultDisplay", "toolUseResult", "text", "thinking", "snapshot"}
)

type Edit = Callable[[JsonObject], JsonObject]


class Ignored:
    """The `.timemachineignore` files that apply to a transcript: of the folder that the agent worked in, those above it, and that of
    the folder with the transcripts."""

    def __init__(self, transcript: Path, root: Path, worked_in: Path | None) -> None:
        above = [worked_in, *worked_in.parents] if worked_in is not None and worked_in.is_absolute() else []
        self._specs = [(each, spec) for each in [*above, root] if (spec := _spec(each)) is not None]
        self._worked_in = worked_in
        places = [transcript] if worked_in is None else [transcript, worked_in / transcript.name]
        self.is_whole = any(self._matches(each) for each in places)
        """Whether nothing of the session is sent."""

    def __bool__(self) -> bool:
        return bool(self._specs)

    def names(self, written: str) -> bool:
        """Return whether a path, absolute or in the agent's folder, is ignored."""
        try:
            path = Path(written).expanduser()
            if not path.is_absolute() and self._worked_in is not None:
                path = self._worked_in / path
            return self._matches(Path(os.path.normpath(path)))  # `src/../.env` is `.env`
        except (ValueError, RuntimeError):
            return False

    def _matches(self, path: Path) -> bool:
        for folder, spec in self._specs:
            try:
                inside = path.relative_to(folder)
            except ValueError:
                continue
            name = inside.as_posix()
            if inside.parts and (spec.match_file(name) or spec.match_file(f"{name}/")):  # it may be a folder
                return True
        return False


def _spec(folder: Path) -> GitIgnoreSpec | None:
    """Return the rules of a folder's `.timemachineignore`. Raises `ClientError` if it cannot be read: then nothing may be sent."""
    path = folder / IGNORE_FILE
    try:
        return GitIgnoreSpec.from_lines(path.read_text(encoding="utf-8").splitlines())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as why:
        raise ClientError(
            f"Cannot read {path} ({why}). Nothing that it might name is sent.", code="unreadable_ignore"
        ) from why


def without_ignored(value: Any, ignored: Ignored, hidden: set[str]) -> Any:
    """Return a record without calls of tools that name an ignored file, their results, and attached files. `hidden` has the ids of these calls."""
    before = len(hidden)
    made, touched = _without(value, ignored, hidden)
    if (touched or len(hidden) > before) and isinstance(made, dict) and "toolUseResult" in made:
        made["toolUseResult"] = MARK
    return made


def _without(value: Any, ignored: Ignored, hidden: set[str]) -> tuple[Any, bool]:
    if isinstance(value, list):
        made = [_without(each, ignored, hidden) for each in value]
        return [each for each, _ in made], any(touched for _, touched in made)
    if not isinstance(value, dict):
        return value, False
    given = [value[name] for name in _GIVEN if name in value]
    if given and any(_names_ignored(each, ignored) for each in given):
        hidden.update(each for name in _IDS if isinstance(each := value.get(name), str))
        return {name: MARK if name in (*_GIVEN, *_RETURNED) else each for name, each in value.items()}, True
    if any(value.get(name) in hidden for name in _RESULT_OF if isinstance(value.get(name), str)):
        return {name: MARK if name in _RETURNED else each for name, each in value.items()}, True
    if any(isinstance(path := value.get(name), str) and ignored.names(path) for name in _PATHS):
        return {name: each if name in (*_PATHS, "type") else MARK for name, each in value.items()}, True
    made_of = {name: _without(each, ignored, hidden) for name, each in value.items()}
    return {name: each for name, (each, _) in made_of.items()}, any(each for _, each in made_of.values())


def _names_ignored(given: Any, ignored: Ignored) -> bool:
    words = {word for text in _texts(given) for word in _WORD.findall(text.replace("\\", "/"))}
    return any(ignored.names(each) for word in words for each in {word, *_PART.findall(word)})


def _texts(given: Any) -> Iterator[str]:
    """Yield every text in a value, also in JSON that it has as a text, as arguments of tools are written."""
    if isinstance(given, str):
        yield given
        with suppress(ValueError, RecursionError):
            given = json.loads(given)
    if isinstance(given, dict):
        given = [*given, *given.values()]
    if isinstance(given, list):
        for each in given:
            yield from _texts(each)


def redaction(profile: JsonObject) -> Edit:
    """Return what removes from a record what a profile finds, except from ids and numbers by which lines belong together.

    Raises `ClientError` if the profile withholds fields of steps, which lines do not have, or its rules cannot be applied here.
    """
    if profile["rules"].get("fields"):
        raise ClientError(
            f"The redaction profile {profile['name']!r} withholds fields of steps. `watch` applies only detectors and patterns; use a profile without fields.",
            code="fields_in_profile",
        )
    try:
        from timemachine.text.redaction.pure.rules import read_rules
        from timemachine.text.redaction.pure.values import redact_value
    except ImportError as why:
        raise ClientError(
            f"A redaction profile needs {why.name} here, which is part of the server. Install `timemachine` on this machine.",
            code="not_installed",
        ) from why
    rules = read_rules(profile["rules"])

    def edit(record: JsonObject) -> JsonObject:
        bare = _bare(record)
        return _with_structure(record, redact_value(bare, rules).value)  # type: ignore[no-any-return]

    return edit


def _bare(value: Any) -> Any:
    """Return the value without what only connects lines."""
    if isinstance(value, list):
        return [_bare(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        name: each if name in _CONTENT else _bare(each)
        for name, each in value.items()
        if name not in _STRUCTURE
    }


def _with_structure(value: Any, redacted: Any) -> Any:
    if isinstance(value, list) and isinstance(redacted, list):
        return [_with_structure(*both) for both in zip(value, redacted, strict=True)]
    if not isinstance(value, dict) or not isinstance(redacted, dict):
        return redacted
    rest = iter(redacted.items())
    made = {}
    for name, each in value.items():
        if name in _STRUCTURE:
            made[name] = each
            continue
        shown, inner = next(rest)
        made[shown] = inner if name in _CONTENT else _with_structure(each, inner)
    return made


def edited(line: str, edit: Edit) -> str:
    """Return a line with an edit; a line that is no JSON object is sent as the reason for which it is skipped."""
    try:
        record = json.loads(line)
    except ValueError:
        return "This line is not JSON." if line.strip() else line
    return (
        json.dumps(edit(record), ensure_ascii=False) if isinstance(record, dict) else "This is not an object."
    )
