"""What pages show of a session besides its records: a changed label, total, status or time is found and named."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Final

import pytest

from tests.builders import recorded_session, tamper
from tests.evidence.sessions import checked, compared_with_its_seal, long_session, message
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import written
from timemachine.evidence.bundles import exporting
from timemachine.evidence.log.keys import key_in_use
from timemachine.evidence.models import Seal, SealCheckpoint
from timemachine.evidence.pure.checkpoint import CLOSED, OPEN
from timemachine.governance.deletion.erasure import commands as erasing
from timemachine.recording.sessions.commands import append, describe, end_imported, end_session, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage, copy_of
from timemachine.verifier import tm_verify

pytestmark = pytest.mark.django_db
OTHER_DAY: Final = "2020-02-20T20:20:20Z"
OF_SESSION: Final = "UPDATE tm_session SET {} WHERE id = %s"
ALTERATIONS: Final = {
    "a label": (
        "UPDATE tm_action SET label = 'Nothing happened' WHERE session_id = %s AND sequence = 2",
        ("label", 2, "Its label is “Nothing happened”. It must be “How long are invoices kept?”."),
        None,
    ),
    "a cost": (
        OF_SESSION.format("cost_usd = 12.5"),
        ("total", None, "cost in US dollars (cost_usd) is 12.5. Its steps add up to 0."),
        None,
    ),
    "tokens": (
        OF_SESSION.format("input_tokens = 7"),
        ("total", None, "input tokens (input_tokens) is 7. Its steps add up to "),
        None,
    ),
    "errors": (
        OF_SESSION.format("error_count = 2"),
        ("total", None, "number of errors (error_count) is 2. Its steps add up to 0."),
        None,
    ),
    "cached answers": (
        OF_SESSION.format("cached_calls = 3, saved_usd = 1"),
        ("total", None, "saved US dollars (saved_usd) is 1. Its steps add up to unknown."),
        None,
    ),
    "the number of steps": (
        OF_SESSION.format("last_sequence = 3"),
        ("total", None, "number of steps (last_sequence) is 3. Its steps add up to 7."),
        None,
    ),
    "a cost by model": (
        "UPDATE tm_usage SET cost_usd = 0.25 WHERE session_id = %s AND kind = 'find'",
        (
            "total",
            None,
            "cost_usd is 0.25. Its steps add up to unknown.",
        ),
        None,
    ),
    "tokens of the timeline": (
        "UPDATE tm_bin SET input_tokens = 1000000 WHERE session_id = %s AND kind = 'find'",
        (
            "total",
            None,
            "The counts along the timeline (0, find): input_tokens is 1000000. Its steps add up to",
        ),
        None,
    ),
    "a start on the timeline": (
        f"UPDATE tm_bin SET first = '{OTHER_DAY}' WHERE session_id = %s AND kind = 'find'",
        (
            "total",
            None,
            f"The counts along the timeline (0, find): first is {OTHER_DAY}. It must be",
        ),
        None,
    ),
    "a status": (
        OF_SESSION.format("status = 'recording'"),
        ("status", None, "status (status) is recording. It must be ended."),
        ("status", "statement.json"),
    ),
    "an end": (
        OF_SESSION.format(f"ended_at = '{OTHER_DAY}'"),
        ("time", None, f"end (ended_at) is {OTHER_DAY}. It must be "),
        ("time", "statement.json"),
    ),
    "no end": (
        OF_SESSION.format("ended_at = NULL"),
        ("time", None, "end (ended_at) is unknown. It must be "),
        ("time", "statement.json"),
    ),
    "a start": (
        OF_SESSION.format(f"started_at = '{OTHER_DAY}'"),
        ("time", None, f"start (started_at) is {OTHER_DAY}. It must be "),
        ("field", "session record 0 about"),
    ),
    "that it has no times": (
        OF_SESSION.format("is_undated = true"),
        ("time", None, "start (started_at) is unknown. It must be "),
        None,
    ),
    "the time of the last step": (
        OF_SESSION.format(f"last_action_at = '{OTHER_DAY}'"),
        ("time", None, f"time of the last step (last_action_at) is {OTHER_DAY}. It must be "),
        None,
    ),
    "the time of a step": (
        f"UPDATE tm_action SET recorded_at = '{OTHER_DAY}' WHERE session_id = %s AND sequence = 2",
        ("changed", 2, f"Its time is {OTHER_DAY}. It must be "),
        None,
    ),
}


def bundle_of(session: Session, folder: Path) -> tuple[tm_verify.Report, Path]:
    """Return the verifier's report on a fresh bundle of the session, and the bundle."""
    target = folder / "fresh.zip"
    with target.open("wb") as file:
        exporting.write_session(file, session)
    return tm_verify.verify(str(target), key_in_use(session.project).fingerprint), target


