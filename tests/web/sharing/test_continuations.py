"""Share links of a continuation: its branch says what it is in its first lines, and the continuation names the branch to share."""

import re
from collections.abc import Iterator

import pytest
from django.test import Client
from pytest_django import Settings

from tests.api.conftest import program
from tests.builders import stored_as, tamper, unpack_payloads
from tests.evidence.sessions import compared_with_its_seal
from tests.replay.continuation.conftest import continued, drafts, repeat, stubbed, worked
from tests.stub_model_server import StubModelServer
from tests.web.timelines import words
from tests.web.visitors import opened, shared
from timemachine.core.accounts.models import Project
from timemachine.evidence.sealing import seals
from timemachine.evidence.sealing.session_deletion import erase_session
from timemachine.governance.sharing.pure.terms import Terms
from timemachine.recording.sessions.commands import append, end_session, start_session
from timemachine.recording.sessions.models import Session
from timemachine.replay.continuation.commands import SuppliedResult, go_on
from timemachine.replay.runs.models import Replay
from timemachine.text.redaction.commands import make_profile
from timemachine.text.redaction.pure.profile import Profile
from timemachine.text.redaction.pure.rules import read_rules
from timemachine.text.redaction.queries import as_profile

pytestmark = pytest.mark.django_db
DIVERGED = (
    "Continuation of Adding from step 1 with openai:gpt-4o . "
    "Diverged at step 5 of the branch: there is no recorded result for “write_file”"
)


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Iterator[StubModelServer]:
    with stubbed(monkeypatch, settings) as server:
        yield server


@pytest.fixture
def diverged(project: Project, stub: StubModelServer) -> Replay:
    """A continuation with two results from the record, which diverged at its third tool call."""
    session = start_session(project, name="Adding", by="test", agent="coder", user="ada")
    append(session.id, drafts())
    end_session(session.id)
    repeat(stub, write_file={"path": "c.txt", "text": "4"})
    return continued(session)


@pytest.fixture
def supplied(diverged: Replay) -> Replay:
    """The same, which went on with a result that a person supplied."""
    return worked(go_on(diverged, [SuppliedResult(tool="write_file", result="fine")], by="ada@example.com"))


def branch_of(replay: Replay) -> Session:
    return Session.objects.get(id=str(replay.branch_id))


def page_of(project: Project, replay: Replay, terms: Terms = Terms(), query: str = "") -> str:  # noqa: B008
    """Return the page of a link to the branch."""
    visitor, path = opened(shared(project, branch_of(replay), terms)[1])
    answer = visitor.get(f"{path}{query}")
    assert answer.status_code == 200
    return answer.text


def profile(project: Project, pattern: str) -> Profile:
    rules = {"patterns": [{"name": "bird", "pattern": pattern}]}
    return as_profile(make_profile(project, f"Profile {len(pattern)}", read_rules(rules), by="test"))


def test_the_link_of_a_branch_begins_with_what_it_is_and_how_it_ended(
    project: Project, diverged: Replay
) -> None:
    page = page_of(project, diverged)
    shown = words(page)
    assert shown.index("Branch of a recorded session, steps 1 to 6") < shown.index(DIVERGED)
    assert shown.index(DIVERGED) < shown.index("Shared by")
    assert (
        "Results from the record: steps 2 , 4 . None was supplied by a person. No tool was called." in shown
    )
    assert '?step=6">step 6</a> states how it ended' in page


def test_a_result_of_a_person_is_told_from_those_of_the_record(project: Project, supplied: Replay) -> None:
    shown = words(page_of(project, supplied))
    assert (
        "The model stopped: 4 calls, 2 tool results from the record, 1 result supplied by a person" in shown
    )
    assert "Results from the record: steps 2 , 4 . Supplied by a person: step 7 ." in shown
    assert "A person supplied this result." in words(page_of(project, supplied, query="?step=7"))
    assert "This result is from the record." in words(page_of(project, supplied, query="?step=2"))


def test_a_link_to_a_part_says_nothing_of_later_steps(project: Project, supplied: Replay) -> None:
    shown = words(page_of(project, supplied, Terms(through_sequence=3)))
    assert "Continuation of Adding from step 1 with openai:gpt-4o ." in shown
    assert "This link does not show how it ended." in shown
    assert "Results from the record: step 2 ." in shown
    assert "Diverged" not in shown
    assert "The model stopped" not in shown
    before_going_on = words(page_of(project, supplied, Terms(through_sequence=6)))
    assert DIVERGED in before_going_on
    gone_on = words(page_of(project, supplied, Terms(through_sequence=8)))
    assert "This link does not show how it ended" in gone_on


def test_a_profile_withholds_in_the_first_lines(project: Project, diverged: Replay) -> None:
    shown = words(page_of(project, diverged, Terms(redaction=profile(project, "Adding"))))
    assert "Continuation of withheld: bird from step 1" in shown
    assert "Adding" not in shown
    page = page_of(project, diverged, Terms(redaction=profile(project, "c.txt")))
    assert "c.txt" not in page
    assert (
        "Diverged at step 5 of the branch: withheld: repeats what is withheld ; 3 calls (4 in the recording), "
        "2 tool results from the record" in words(page)
    )


