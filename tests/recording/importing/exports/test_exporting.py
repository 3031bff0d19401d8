"""Exporting and importing again gives the same session; an export is consistent and takes constant memory."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.builders import recorded_session
from tests.recording.importing.own_samples import OURS
from tests.recording.importing.sample_files import lines
from tests.strategies import objects, sessions, texts, times, words
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import parse_time
from timemachine.core.pure.content import text_sha256
from timemachine.core.pure.errors import Conflict, InvalidInput
from timemachine.core.pure.streams import CUT_OFF
from timemachine.evidence.sealing import session_deletion
from timemachine.recording.importing import exporting
from timemachine.recording.importing.commands import import_file
from timemachine.recording.importing.exporting import EXPORTS, exact, export_session
from timemachine.recording.importing.pure.exports import otlp_json
from timemachine.recording.importing.pure.registry import FORMATS
from timemachine.recording.sessions.commands import append, end_session, start_session
from timemachine.recording.sessions.deletions import erase_session
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.timeline.schemas.actions import with_everything

pytestmark = pytest.mark.django_db


def action_rows(session: Session) -> list[dict[str, Any]]:
    """All row values of a session's actions, except row ids and times of recording."""
    found = []
    for action in with_everything(Action.objects.filter(session=session).order_by("sequence")):
        payloads = [getattr(action, name) for name in ("input", "output", "source")]
        found.append(
            {
                **exact(action),
                "recorded_at": None,
                "label": action.label,
                "parents": (action.parent_id_given, action.parent_sequence),
                "payloads": [each and (each.media_type, each.sha256) for each in payloads],
                "texts": [each.payload and each.payload.sha256 for each in action.hits.all()],
                "kept": action.retrieval,
            }
        )
    return found


def session_row(session: Session) -> dict[str, Any]:
    """The row values of a session, except who created it, when and where."""
    excluded = {"id", "project_id", "collection_id", "parent_id", "created_at", "created_by", "imported_as", "last_action_at", "_state"}  # fmt: skip
    return {name: value for name, value in session.__dict__.items() if name not in excluded}


def exported(session: Session, format_name: str | None = None) -> bytes:
    return b"".join(export_session(session, format_name).parts)


def imported(project: Project, data: bytes) -> Session:
    return import_file(project, data, by="test").sessions[0].session


def recorded(project: Project, some: Sequence[ActionDraft], **fields: Any) -> Session:
    session = start_session(project, name="Läufe 🕰", by="test", **fields)
    append(session.id, some)
    return end_session(session.id)


heads = st.fixed_dictionaries(
    {
        "name": texts.filter(lambda text: bool(text.strip())),
        "metadata": objects,
        "tags": st.lists(texts, max_size=2),
        "agent": words,
        "user": words,
        "started_at": times,
    }
)


@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(sessions(), heads, st.booleans())
def test_an_exported_and_imported_session_is_the_same(
    project: Project, some: list[ActionDraft], head: dict[str, Any], has_ended: bool
) -> None:
    first = start_session(project, by="test", **head)
    append(first.id, some)
    if has_ended:
        end_session(first.id)
    first.refresh_from_db()
    elsewhere = Project.objects.create(name=f"other {first.key}")
    data = exported(first)
    second = imported(elsewhere, data)
    second.refresh_from_db()
    assert action_rows(second) == action_rows(first)
    assert session_row(second) == session_row(first) | ({} if has_ended else {"status": "ended"})
    repeated = exported(second).split(b"\n")
    assert [without_moment(line) for line in repeated[1:]] == [
        without_moment(line) for line in data.split(b"\n")[1:]
    ]
    assert import_file(elsewhere, data, by="test").sessions[0].already_there == len(action_rows(first))


def without_moment(line: bytes) -> Any:
    return {**json.loads(line), "recorded_at": None} if line else None


def test_a_session_exported_while_recording_has_no_end_until_a_later_export(project: Project) -> None:
    session = start_session(
        project, name="n", key="k", by="test", started_at=parse_time("2026-11-20T09:00:00Z")
    )
    append(session.id, [ActionDraft(kind="event")])
    elsewhere = Project.objects.create(name="elsewhere")
    there = imported(elsewhere, exported(session))
    assert (there.status, there.started_at, there.ended_at) == ("ended", session.started_at, None)
    ended = end_session(session.id)
    assert imported(elsewhere, exported(session)).ended_at == ended.ended_at