@pytest.mark.parametrize("name", ALTERATIONS)
def test_a_changed_value_is_named_by_the_check_and_where_it_is_in_a_bundle_by_the_verifier(
    project: Project, tmp_path: Path, name: str
) -> None:
    statement, (code, index, says), in_bundle = ALTERATIONS[name]
    session = recorded_session(project)
    assert checked(session) == []
    assert tamper(statement, [str(session.id)]) == 1
    found = compared_with_its_seal(session).problems
    named = [each for each in found if (each["code"], each["index"]) == (code, index)]
    assert any(says in each["says"] for each in named), found
    assert code != "total" or all(each["code"] == "total" for each in found), found
    report, _ = bundle_of(session, tmp_path)
    places = {(each["code"], each["where"]) for each in report.problems}
    if in_bundle:
        assert in_bundle in places, report.problems
    assert compared_with_its_seal(session).problems == found  # the export hides nothing


def test_an_intact_session_with_costs_tokens_errors_and_cached_answers_passes(
    project: Project, tmp_path: Path
) -> None:
    session = start_session(project, name="All", by="test")
    usage = Usage(input_tokens=10, output_tokens=3, total_tokens=13)
    drafts = [
        ActionDraft(
            kind="llm_call",
            model="a:b",
            input=[{"role": "user", "content": "Who\npays?"}],
            output="Ada.",
            usage=usage,
            cost_usd=Decimal("0.000123"),
        ),
        ActionDraft(kind="llm_call", model="a:b", input={"b": 1, "a": [True, None, 1.5]}, usage=usage),
        ActionDraft(kind="llm_call", model="a:b", output="Ada.", cached=True, saved_usd=Decimal("0.5")),
        ActionDraft(kind="llm_call", model="a:b", output="Ada.", cached=True),
        ActionDraft(
            kind="tool_call",
            tool="ls",
            name="shell",
            input=" " * 3_000 + "docs",
            error_message="No such\x00 folder \ud800.",
        ),
        ActionDraft(kind="tool_result", tool="ls", output={"z": {}, "content": ["", {"text": "x " * 900}]}),
        ActionDraft(kind="event", output=[]),
        ActionDraft(kind="event"),
    ]
    append(session.id, drafts)
    end_session(session.id)
    assert checked(session) == []
    report, _ = bundle_of(Session.objects.get(id=session.id), tmp_path)
    assert report.problems == []


def test_a_session_of_copied_steps_only_is_intact(project: Project) -> None:
    session = start_session(project, name="Copied", by="test")
    usage = Usage(input_tokens=10, output_tokens=3)
    copy = ActionDraft(kind="llm_call", model="a:b", usage=usage, error_message="No.", copied_from=copy_of())
    append(session.id, [copy, copy])
    end_session(session.id)
    assert checked(session) == []


def test_altered_steps_do_not_tell_what_the_totals_must_be(project: Project) -> None:
    session = recorded_session(project)
    assert checked(session) == []
    tamper(
        "UPDATE tm_action SET input_tokens = 999, label = 'x' WHERE session_id = %s AND sequence = 2",
        [str(session.id)],
    )
    assert [each["code"] for each in compared_with_its_seal(session).problems] == ["changed"]


def test_the_label_of_a_model_call_is_made_again_from_its_answer(project: Project) -> None:
    session = long_session(project, 1)
    said = {"content": [{"type": "text", "text": "I look."}, {"type": "tool_use", "id": "1", "name": "Bash"}]}
    same = [ActionDraft(kind=kind, output=said) for kind in ("llm_call", "event")]
    append(session.id, [*same, ActionDraft(kind="llm_call", input=said)])
    assert list(session.actions.order_by("sequence").values_list("label", flat=True))[1:] == [
        "Bash · I look.",
        "I look.",
        "I look.",
    ]
    assert checked(session) == []
    tamper(
        "UPDATE tm_action SET label = 'Read · I look.' WHERE session_id = %s AND sequence = 2",
        [str(session.id)],
    )
    (problem,) = compared_with_its_seal(session).problems
    assert problem["says"] == "Its label is “Read · I look.”. It must be “Bash · I look.”."


def test_the_label_of_bytes_that_cannot_be_read_is_not_guessed(project: Project) -> None:
    session = long_session(project, 3)
    append(session.id, [ActionDraft(kind="event", output={"text": "all is well"})])
    assert checked(session) == []
    change = "UPDATE tm_payload SET data = '{', size = 1, packed = false WHERE id = (SELECT output_id FROM tm_action WHERE session_id = %s AND sequence = 4)"
    assert tamper(change, [str(session.id)]) == 1
    (problem,) = compared_with_its_seal(session).problems
    assert problem["says"] == "The field output does not match what was sealed."


def test_a_status_without_a_matching_end_is_named_before_the_end_is_sealed(project: Project) -> None:
    session = long_session(project, 2)
    assert checked(session) == []
    for change, says in (
        ("status = 'ended'", "status is ended, but it has no end"),
        (
            f"status = 'recording', ended_at = '{OTHER_DAY}'",
            "status is recording, but it has an end (ended_at), 2020-02-20",
        ),
    ):
        tamper(OF_SESSION.format(change), [str(session.id)])
        (problem,) = compared_with_its_seal(session).problems
        assert (problem["code"], says in problem["says"]) == ("status", True)


