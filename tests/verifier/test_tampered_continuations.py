"""The tampering lab for continuations: a changed origin, end, result, request or mark of a person is detected in the database and in
the bundle of the branch."""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from tests.builders import stored_as, tamper, unpack_payloads
from tests.evidence.sessions import compared_with_its_seal
from tests.replay.continuation.conftest import continued, drafts, repeat, stubbed, worked
from tests.stub_model_server import StubModelServer
from tests.verifier.bundles import faults, packed, unpacked
from tests.web.visitors import shared
from timemachine.core.accounts.models import Project
from timemachine.evidence.bundles import exporting
from timemachine.evidence.log import keys
from timemachine.evidence.sealing import seals
from timemachine.governance.sharing.pure.terms import Terms
from timemachine.governance.sharing.scope import Scope
from timemachine.recording.sessions.commands import append, end_session, start_session
from timemachine.recording.sessions.models import Session
from timemachine.replay.continuation.commands import SuppliedResult, go_on
from timemachine.replay.runs.models import Replay
from timemachine.text.redaction.commands import make_profile
from timemachine.text.redaction.pure.profile import Profile
from timemachine.text.redaction.pure.rules import read_rules
from timemachine.text.redaction.queries import as_profile
from timemachine.verifier import tm_verify

pytestmark = pytest.mark.django_db


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Iterator[StubModelServer]:
    with stubbed(monkeypatch, settings) as server:
        yield server


@pytest.fixture
def replay(project: Project, stub: StubModelServer) -> Replay:
    """A sealed continuation of step 1, and the sealed session."""
    made = supplied(project, stub)
    for each in (made.session_id, made.branch_id):
        assert each is not None
        seals.seal_session(each)
    return made


def supplied(project: Project, stub: StubModelServer) -> Replay:
    """Continue step 1 with two results from the record and one that a person supplies."""
    session = start_session(project, name="Adding", by="test", agent="coder", user="ada")
    append(session.id, drafts())
    end_session(session.id)
    repeat(stub, write_file={"path": "c.txt", "text": "4"})
    stopped = continued(session)
    return worked(go_on(stopped, [SuppliedResult(tool="write_file", result="fine")], by="ada@example.com"))


def branch_of(replay: Replay) -> Session:
    return Session.objects.get(id=str(replay.branch_id))


def report(session: Session, folder: Path) -> tm_verify.Report:
    """Return what the verifier finds in a fresh bundle of the session."""
    target = folder / "fresh.zip"
    with target.open("wb") as file:
        exporting.write_session(file, session)
    return tm_verify.verify(str(target), keys.key_in_use(session.project).fingerprint)


def problems(session: Session) -> set[tuple[str, int | None]]:
    """Return the code and record of what the check of the server finds."""
    return {(each["code"], each["index"]) for each in compared_with_its_seal(session).problems}


def changed(replay: Replay, statement: str) -> Session:
    """Change something in the database without triggers; return the branch."""
    unpack_payloads()
    ids = {"branch": replay.branch_id, "session": replay.session_id}
    assert tamper(statement.format(**ids).replace("%", "%%"), []) == 1
    return branch_of(replay)


def test_the_bundle_of_a_branch_states_what_it_continues_and_how_it_ended(
    replay: Replay, tmp_path: Path
) -> None:
    found = report(branch_of(replay), tmp_path)
    assert found.problems == []
    assert [each._asdict() for each in found.continuations] == [
        {
            "id": str(replay.branch_id),
            "session": str(replay.session_id),
            "step": 1,
            "model": "openai:gpt-4o",
            "replay": str(replay.id),
            "ended": found.continuations[0].ended,
            "recorded": [2, 4],
            "supplied": [7],
            "all_disclosed": True,
        }
    ]
    line = next(each for each in tm_verify.report_lines(found) if each.startswith("CONTINUATION"))
    assert f"of session {replay.session_id} from step 1 with openai:gpt-4o: The model stopped" in line
    assert line.endswith("results from the record: steps 2, 4; supplied by a person: step 7")
    assert problems(branch_of(replay)) == set()


def payload(step: int, side: str, old: str, new: str) -> str:
    """Change the stored bytes of one side of a step of the branch."""
    altered = f"convert_to(replace(convert_from(data, 'UTF8'), '{old}', '{new}'), 'UTF8')"
    return (
        f"UPDATE tm_payload SET {stored_as(altered)} WHERE id = "
        f"(SELECT {side}_id FROM tm_action WHERE session_id = '{{branch}}' AND sequence = {step})"
    )


def step(number: int, column: str, value: str) -> str:
    """Change a column of a step of the branch."""
    return f"UPDATE tm_action SET {column} = {value} WHERE session_id = '{{branch}}' AND sequence = {number}"


def session_of(column: str, value: str) -> str:
    """Change a column of the branch."""
    return f"UPDATE tm_session SET {column} = {value} WHERE id = '{{branch}}'"