def test_a_profile_marks_no_quote_where_the_end_has_none(project: Project, supplied: Replay) -> None:
    shown = words(page_of(project, supplied, Terms(redaction=profile(project, "c.txt"))))
    assert "The model stopped: 4 calls, 2 tool results from the record" in shown


def test_a_replay_of_a_profile_marks_the_calls_that_its_first_line_leaves_out(
    project: Project, diverged: Replay
) -> None:
    visitor, path = opened(shared(project, diverged, Terms(redaction=profile(project, "c.txt")))[1])
    page = visitor.get(path).text
    assert "c.txt" not in page
    shown = words(page)
    assert "Diverged at step 5 of the branch: withheld: repeats what is withheld ; 3 calls" in shown
    assert "of every replayed step also parameters, errors and what its verdict rests on" in shown


def test_a_link_says_which_steps_name_who_supplied_what(
    project: Project, diverged: Replay, supplied: Replay
) -> None:
    visitor, path = opened(shared(project, branch_of(supplied))[1])
    says = "Who supplied or accepted a result or a message is named in step 7 ."
    assert says in words(visitor.get(path).text)
    assert "ada@example.com" in visitor.get(f"{path}?step=7").text
    before = words(page_of(project, supplied, Terms(through_sequence=6)))
    assert "is named in step" not in before


def test_evidence_alone_does_not_tell_how_it_ended(project: Project, diverged: Replay) -> None:
    shown = words(page_of(project, diverged, Terms(evidence_only=True)))
    assert "Evidence of a branch of a recorded session" in shown
    assert "Continuation of Adding from step 1 with openai:gpt-4o ." in shown
    assert "Diverged" not in shown


def test_evidence_alone_of_a_continuation_quotes_no_call(project: Project, diverged: Replay) -> None:
    visitor, path = opened(shared(project, diverged, Terms(evidence_only=True))[1])
    page = visitor.get(path).text
    assert "Diverged at step 5 of the branch: 3 calls" in page
    assert "write_file" not in page


def test_the_origin_stays_when_the_continued_session_is_deleted(project: Project, diverged: Replay) -> None:
    visitor, path = opened(shared(project, branch_of(diverged))[1])
    erase_session(diverged.session, reason="asked for", by="test")
    assert "Continuation of a session that was deleted from step 1" in words(visitor.get(path).text)


def test_an_altered_end_does_not_break_the_page_of_a_profile(project: Project, diverged: Replay) -> None:
    unpack_payloads()
    altered = """convert_to(replace(convert_from(data, 'UTF8'), '"calls":3', '"calls":"x"'), 'UTF8')"""
    tamper(
        f"UPDATE tm_payload SET {stored_as(altered)} "
        "WHERE id = (SELECT output_id FROM tm_action WHERE session_id = %s AND sequence = 6)",
        [str(diverged.branch_id)],
    )
    shown = words(page_of(project, diverged, Terms(redaction=profile(project, "bird"))))
    assert "This link does not show how it ended." in shown


def test_after_a_failed_check_the_page_begins_with_it_and_claims_no_proof(
    project: Project, diverged: Replay
) -> None:
    branch = branch_of(diverged)
    seals.seal_session(branch.id)
    tamper("UPDATE tm_session SET parent_sequence = 4 WHERE id = %s", [str(branch.id)])
    compared_with_its_seal(branch)
    shown = words(page_of(project, diverged))
    assert shown.index("What is stored here differs from its seal") < shown.index("Continuation of Adding")
    assert "The evidence proves this" not in shown


def test_an_altered_origin_does_not_break_the_page(project: Project, diverged: Replay) -> None:
    tamper("UPDATE tm_session SET continues = '{\"altered\": 1}' WHERE id = %s", [str(diverged.branch_id)])
    assert "Continuation of a session that was deleted with not recorded" in words(page_of(project, diverged))


def test_a_link_of_the_continuation_names_the_branch(project: Project, diverged: Replay) -> None:
    visitor, path = opened(shared(project, diverged)[1])
    shown = words(visitor.get(path).text)
    assert "Continuation of a recorded session" in shown
    assert shown.index("Diverged at step 5") < shown.index("Model openai:gpt-4o")
    assert (
        "The other steps of the run are in the session Adding, continued from step 1 , which this link does not show"
        in shown
    )
    step = words(visitor.get(f"{path}steps/1/").text)
    assert "The request below is the recorded one" in step
    assert "Put the sum of a.txt and b.txt into c.txt." in step


def test_whoever_shares_a_continuation_is_told_which_session_to_share(
    project: Project, diverged: Replay, operator: Client
) -> None:
    branch = branch_of(diverged)
    page = operator.get(f"/replays/{diverged.id}/share/").text
    assert f'<a href="/sessions/{branch.id}/share/">share that session</a>' in page
    api = program(project)
    of_replay, of_branch = (
        api.post("/shares", {"target_type": kind, "target_id": str(id_)}).json()
        for kind, id_ in (("replay", diverged.id), ("session", branch.id))
    )
    assert f"Its other steps are in the session {branch.key}" in of_replay["note"]
    assert of_branch["note"] is None


def test_the_page_of_the_branch_leads_to_the_continuation(diverged: Replay, operator: Client) -> None:
    page = operator.get(f"/sessions/{diverged.branch_id}/").text
    assert re.search(
        rf'<dt>Continues</dt><dd>step 1 with .*<a href="/replays/{diverged.id}/">how it ended</a>', page
    )
