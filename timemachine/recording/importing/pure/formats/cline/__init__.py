"""Tasks of Cline and Roo Code, and sessions of the Cline SDK.

Read are `api_conversation_history.json` (what the model read and wrote: `history`), `ui_messages.json` (what the
screen showed, with the tokens and cost of each request: `screen`), a ZIP archive of a task's folder with both, and
the SDK's `….messages.json`. The forms are those of
https://github.com/cline/cline/blob/main/src/shared/ExtensionMessage.ts and
https://github.com/RooCodeInc/Roo-Code/tree/main/src/core/task-persistence.
"""

from collections.abc import Sequence
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.zip_files import Archive
from timemachine.recording.importing.pure.drafts import Ids, session_draft, system_event
from timemachine.recording.importing.pure.formats.cline.history import history_actions, is_history, task_of
from timemachine.recording.importing.pure.formats.cline.screen import (
    Request,
    is_screen,
    requests_in,
    screen_actions,
)
from timemachine.recording.importing.pure.reader import Opening, Reader
from timemachine.recording.importing.pure.report import ParsedFile, SessionDraft
from timemachine.recording.importing.pure.values import list_at, moment, short_text, short_text_at, text_at
from timemachine.recording.sessions.pure.draft import ActionDraft

NAME: Final = "cline"
TITLE: Final = (
    "a task of Cline or Roo Code (api_conversation_history.json, ui_messages.json, or a .zip of its folder)"
)
_HISTORY: Final = "api_conversation_history.json"
_SCREEN: Final = "ui_messages.json"
_AGENT: Final = "cline"


def recognises(opening: Opening) -> bool:
    """Return whether it holds messages of Cline or Roo Code, or is an archive with one of their files."""
    if opening.members:
        return any(_plain(name) in {_HISTORY, _SCREEN} for name in opening.members)
    if isinstance(opening.document, list):
        return any(is_history(each) or is_screen(each) for each in opening.records)
    return any(map(is_history, list_at(opening.fields, "messages")))


def read(reader: Reader) -> ParsedFile:
    """Return the sessions: one per file, or per task folder in an archive. Raises `InvalidInput` if there are none."""
    if reader.data[:2] == b"PK":
        sessions = list(_tasks(reader))
    else:
        sessions = [_session(reader.document(), [], reader, None)]
    if not any(session.actions for session in sessions):
        raise reader.refusal("it has no messages.")
    return reader.parsed(sessions)


def _plain(name: str) -> str:
    return name.rpartition("/")[2]


def _tasks(reader: Reader) -> list[SessionDraft]:
    """Return a session for each folder, which Cline names by the id of the task."""
    archive = Archive(reader.data)
    folders: dict[str, dict[str, str]] = {}
    for name in archive.names:
        if _plain(name) in {_HISTORY, _SCREEN}:
            folders.setdefault(name.rpartition("/")[0], {})[_plain(name)] = name
    found = []
    for folder, names in folders.items():
        history, screen = (
            reader.document(archive.read(names[each])) if each in names else []
            for each in (_HISTORY, _SCREEN)
        )
        found.append(_session(history, screen, reader, short_text(_plain(folder))))
    return found


def _session(held: Any, shown: Any, reader: Reader, task: str | None) -> SessionDraft:
    about = (
        {name: value for name, value in held.items() if name != "messages"} if isinstance(held, dict) else {}
    )
    messages = list_at(held, "messages") if isinstance(held, dict) else held
    if isinstance(messages, list) and any(map(is_screen, messages)):
        messages, shown = [], messages
    taken = [each for each in _listed(messages) if reader.takes(each, "a message")]
    on_screen = [each for each in _listed(shown) if reader.takes(each, "a message")]
    ids = Ids()
    actions: list[ActionDraft] = []
    if about:
        reader.use()
        actions.append(system_event("session", ids.claim("session"), about, about))
    if taken:
        requests = requests_in(on_screen)
        actions += history_actions(taken, requests, ids)
        actions += _only_shown(on_screen, requests, ids)
    else:
        actions += screen_actions(on_screen, ids)
    first = next(iter([*taken, *on_screen]), about)
    return session_draft(
        reader.key(short_text_at(about, "sessionId") or task, first),
        actions,
        name=task_of(actions),
        agent=_AGENT,
        ended_at=moment(about.get("updated_at")),
        metadata={"agent": text_at(about, "agent"), "task": task},
    )


def _listed(messages: Any) -> Sequence[Any]:
    return messages if isinstance(messages, list) else []


def _only_shown(shown: Sequence[JsonObject], requests: Sequence[Request], ids: Ids) -> list[ActionDraft]:
    """Return the requests of which the history has no answer, and an event with all else that the screen showed."""
    made = [
        action
        for request in requests
        if not request.answered
        for action in screen_actions(request.records, ids)
    ]
    asked = {id(record) for request in requests for record in request.records}
    rest = [each for each in shown if id(each) not in asked]
    if rest:
        made.append(
            system_event("screen", ids.claim("screen"), rest, f"{len(rest):,} messages of the screen")
        )
    return made