CHANGES = {
    "the step that it continues": (
        session_of("continues", "jsonb_set(continues::jsonb, '{{step}}', '3')::json"),
        ("changed", 0),
        "session record 0 continues",
    ),
    "the model": (
        session_of("continues", "jsonb_set(continues::jsonb, '{{model}}', '\"openai:o3\"')::json"),
        ("changed", 0),
        "session record 0 continues",
    ),
    "that it continues anything": (
        session_of("continues", "NULL"),
        ("changed", 0),
        "session record 0 continues",
    ),
    "the parent": (session_of("parent_id", "'{branch}'"), ("origin", None), None),
    "the step of the parent": (session_of("parent_sequence", "4"), ("origin", None), None),
    "the request": (payload(1, "input", "careful", "hurried"), ("changed", 1), "session record 1 input"),
    "the answer": (payload(3, "output", "b.txt", "a.txt"), ("changed", 3), "session record 3 output"),
    "a recorded result": (payload(2, "output", "1", "7"), ("changed", 2), "session record 2 output"),
    "what a result is a copy of": (
        step(4, "copied_from", '\'{{"session": null, "step": 6}}\''),
        ("changed", 4),
        "session record 4 copied_from",
    ),
    "that a result is a copy": (
        step(4, "copied_from", "NULL"),
        ("changed", 4),
        "session record 4 copied_from",
    ),
    "a supplied result": (payload(7, "output", "fine", "poor"), ("changed", 7), "session record 7 output"),
    "who supplied it": (
        step(7, "metadata", '\'{{"supplied_by": "eve@example.com"}}\''),
        ("changed", 7),
        "session record 7 words",
    ),
    "that a person supplied it": (step(7, "metadata", "NULL"), ("changed", 7), "session record 7 words"),
    "an end": (payload(6, "output", "Diverged", "Finished"), ("changed", 6), "session record 6 output"),
    "the last end": (
        payload(9, "output", "The model stopped", "Followed the rest"),
        ("changed", 9),
        "session record 9 output",
    ),
}
"""A change, the problem that the check of the branch reports, and the fault of the verifier if the bundle has it."""


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_in_the_database_is_found_by_the_check_and_in_a_fresh_bundle(
    replay: Replay, tmp_path: Path, name: str
) -> None:
    statement, problem, where = CHANGES[name]
    branch = changed(replay, statement)
    assert problem in problems(branch)
    found = report(branch, tmp_path)
    faults_found = {(each["code"], each["where"]) for each in found.problems}
    assert where is None or faults_found & {("field", where), ("missing", where)}


def test_a_changed_result_of_the_recording_is_found_in_the_recording_as_well(replay: Replay) -> None:
    changed(replay, payload(2, "output", "1", "7"))
    assert ("changed", 2) in problems(replay.session)


FORGED = {
    "the step": (b'\\"step\\":1}', b'\\"step\\":3}', "session record 0 continues"),
    "the end": (b"The model stopped", b"Followed the rest", "session record 9 output"),
    "the mark of a person": (b"supplied_by", b"recorded_by", "session record 7 words"),
    "the request": (b"You are careful", b"You are hurried", "session record 1 input"),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_change_of_the_bundle_is_found(replay: Replay, tmp_path: Path, name: str) -> None:
    old, new, where = FORGED[name]
    bundle = BytesIO()
    exporting.write_session(bundle, branch_of(replay))
    files = unpacked(bundle.getvalue())
    forged = {file: data.replace(old, new) for file, data in files.items()}
    assert forged != files
    key = keys.key_in_use(replay.session.project).fingerprint
    assert ("field", where) in faults(packed(forged, tmp_path / "forged.zip"), key)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"recorded_results":2', '"recorded_results":3', "3 results of tools are from the record, but 2 are"),
        (
            '"supplied_results":1',
            '"supplied_results":0',
            "0 results of tools are supplied by a person, but 1 are",
        ),
    ],
)
def test_a_sealed_end_that_claims_other_results_than_the_steps_have_is_a_fault(
    project: Project, stub: StubModelServer, tmp_path: Path, old: str, new: str, says: str
) -> None:
    made = supplied(project, stub)
    branch = changed(made, payload(9, "output", old, new))
    rehashed = "UPDATE tm_payload SET sha256 = sha256(data) WHERE sha256 <> sha256(data)"
    assert tamper(rehashed, []) == 1
    found = report(branch, tmp_path)
    assert [(each["code"], each["where"]) for each in found.problems] == [
        ("continuation", "session record 9")
    ]
    assert says in found.problems[0]["says"]


def test_evidence_that_withholds_words_says_that_the_results_are_not_checked(
    project: Project, replay: Replay, tmp_path: Path
) -> None:
    told, silent = (
        verified(project, replay, tmp_path, terms)
        for terms in (Terms(redaction=profile(project)), Terms(evidence_only=True))
    )
    assert [each.step for each in told.continuations] == [1]
    assert any("not all of its steps disclose their text" in each for each in told.not_checked)
    assert str(told.continuations[0]).endswith("others are not disclosed"), "what is withheld is not none"
    assert silent.continuations == []
    assert any(each.endswith("continues: this is not disclosed.") for each in silent.not_checked)
    assert told.problems == silent.problems == []


def test_evidence_of_a_part_of_the_branch_does_not_say_how_it_ended(
    project: Project, replay: Replay, tmp_path: Path
) -> None:
    part = verified(project, replay, tmp_path, Terms(through_sequence=8))
    assert [(each.ended, each.recorded, each.supplied) for each in part.continuations] == [
        (None, [2, 4], [7])
    ]
    assert "how it ended is not disclosed" in str(part.continuations[0])
    early = verified(project, replay, tmp_path, Terms(through_sequence=1))
    assert str(early.continuations[0]).endswith("results from the record: none; supplied by a person: none")


def test_many_results_are_named_up_to_a_number() -> None:
    assert tm_verify._steps(range(1, 23)).endswith("19, 20 and 2 more")


def verified(project: Project, replay: Replay, folder: Path, terms: Terms) -> tm_verify.Report:
    """Return what the verifier finds in the evidence of a link to the branch."""
    link = shared(project, branch_of(replay), terms)[0]
    target = folder / f"{link.public_id}.zip"
    with target.open("wb") as file:
        Scope(link=link).write_evidence(file)
    return tm_verify.verify(str(target), keys.key_in_use(project).fingerprint)


def profile(project: Project) -> Profile:
    rules: dict[str, Any] = {"patterns": [{"name": "person", "pattern": "ada@example.com"}]}
    return as_profile(make_profile(project, "No people", read_rules(rules), by="test"))