def test_a_session_imported_without_times_is_exported_without_times(project: Project) -> None:
    chat = b'{"messages": [{"role": "user", "content": "Hi"}]}'
    session = imported(project, chat)
    assert (session.is_undated, session.began_at, session.ended_at) == (True, None, None)
    head = json.loads(exported(session).splitlines()[0])
    assert (head["started_at"], head["ended_at"]) == (None, None)
    there = imported(Project.objects.create(name="elsewhere"), exported(session))
    assert (there.is_undated, there.status) == (True, "ended")


def test_an_erased_session_can_be_imported_again_with_its_key(project: Project) -> None:
    session = recorded_session(project)
    data, before, key = exported(session), action_rows(session), session.key
    with pytest.raises(Conflict, match="was recorded here"):
        imported(project, data)
    erase_session(session)
    back = imported(project, data)
    assert (back.key, action_rows(back), back.imported_as) == (key, before, "timemachine")


def test_a_branch_keeps_its_parent_step(project: Project) -> None:
    parent = recorded_session(project)
    branch = recorded(project, [ActionDraft(kind="event")], parent=(parent, 2))
    data = exported(branch)
    erase_session(branch)
    back = imported(project, data)
    assert (back.parent_id, back.parent_sequence) == (parent.id, 2)


def test_a_branch_of_a_deleted_session_is_relinked_when_its_parent_is_imported(
    project: Project,
) -> None:
    parent = recorded_session(project)
    of_parent = exported(parent)
    branch = recorded(project, [ActionDraft(kind="event")], parent=(parent, 2))
    session_deletion.erase_session(parent, by="test")
    branch.refresh_from_db()
    data, erased = exported(branch), branch.parent_erased
    exported_parent = json.loads(data.splitlines()[0])["parent"]
    assert exported_parent == {"key": None, "sequence": 2, "deleted": str(erased)}
    erase_session(branch)
    back = imported(project, data)
    assert (back.has_lost_parent, back.parent_sequence, back.parent_erased) == (True, 2, erased)
    assert exported(back).splitlines()[0].count(str(erased).encode()) == 1
    reimported = imported(project, of_parent)
    back.refresh_from_db()
    assert (back.parent, back.parent_sequence, back.parent_erased) == (reimported, 2, None)


def test_a_branch_keeps_the_step_of_a_deleted_parent_with_an_unknown_id(project: Project) -> None:
    parent = recorded_session(project)
    branch = recorded(project, [ActionDraft(kind="event")], parent=(parent, 2))
    erase_session(parent)
    Session.objects.filter(id=branch.id).update(parent_erased=None)
    branch.refresh_from_db()
    data = exported(branch)
    erase_session(branch)
    back = imported(project, data)
    assert (back.has_lost_parent, back.parent_sequence, back.parent_erased) == (True, 2, None)


def test_an_export_names_a_parent_that_is_not_imported_yet(project: Project, other_project: Project) -> None:
    branch = start_session(project, name="Branch", by="test", parent=("not-here", 4))
    back = imported(other_project, exported(end_session(branch.id)))
    assert (back.parent, back.parent_key, back.parent_sequence) == (None, "not-here", 4)


@pytest.mark.parametrize("name", ["otlp_json", "atif", "zip"])
def test_importing_a_session_in_another_format_does_not_duplicate_its_steps(
    project: Project, other_project: Project, name: str
) -> None:
    session = recorded_session(project)
    copy = imported(other_project, exported(session))
    with pytest.raises(Conflict, match="imported from another format"):
        imported(other_project, exported(session, name))
    copy.refresh_from_db()
    assert copy.last_sequence == session.last_sequence


def test_a_later_export_of_a_recording_session_adds_its_new_steps(
    project: Project, other_project: Project
) -> None:
    session = start_session(project, name="Live", by="test")
    append(session.id, [ActionDraft(kind="event", output=1), ActionDraft(kind="event", output=2)])
    file = export_session(session)
    early = b"".join(file.parts)
    assert (file.through, json.loads(early.split(b"\n")[0])["through"]) == (2, 2)
    copy = imported(other_project, early)
    assert (copy.status, copy.last_sequence) == ("ended", 2)
    append(session.id, [ActionDraft(kind="event", output=3)])
    grown = import_file(other_project, exported(session), by="test").sessions[0]
    assert (grown.actions, grown.already_there, grown.session.last_sequence) == (3, 2, 3)
    shorter = import_file(other_project, early, by="test").sessions[0]
    assert (shorter.actions, shorter.already_there) == (2, 2)


