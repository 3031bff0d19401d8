"""Tasks of Cline and Roo Code, and sessions of the Cline SDK.

Read are `api_conversation_history.json` (what the model read and wrote: `history`), `ui_messages.json` (what the
screen showed, with the tokens and cost of each request: `screen`), a ZIP archive of a task's folder with both, and
the SDK's `….messages.json` and `….json` of a session, also in an archive. The forms are those of
https://github.com/cline/cline/blob/main/src/shared/ExtensionMessage.ts,
https://github.com/RooCodeInc/Roo-Code/tree/main/src/core/task-persistence and sdk/packages/core of cline/cline.

The two files of a task do not name it. They are known to be one task by the text of the task and the time at which they
begin, because their first messages are written one after the other.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from timemachine.core.pure.content import text_sha256
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.zip_files import Archive, is_zip
from timemachine.recording.importing.pure.drafts import Ids, session_draft, system_event
from timemachine.recording.importing.pure.formats.cline.history import history_actions, is_history, task_of
from timemachine.recording.importing.pure.formats.cline.screen import (
    PAID,
    Request,
    is_screen,
    requests_in,
    screen_actions,
)
from timemachine.recording.importing.pure.formats.cline.tags import inner_task
from timemachine.recording.importing.pure.reader import Opening, Reader
from timemachine.recording.importing.pure.report import ParsedFile, Part, SessionDraft
from timemachine.recording.importing.pure.values import (
    list_at,
    moment,
    number,
    record_at,
    short_text,
    short_text_at,
    text_at,
)
from timemachine.recording.sessions.pure.draft import ActionDraft, copy_of
from timemachine.recording.sessions.pure.validation import key_of
from timemachine.recording.sessions.pure.vocabulary import SETTINGS

NAME: Final = "cline"
TITLE: Final = (
    "Cline or Roo Code task (api_conversation_history.json, ui_messages.json, or a .zip of the task folder)"
)
_HISTORY: Final = "api_conversation_history.json"
_SCREEN: Final = "ui_messages.json"
_MESSAGES: Final = ".messages.json"
_AGENT: Final = "cline"


def recognises(opening: Opening) -> bool:
    """Return whether it holds messages of Cline or Roo Code, is about a session of the SDK, or is an archive with such files."""
    if opening.members:
        return any(
            _plain(name) in {_HISTORY, _SCREEN} or name.endswith(_MESSAGES) for name in opening.members
        )
    if isinstance(opening.document, list):
        return any(is_history(each) or is_screen(each) for each in opening.records)
    return _is_about(opening.fields) or any(map(is_history, list_at(opening.fields, "messages")))


def read(reader: Reader) -> ParsedFile:
    """Return the sessions: one per file, or per task or session in an archive. Raises `InvalidInput` if there are none."""
    if is_zip(reader.data):
        sessions = [*_tasks(reader), *_sdk_sessions(reader)]
    else:
        document = reader.document()
        sessions = [
            _about_session(document, reader) if _is_about(document) else _session(document, [], reader, None)
        ]
    if not any(session.actions for session in sessions):
        raise reader.refusal("it has no messages.")
    return reader.parsed(sessions)


def _is_about(document: Any) -> bool:
    return text_at(document, "session_id") is not None and "messages_path" in document


def _about_session(about: JsonObject, reader: Reader) -> SessionDraft:
    """Return the session with one event: what the SDK's file about it says."""
    reader.use()
    return session_draft(
        reader.key(short_text_at(about, "session_id"), about),
        [system_event("session file", "session-file", about, about)],
        name=text_at(record_at(about, "metadata"), "title"),
        agent=_AGENT,
        started_at=moment(about.get("started_at")),
        ended_at=moment(about.get("ended_at")),
        forked_from=_forked_from(about),
    )


def _forked_from(about: JsonObject) -> str | None:
    named = short_text_at(record_at(about, "metadata", "fork"), "forkedFromSessionId")
    return None if named is None else key_of(named, NAME)


def _sdk_sessions(reader: Reader) -> Iterator[SessionDraft]:
    """Yield the sessions of the SDK in an archive. Messages from before a fork are copied."""
    archive = Archive(reader.data)
    names = frozenset(archive.names)
    for name in archive.names:
        if not name.endswith(_MESSAGES):
            continue
        session = _session(reader.document(archive.read(name)), [], reader, None)
        about_file = f"{name.removesuffix(_MESSAGES)}.json"
        about = reader.document(archive.read(about_file)) if about_file in names else {}
        if not _is_about(about):
            yield session
            continue
        file = _about_session(about, reader)
        forked_at = moment(record_at(about, "metadata", "fork").get("forkedAt"))
        copied = [
            replace(each, copied_from=copy_of(file.forked_from, each.id))
            if forked_at is not None and each.started_at is not None and each.started_at < forked_at
            else each
            for each in session.actions
        ]
        yield replace(
            session,
            key=key_of(about["session_id"], NAME),
            name=file.name,
            forked_from=file.forked_from,
            actions=(*copied, *file.actions),
        )


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
        name = ids.claim(f"session-{short_text_at(about, 'sessionId')}")  # a fork has another one
        actions.append(replace(system_event("session", name, about, about), tags=(SETTINGS,)))
    if taken:
        requests = requests_in(on_screen)
        actions += history_actions(taken, requests, ids)
        actions += _only_shown(on_screen, requests, ids)
    else:
        actions += screen_actions(on_screen, ids)
    first = next(iter([*taken, *on_screen]), about)
    named = short_text_at(about, "sessionId") or task
    part = None if named else _part(first, is_history_file=bool(taken))
    if part is not None:
        at = number(first.get("ts"))
        named = f"{part.begins}{'undated' if at is None else int(at)}-{'history' if taken else 'screen'}"
    session = session_draft(
        reader.key(named, first),
        actions,
        name=task_of(actions),
        agent=_AGENT,
        ended_at=moment(about.get("updated_at")),
        metadata={"agent": text_at(about, "agent"), "task": task, "file": part and part.name},
    )
    return replace(session, part=part, ids_are_global="sessionId" in about)


def _part(first: JsonObject, *, is_history_file: bool) -> Part | None:
    """Return which file of a task this is, from its first message; None if that has no words."""
    content = first.get("content") if is_history_file else first.get("text")
    blocks = content if isinstance(content, list) else [{"text": content}]
    words = next((text for each in blocks if (text := text_at(each, "text"))), None)
    if words is None:
        return None
    begins = f"{NAME}-{text_sha256(' '.join(inner_task(words).split()))[:12]}-"
    return Part(name=_HISTORY if is_history_file else _SCREEN, begins=begins, repeats=is_history_file)


def _listed(messages: Any) -> Sequence[Any]:
    return messages if isinstance(messages, list) else []


def _only_shown(shown: Sequence[JsonObject], requests: Sequence[Request], ids: Ids) -> list[ActionDraft]:
    """Return the requests of which the history has no answer, what else cost something, and an event with all else that the
    screen showed."""
    asked = {id(record) for request in requests for record in request.records}
    unanswered = {id(record) for request in requests if not request.answered for record in request.records}
    others = [each for each in shown if id(each) not in asked]
    made = screen_actions([each for each in shown if id(each) in unanswered or each.get("say") in PAID], ids)
    rest = [each for each in others if each.get("say") not in PAID]
    if rest:
        made.append(system_event("screen", ids.claim("screen"), rest, f"{len(rest):,} screen messages"))
    return made