def test_a_session_that_ends_or_is_renamed_after_its_seal_is_intact(project: Project, tmp_path: Path) -> None:
    session = long_session(project, 2)
    assert checked(session) == []
    describe(session, name="Another name", tags=["x"], metadata={"a": 1})
    append(session.id, [message("later")])
    end_session(session.id)
    assert compared_with_its_seal(session).problems == []
    assert checked(Session.objects.get(id=session.id)) == []
    report, _ = bundle_of(Session.objects.get(id=session.id), tmp_path)
    assert (report.problems, report.result) == ([], "verified")


def test_an_ended_session_that_seems_to_go_on_is_named(project: Project, tmp_path: Path) -> None:
    session = long_session(project, 2)
    end_session(session.id)
    assert checked(session) == []
    tamper(OF_SESSION.format("status = 'recording', ended_at = NULL"), [str(session.id)])
    append(session.id, [message("forged")])
    found = checked(Session.objects.get(id=session.id))
    assert [each["says"] for each in found] == [
        "The session's status (status) is recording. It must be ended."
    ]
    report, _ = bundle_of(Session.objects.get(id=session.id), tmp_path)
    codes = {(each["code"], each["where"]) for each in report.problems}
    assert codes == {
        ("status", "statement.json"),
        ("time", "statement.json"),
        ("status", "session checkpoint 2"),
    }


def test_an_import_of_a_grown_file_moves_the_end_and_both_ends_stay_signed(
    project: Project, tmp_path: Path
) -> None:
    first, later = datetime(2026, 5, 1, tzinfo=UTC), datetime(2026, 5, 2, tzinfo=UTC)
    session = start_session(project, name="x", by="test", imported_as="a file")
    append(session.id, [message("one")], imported=True)
    end_imported(session.id, ended=first)
    assert checked(Session.objects.get(id=session.id)) == []
    end_imported(session.id, ended=later)
    assert compared_with_its_seal(session).problems == []
    assert Seal.objects.get(session=session).state == OPEN
    assert checked(Session.objects.get(id=session.id)) == []
    assert Seal.objects.get(session=session).state == CLOSED
    append(session.id, [message("two")], imported=True)
    end_imported(session.id, ended=later + timedelta(hours=1))
    assert checked(Session.objects.get(id=session.id)) == []
    report, _ = bundle_of(Session.objects.get(id=session.id), tmp_path)
    assert report.problems == []
    end_imported(session.id, ended=first)
    assert Seal.objects.get(session=session).state == CLOSED
    tamper(OF_SESSION.format(f"ended_at = '{written(first)}'"), [str(session.id)])
    (problem,) = compared_with_its_seal(session).problems
    assert (
        problem["says"]
        == "The session's end (ended_at) is 2026-05-01T00:00:00Z. It must be 2026-05-02T01:00:00Z."
    )


def test_a_deleted_step_keeps_the_label_of_its_deletion(project: Project) -> None:
    session = recorded_session(project)
    assert checked(session) == []
    erasing.delete_turn(session.actions.get(sequence=2), reason="asked for", by="Oskar")
    assert compared_with_its_seal(session).problems == []
    tamper(
        "UPDATE tm_action SET label = '[deleted: turn] 2020-02-20 20:20 UTC' WHERE session_id = %s AND sequence = 2",
        [str(session.id)],
    )
    (problem,) = compared_with_its_seal(session).problems
    assert "It must be “[deleted: turn] 2" in problem["says"]


def test_a_changed_total_is_named_beside_a_changed_checkpoint(project: Project) -> None:
    session = recorded_session(project)
    assert checked(session) == []
    tamper("UPDATE tm_seal SET signed_size = 1 WHERE session_id = %s", [str(session.id)])
    tamper(OF_SESSION.format("cost_usd = 12.5"), [str(session.id)])
    assert {each["code"] for each in compared_with_its_seal(session).problems} == {"checkpoint", "total"}


def test_a_key_that_seems_to_be_replaced_is_named_with_what_the_log_says(project: Project) -> None:
    session = recorded_session(project)
    assert checked(session) == []
    tamper("UPDATE tm_signing_key SET replaced_at = %s", [OTHER_DAY])
    (problem,) = compared_with_its_seal(session).problems
    fingerprint = SealCheckpoint.objects.get().key.fingerprint
    assert problem["says"] == (
        f"According to the database, the key {fingerprint} was replaced at {OTHER_DAY}. "
        "According to the log, it was not replaced."
    )


def test_a_deletion_that_is_only_in_the_log_is_named(project: Project) -> None:
    session = recorded_session(project)
    assert checked(session) == []
    erasing.delete_turn(session.actions.get(sequence=2), reason="asked for", by="Oskar")
    tamper("DELETE FROM tm_erased_turn WHERE session_id = %s", [str(session.id)])
    (problem,) = compared_with_its_seal(session).problems
    assert problem["says"].startswith("The log says that the step was erased at 2")
    assert problem["says"].endswith("by Oskar (asked for). The database has no such row.")