def test_another_session_with_the_same_key_is_refused(project: Project) -> None:
    imported(project, lines(*OURS))
    other = [*OURS[:3], {**OURS[3], "output": "Bye"}]
    with pytest.raises(Conflict, match="its step 3 differs"):
        imported(project, lines(*other))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda found: found.pop(), "it is truncated: it should end with step 3, but has 2"),
        (lambda found: found.pop(1), "line 2: It is step 2, but step 1 was expected. A line is missing"),
        (lambda found: found[0].update(version=2), "it has version 2 of the format"),
        (lambda found: found[0].update(key="no key"), "line 1: The key 'no key'"),
        (
            lambda found: found[0].update(parent={"key": "a", "sequence": -1}),
            "`parent.sequence` has an invalid value",
        ),
        (
            lambda found: found[0].update(parent={"deleted": "nothing"}),
            "`parent.deleted` has an invalid value",
        ),
        (lambda found: found[0].update(parent={"key": "a b"}), "line 1: The key 'a b'"),
        (lambda found: found[0].update(name=" "), "the session has no name"),
        (lambda found: found[0].update(format="else"), "line 1 does not have `format`"),
        (lambda found: found[1].update(id="call"), "two of its steps have the same id"),
        (lambda found: found[1].update(tags="x"), "line 2: `tags`"),
        (lambda found: found[1].update(started_at="yesterday"), "line 2: 'yesterday' is not a time"),
        (lambda found: found[1].update(cost_usd="much"), "line 2: An amount of money is not a number"),
        (lambda found: found[1].update(cost_usd="NaN"), "line 2: `cost_usd`"),
        (lambda found: found[1].update(retrieval=[]), "line 2: `retrieval`"),
        (lambda found: found[1].update(retrieval={"hits": {}}), "line 2: `retrieval.hits`"),
        (lambda found: found[1].update(retrieval={"hits": [{}]}), "line 2: `retrieval.hits.rank`"),
        (lambda found: found[1].update(duration_ms=10**400), "line 2: `action.duration_ms`"),
    ],
)
def test_an_incomplete_file_is_refused_with_the_line(change: Any, reason: str) -> None:
    found = json.loads(json.dumps(OURS))
    change(found)
    with pytest.raises(InvalidInput) as refused:
        FORMATS["timemachine"].read(lines(*found))
    assert reason in refused.value.message


def test_an_unknown_format_is_refused_with_the_known_ones(project: Project) -> None:
    with pytest.raises(InvalidInput, match="timemachine") as refused:
        export_session(recorded_session(project), "word")
    assert refused.value.facts["known"] == list(EXPORTS)


@pytest.mark.parametrize("name", EXPORTS)
def test_a_session_erased_during_the_export_gives_no_complete_looking_file(
    project: Project, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "AT_ONCE", 10)
    monkeypatch.setattr(otlp_json, "IN_A_REQUEST", 10)
    texts = ["".join(text_sha256(f"{n} {m}") for m in range(400)) for n in range(25)]
    session = recorded(project, [ActionDraft(kind="event", output=text) for text in texts])
    file = export_session(session, name)
    some = [next(file.parts)]
    erase_session(session)
    with pytest.raises(Conflict, match="deleted during the export"):
        some.extend(file.parts)
    data = b"".join(some)
    assert data.endswith(CUT_OFF)
    if name == "otlp_json":  # each line of that is complete in itself
        assert len(import_file(project, data, by="test").report.skipped) == 1
        return
    with pytest.raises(InvalidInput):
        import_file(project, data, by="test")


def test_large_steps_are_read_one_by_one(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    session = recorded(project, [ActionDraft(kind="event", output="x" * 1_000) for _ in range(5)])
    monkeypatch.setattr(exporting, "BYTES_AT_ONCE", 2_500)
    with CaptureQueriesContext(connection) as queries:
        data = exported(session)
    assert data.count(b"\n") == 6
    assert sum('"tm_action"."label"' in each["sql"] for each in queries) == 3


def test_the_number_of_queries_grows_with_batches_and_not_with_actions(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "AT_ONCE", 20)

    def queries_of_export(actions: int) -> int:
        session = recorded(
            project,
            [ActionDraft(kind="event", id=f"{n}", parent=f"{n - 1}", output=n) for n in range(actions)],
        )
        with CaptureQueriesContext(
            connection,
        ) as queries:
            exported(session)
        return len(queries)

    assert queries_of_export(20) == queries_of_export(5)
    assert queries_of_export(40) <= queries_of_export(20) + 4
