"""Exports of sessions with erased fields, and of sessions written to meanwhile."""

import json
import zipfile
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from itertools import count
from threading import Event
from typing import Any

import pytest

from tests.builders import QUESTIONS, recorded_session
from tests.governance.deletion.erasure.canary import BIRDS, CANARY, EVERY_FIELD, erased, full_action
from tests.recording.importing.exports.test_exporting import (
    action_rows,
    exported,
    imported,
    recorded,
    session_row,
)
from tests.recording.importing.exports.test_exports import CONVERSATION, actions_in, exported_actions
from tests.recording.importing.sample_files import read
from tests.threads import in_a_thread
from timemachine.core.accounts.models import Project
from timemachine.recording.importing import exporting
from timemachine.recording.importing.exporting import EXPORTS, export_session
from timemachine.recording.sessions.commands import append, end_session, start_session
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.draft import ActionDraft

SECRET = "The safe opens with 4711 and a kick"
MARK = "[erased: field]"


def text_in(data: bytes) -> str:
    """The complete text of an unpacked export."""
    if not data.startswith(b"PK"):
        return data.decode()
    with zipfile.ZipFile(BytesIO(data)) as archive:
        return "\n".join(archive.read(name).decode() for name in archive.namelist())


def whole_actions(data: bytes, name: str) -> list[dict[str, Any]]:
    """The complete actions in an export, in order."""
    if name == "timemachine":
        return exported_actions(data)
    if name == "otlp_json":
        return actions_in(data)
    if name == "atif":
        return [action for step in json.loads(data)["steps"] for action in step["extra"]["timemachine"]]
    with zipfile.ZipFile(BytesIO(data)) as archive:
        events = [json.loads(line)["action"] for line in archive.read("events.jsonl").splitlines()]
        snapshots = [each["action"] for each in json.loads(archive.read("snapshots.json"))]
    return sorted([*events, *snapshots], key=lambda action: action["sequence"])


def last_in(data: bytes, name: str) -> int:
    """The last sequence stated in the export."""
    if name == "timemachine":
        metadata = json.loads(data.split(b"\n")[0])
    elif name == "otlp_json":
        resource = json.loads(data.splitlines()[-1])["resourceSpans"][0]["resource"]
        pairs = {each["key"]: each["value"]["stringValue"] for each in resource["attributes"]}
        metadata = json.loads(pairs["timemachine.session"])
    elif name == "atif":
        metadata = json.loads(data)["extra"]["timemachine"]
    else:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            metadata = json.loads(archive.read("metadata.json"))
    return int(metadata["through"])


def seen(action: dict[str, Any]) -> dict[str, Any]:
    """An action as the API shows it, without the database form of unrecorded values."""
    return {name: value for name, value in action.items() if name != "kept"}


def conversation_with_a_secret(project: Project) -> Session:
    """One step of every kind, each with the secret in its input or output."""
    more = [
        ActionDraft(kind="message", role="user", output=SECRET),
        ActionDraft(kind="tool_call", tool="safe", call_id="s1", input={"say": SECRET}),
        ActionDraft(kind="tool_result", tool="safe", call_id="s1", output=SECRET),
        ActionDraft(kind="llm_call", model="openai:gpt-x", input=SECRET, output=SECRET),
        ActionDraft(kind="checkpoint", name="at the safe", output={"messages": [SECRET]}),
    ]
    return recorded(project, [*CONVERSATION, *more], key="safe")


def imported_elsewhere(data: bytes, name: str) -> Session:
    """The session of an export, imported into another project."""
    return imported(Project.objects.create(name=name), data)


@pytest.mark.django_db
def test_erased_text_is_marked_in_exports_which_can_be_imported_again(
    project: Project,
) -> None:
    session = conversation_with_a_secret(project)
    assert [name for name in EXPORTS if SECRET in text_in(exported(session, name))] == list(EXPORTS)
    erased(session, fields=["input", "output"], steps=[len(CONVERSATION) + each for each in range(1, 6)])
    for name in EXPORTS:
        data = exported(session, name)
        assert SECRET not in text_in(data), name
        marked = [each["sequence"] for each in whole_actions(data, name) if MARK in json.dumps(each)]
        assert marked == [len(CONVERSATION) + each for each in range(1, 6)], name
        (found,) = read(data).sessions
        assert sum(MARK in f"{each.input} {each.output}" for each in found.actions) >= 4, name
        assert SECRET not in str(found), name
        assert imported_elsewhere(data, name).last_sequence == len(found.actions), name


@pytest.mark.django_db
@pytest.mark.parametrize("chosen", [{"profile": BIRDS}, {"fields": EVERY_FIELD}], ids=["profile", "fields"])
def test_a_partly_erased_session_can_be_exported_and_imported(
    project: Project, chosen: dict[str, Any]
) -> None:
    session = recorded(
        project, [full_action(each) for each in range(3)], tags=[CANARY], metadata={CANARY: {"in": CANARY}}
    )
    erased(session, **chosen)
    for name in EXPORTS:
        data = exported(session, name)
        if "profile" in chosen:
            assert CANARY.lower() not in text_in(data).lower(), name
        assert [each["sequence"] for each in whole_actions(data, name)] == [1, 2, 3], name
        copy = imported_elsewhere(data, name)
        copy.refresh_from_db()
        if name == "timemachine":
            assert [seen(each) for each in action_rows(copy)] == [seen(each) for each in action_rows(session)]
            assert session_row(copy) == session_row(session)


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["retrieval.hits[*].text", "retrieval.hits"])
def test_finds_with_erased_passages_are_exported_and_imported(project: Project, path: str) -> None:
    session = recorded_session(project, questions=QUESTIONS[:1])
    erased(session, fields=[path])
    for name in EXPORTS:
        copy = imported_elsewhere(exported(session, name), name)
        assert copy.last_sequence, name
        if name == "timemachine":
            assert action_rows(copy) == action_rows(session)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", ["timemachine", "zip"])
def test_an_export_is_consistent_while_another_connection_writes(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "AT_ONCE", 20)
    session = start_session(Project.objects.create(name="p"), name="Live", by="test", key="live")
    numbers = count(1)
    append(session.id, [ActionDraft(kind="event", output=next(numbers)) for _ in range(50)])
    stop = Event()

    def write() -> None:
        while not stop.is_set():
            append(session.id, [ActionDraft(kind="event", output=next(numbers)) for _ in range(3)])

    def recorded_now() -> int:
        return Action.objects.filter(session=session).count()

    overlapped = 0
    with ThreadPoolExecutor(1) as pool:
        writing = in_a_thread(pool, write)
        try:
            while overlapped < 2 and not writing.done():
                before = recorded_now()
                file = export_session(session, name)
                overlapped += recorded_now() > before
                data = b"".join(file.parts)
                assert last_in(data, name) == file.through >= before
                found = [(each["sequence"], each["output"]) for each in whole_actions(data, name)]
                assert found == [(each, each) for each in range(1, file.through + 1)]
        finally:
            stop.set()
        writing.result(60)
    assert end_session(session.id).last_sequence == recorded_now() > file.through
