"""What a continuation does at a limit, without its model, and after a failure."""

import pytest

from tests.replay.continuation.conftest import (
    MODEL,
    QUESTION,
    branch_steps,
    continued,
    ending_of,
    repeat,
    worked,
)
from tests.stub_model_server import Script, StubModelServer
from timemachine.core.accounts.models import Project
from timemachine.core.leases import MOST_ATTEMPTS
from timemachine.core.payloads.queries import value
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict, InvalidInput, Unavailable
from timemachine.recording.model_calls import results
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.replay.continuation.commands import SuppliedResult, go_on, launch
from timemachine.replay.runs.commands import retry
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.runs.pure.summary import sentence
from timemachine.replay.runs.tallies import tally


def test_a_limit_that_is_not_higher_is_refused_and_no_call_is_made(
    session: Session, stub: StubModelServer
) -> None:
    repeat(stub)
    replay = continued(session, max_calls=2)
    for most in (1, 2):
        with pytest.raises(InvalidInput, match="limit of 2 calls"):
            go_on(replay, [], by="ada", max_calls=most)
    expensive = continued(session, spend_limit_usd=0.000001)
    with pytest.raises(InvalidInput, match="higher `spend_limit_usd`"):
        go_on(expensive, [], by="ada", spend_limit_usd=0.000001)
    assert len(stub.calls()) == 2


def test_a_run_that_diverged_with_its_last_call_makes_no_further_one(
    session: Session, stub: StubModelServer
) -> None:
    repeat(stub, write_file={"path": "c.txt", "text": "4"})
    replay = continued(session, max_calls=3)
    assert ending_of(replay).why == "diverged"
    replay = worked(go_on(replay, [SuppliedResult(tool="write_file", result="ok")], by="ada"))
    ending = ending_of(replay)
    assert (ending.why, ending.calls, ending.supplied_results, len(stub.calls())) == ("call_limit", 3, 1, 3)
    replay = worked(go_on(replay, [], by="ada", max_calls=4))
    assert (ending_of(replay).why, len(stub.calls())) == ("finished", 4)


def test_a_run_that_was_cancelled_as_it_ended_goes_on(session: Session, stub: StubModelServer) -> None:
    repeat(stub)
    replay = continued(session, max_calls=2)
    Replay.objects.filter(id=replay.id).update(cancel_requested_at=now(), cancel_requested_by="ada")
    replay = worked(go_on(replay, [], by="ada", max_calls=9))
    assert (replay.status, ending_of(replay).calls) == ("done", 4)


def test_a_run_whose_model_cannot_be_used_any_more_keeps_its_counts(
    session: Session, stub: StubModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    repeat(stub)
    replay = continued(session, max_calls=2)
    go_on(replay, [], by="ada", max_calls=9)
    monkeypatch.delenv("OPENAI_API_KEY")
    replay = worked(replay)
    ending = ending_of(replay)
    assert (ending.why, ending.calls, ending.recorded_results, ending.step) == ("failed", 2, 2, 3)
    with pytest.raises(Conflict, match="Retry it instead"):
        go_on(replay, [], by="ada")


def test_a_model_that_cannot_be_used_is_refused_before_a_result_is_recorded(
    session: Session, stub: StubModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    repeat(stub, write_file={"path": "c.txt", "text": "4"})
    replay = continued(session)
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(Unavailable, match="OPENAI_API_KEY"):
        go_on(replay, [SuppliedResult(tool="write_file", result="ok")], by="ada")
    assert [each.kind for each in branch_steps(replay)][-1] == "event"


def test_a_session_that_is_too_long_is_refused_at_once(
    session: Session, stub: StubModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "MOST_STEPS", 6)
    session.refresh_from_db()
    with pytest.raises(InvalidInput, match="has 7 steps; results can be looked up in at most 6"):
        launch(session, ReplayOptions(continue_from=1, use_model=MODEL), by="ada")
    assert Replay.objects.count() == 0


def test_a_call_whose_model_was_not_recorded_needs_one(project: Project, stub: StubModelServer) -> None:
    session = start_session(project, name="No model", by="test")
    append(session.id, [ActionDraft(kind="llm_call", input=[QUESTION], output="3")])
    with pytest.raises(InvalidInput, match=r"was not recorded\. Choose one"):
        launch(session, ReplayOptions(continue_from=1), by="ada")


def test_each_ending_is_recorded_in_the_branch(session: Session, stub: StubModelServer) -> None:
    for why in ("first", "second"):
        body = f'{{"error": {{"message": "{why}"}}}}'
        stub.script(Script(mode="error", status=400, body=body, times=1))
    replay = worked(retry(continued(session)))
    findings = [value(each.output)["finding"] for each in branch_steps(replay)]
    assert ["first" in findings[0], "second" in findings[1]] == [True, True]


def test_a_continuation_that_lost_its_worker_too_often_says_so(
    session: Session, stub: StubModelServer
) -> None:
    replay = launch(session, ReplayOptions(continue_from=1, use_model=MODEL), by="ada")
    replay.steps.update(attempts_made=MOST_ATTEMPTS)
    replay = worked(replay)
    said = "The worker stopped 3 times at this step"
    assert replay.status == "failed"
    assert said in sentence(tally(replay))
    assert said in value(branch_steps(replay)[0].output)["finding"]
