"""Continuing a recorded run from a model call: tools are answered from the record, and the outcome is a branch."""

import pytest

from tests.api.conftest import program
from tests.evidence.sessions import checked
from tests.replay.continuation.conftest import (
    END,
    MODEL,
    QUESTION,
    SYSTEM,
    branch_steps,
    called,
    continued,
    drafts,
    ending_of,
    repeat,
    worked,
)
from tests.stub_model_server import Script, StubModelServer
from tests.web.insights.test_costs import words
from tests.web.people import browser_of
from timemachine.core.accounts.models import Project
from timemachine.core.payloads.queries import value
from timemachine.core.pure.errors import Conflict, InvalidInput, NotFound
from timemachine.core.pure.numbers import money
from timemachine.evidence.sealing import due, seals
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.usage.costs import GROUPS
from timemachine.replay.continuation.commands import SuppliedResult, go_on, launch
from timemachine.replay.runs.commands import cancel, retry
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.runs.tallies import tally


def test_a_model_that_repeats_the_actions_follows_the_recording_to_its_end(
    session: Session, stub: StubModelServer
) -> None:
    repeat(stub)
    replay = continued(session)
    assert replay.status == "done"
    assert ending_of(replay).finding == (
        "Followed the recording to its end: 4 calls, 3 tool results from the record"
    )
    last = stub.calls()[-1].body["messages"]
    assert [each["role"] for each in last] == ["system", "user", *["assistant", "tool"] * 3]
    assert [each["content"] for each in last if each["role"] == "tool"] == ["1", "2", "ok"]
    assert session.actions.count() == 7


def test_the_branch_has_a_step_for_each_call_and_each_result(session: Session, stub: StubModelServer) -> None:
    repeat(stub)
    replay = continued(session)
    branch = replay.branch
    assert branch is not None
    assert (branch.parent_id, branch.parent_sequence, branch.status) == (session.id, 0, "ended")
    assert (branch.tags, branch.agent, branch.user) == (["replay"], "coder", "ada")
    steps = branch_steps(replay)
    assert [each.kind for each in steps] == [*["llm_call", "tool_call"] * 3, "llm_call", "event"]
    assert [each.copied_from for each in steps if each.kind == "tool_call"] == [
        {"session": session.key, "step": step} for step in (2, 4, 6)
    ]
    first = steps[0]
    assert value(first.input)["messages"][:2] == [SYSTEM, QUESTION]
    assert (first.model, first.agent, first.input_tokens is None) == (MODEL, "coder", False)
    assert value(steps[6].output) == END
    assert value(steps[7].output)["finding"] == ending_of(replay).finding


def test_a_call_with_other_arguments_ends_the_run_exactly_there(
    session: Session, stub: StubModelServer
) -> None:
    repeat(stub, write_file={"path": "c.txt", "text": "4"})
    replay = continued(session)
    ending = ending_of(replay)
    assert (ending.why, ending.calls, ending.recorded_results, ending.step) == ("diverged", 3, 2, 5)
    assert ending.finding == (
        'Diverged at step 5 of the branch: there is no recorded result for “write_file” {"path":"c.txt","text":"4"}; nearest recorded call: '
        'step 6 of the recording, “write_file” {"path":"c.txt","text":"3"} (differs at /text); 3 calls (4 in the recording), '
        "2 tool results from the record, 1 recorded result not used"
    )
    assert len(stub.calls()) == 3


def test_the_run_goes_on_from_the_middle(session: Session, stub: StubModelServer) -> None:
    repeat(stub, from_action=3)
    replay = continued(session, 5)
    ending = ending_of(replay)
    assert (ending.why, ending.calls, ending.recorded_results) == ("finished", 2, 1)
    assert replay.branch is not None
    assert replay.branch.parent_sequence == 4


def test_a_result_from_before_the_call_is_not_used(session: Session, stub: StubModelServer) -> None:
    stub.script(Script(tools=(("read_file", {"path": "a.txt"}),)))
    assert ending_of(continued(session, 3)).why == "diverged"


def test_a_repeatable_tool_gives_its_result_again_and_from_before(
    session: Session, stub: StubModelServer
) -> None:
    for _ in range(3):
        stub.script(Script(answer="", tools=(("read_file", {"path": "a.txt"}),), times=1))
    stub.script(Script(answer="Enough."))
    replay = continued(session, 3, repeatable_tools=("read_file",))
    ending = ending_of(replay)
    assert (ending.why, ending.calls, ending.recorded_results) == ("finished", 4, 3)


def test_a_result_is_used_once(session: Session, stub: StubModelServer) -> None:
    for _ in range(2):
        stub.script(Script(answer="", tools=(("read_file", {"path": "a.txt"}),), times=1))
    ending = ending_of(continued(session))
    assert (ending.calls, ending.recorded_results) == (2, 1)
    assert "left; the result of step 2 of the recording was already used" in ending.finding


def test_the_system_prompt_and_the_messages_can_be_changed(session: Session, stub: StubModelServer) -> None:
    stub.script(Script(answer="Hello."))
    messages = [{"role": "user", "content": "Only greet."}]
    continued(session, system_prompt="Be brief.", messages=messages)
    (call,) = stub.calls()
    assert call.body["messages"] == [{"role": "system", "content": "Be brief."}, *messages]


def test_an_answer_of_anthropic_goes_back_as_it_came(session: Session, stub: StubModelServer) -> None:
    repeat(stub)
    replay = continued(session, use_model="anthropic:claude-sonnet-4-5", max_calls=9)
    assert ending_of(replay).why == "finished"
    last = stub.calls()[-1].body["messages"]
    assert [each["role"] for each in last] == ["user", *["assistant", "user"] * 3]
    assert last[1]["content"][1]["id"] == last[2]["content"][0]["tool_use_id"]


def test_the_run_stops_at_its_limit_of_calls_and_goes_on_with_a_higher_one(
    session: Session, stub: StubModelServer
) -> None:
    repeat(stub)
    replay = continued(session, max_calls=2)
    assert ending_of(replay).finding.startswith(
        "Stopped at the limit of 2 calls: 2 calls (4 in the recording)"
    )
    with pytest.raises(InvalidInput, match="higher `max_calls`"):
        go_on(replay, [], by="ada")
    replay = worked(go_on(replay, [], by="ada", max_calls=10))
    assert ending_of(replay).finding.startswith("Followed the recording to its end: 4 calls")
    assert [each.kind for each in branch_steps(replay)].count("llm_call") == 4


def test_the_spend_limit_stops_before_the_call(session: Session, stub: StubModelServer) -> None:
    replay = continued(session, spend_limit_usd=0.000001)
    ending = ending_of(replay)
    assert (ending.why, ending.calls, replay.steps.get().status) == ("spend_limit", 0, "skipped")
    assert stub.calls() == []


def test_a_person_supplies_a_result_and_the_run_goes_on(session: Session, stub: StubModelServer) -> None:
    stub.script(Script(answer="", tools=(("ask_user", {"about": "c.txt"}),), times=1))
    repeat(stub)
    replay = continued(session)
    ending = ending_of(replay)
    assert ending.why == "diverged"
    assert "the rest of the recording has no result from that tool" in ending.finding
    with pytest.raises(InvalidInput, match="A result is missing"):
        go_on(replay, [], by="ada@example.com")
    with pytest.raises(InvalidInput, match="No call of 'other' is waiting for a result"):
        go_on(replay, [SuppliedResult(tool="other", result="x")], by="ada@example.com")
    replay = worked(
        go_on(replay, [SuppliedResult(tool="ask_user", result={"answer": "Yes."})], by="ada@example.com")
    )
    ending = ending_of(replay)
    assert (ending.why, ending.calls, ending.recorded_results) == ("finished", 5, 3)
    assert ending.supplied_results == 1
    supplied = next(step for step in branch_steps(replay) if step.client_id == "continue-1.1.result")
    assert (supplied.kind, supplied.copied_from) == ("tool_result", None)
    assert supplied.metadata == {"supplied_by": "ada@example.com"}
    assert '{"answer":"Yes."}' in stub.calls()[1].body["messages"][-1]["content"].replace(" ", "")


def test_nothing_goes_on_when_the_model_stopped_or_the_run_is_open(
    session: Session, stub: StubModelServer
) -> None:
    options = ReplayOptions(continue_from=7, use_model=MODEL)
    replay = launch(session, options, by="ada")
    with pytest.raises(Conflict, match="still running"):
        go_on(replay, [], by="ada")
    replay = worked(replay)
    with pytest.raises(Conflict, match="cannot continue with a result or a higher limit"):
        go_on(replay, [], by="ada")


def test_parallel_calls_are_answered_one_by_one(project: Project, stub: StubModelServer) -> None:
    session = start_session(project, name="Parallel", by="test")
    append(session.id, drafts())
    both = (("read_file", {"path": "b.txt"}), ("read_file", {"path": "a.txt"}))
    stub.script(Script(answer="", tools=both, times=1))
    stub.script(Script(answer="Done."))
    assert ending_of(continued(session)).recorded_results == 2
    results = [each for each in stub.calls()[1].body["messages"] if each["role"] == "tool"]
    assert [each["content"] for each in results] == ["2", "1"]


def test_results_are_found_in_the_requests_of_later_calls(project: Project, stub: StubModelServer) -> None:
    session = start_session(project, name="Only calls", by="test")
    append(session.id, [each for each in drafts() if each.kind == "llm_call"])
    repeat(stub)
    replay = continued(session)
    assert ending_of(replay).finding.startswith("Followed the recording to its end: 4 calls, 3 tool results")
    results = [each for each in branch_steps(replay) if each.kind == "tool_result"]
    assert [each.copied_from for each in results] == [
        {"session": session.key, "step": step} for step in (2, 3, 4)
    ]


def test_a_result_in_a_step_of_its_own_is_copied_with_its_call(
    project: Project, stub: StubModelServer
) -> None:
    session = start_session(project, name="Results apart", by="test")
    call = ActionDraft(kind="tool_call", tool="read_file", call_id="call_1", input={"path": "a.txt"})
    result = ActionDraft(
        kind="tool_result", tool="read_file", call_id="call_1", output="1", error_message="Half of it."
    )
    append(session.id, [drafts()[0], call, result, called([QUESTION], "One.")])
    stub.script(Script(answer="Step 1.", tools=(("read_file", {"path": "a.txt"}),), times=1))
    stub.script(Script(answer="One."))
    steps = branch_steps(continued(session))
    assert [each.kind for each in steps] == ["llm_call", "tool_call", "tool_result", "llm_call", "event"]
    assert steps[2].error_message == "Half of it."


@pytest.mark.parametrize("tool_calls", [True, False])
def test_the_nearest_recorded_call_is_named_by_the_step_that_called_it(
    project: Project, stub: StubModelServer, *, tool_calls: bool
) -> None:
    session = start_session(project, name="Results apart", by="test")
    call = ActionDraft(kind="tool_call", tool="read_file", call_id="call_1", input={"path": "a.txt"})
    result = ActionDraft(kind="tool_result", tool="read_file", call_id="call_1", output="1")
    append(session.id, [drafts()[0], *([call] if tool_calls else []), result])
    stub.script(Script(answer="", tools=(("read_file", {"path": "d.txt"}),)))
    assert f"nearest recorded call: step {2 if tool_calls else 1} of" in ending_of(continued(session)).finding


def test_wrong_input_is_refused_with_the_reason(session: Session, stub: StubModelServer) -> None:
    for options, error, match in (
        ({"continue_from": 2}, InvalidInput, "Step 2 is a tool call"),
        ({"continue_from": 99}, NotFound, "no step 99"),
        ({"continue_from": 1, "use_model": "nobody:x"}, InvalidInput, "nobody"),
        ({"continue_from": 1, "max_calls": 0}, InvalidInput, "max_calls"),
        ({"continue_from": 1, "messages": [{"no": "message"}]}, InvalidInput, "an unknown form"),
    ):
        with pytest.raises(error, match=match):
            launch(session, ReplayOptions(**{"use_model": MODEL, **options}), by="ada")
    assert Replay.objects.count() == 0
    assert Session.objects.count() == 1


def test_a_failed_call_can_be_retried(session: Session, stub: StubModelServer) -> None:
    repeat(stub)
    stub.script(Script(mode="error", status=400, body='{"error": {"message": "no"}}', times=1, question="2"))
    replay = continued(session)
    assert replay.status == "failed"
    assert ending_of(replay).finding.startswith("Stopped by an error: ")
    replay = worked(retry(replay))
    assert ending_of(replay).finding.startswith("Followed the recording to its end: 4 calls")


def test_a_cancelled_continuation_ends_its_branch(session: Session, stub: StubModelServer) -> None:
    replay = launch(session, ReplayOptions(continue_from=1, use_model=MODEL), by="ada")
    cancel(replay, by="ada")
    replay = worked(replay)
    assert (replay.status, replay.branch and replay.branch.status) == ("cancelled", "ended")
    assert stub.calls() == []


def test_a_model_that_cannot_call_tools_does_not_continue_a_run_with_tools(
    session: Session, stub: StubModelServer
) -> None:
    with pytest.raises(InvalidInput, match="cannot call tools"):
        continued(session, use_model="local:extractive")
    assert stub.calls() == []


def test_a_form_that_is_sent_twice_launches_once(session: Session, stub: StubModelServer) -> None:
    options = ReplayOptions(continue_from=1, use_model=MODEL)
    replay = launch(session, options, by="ada")
    assert launch(session, options, by="ada", replay_id=replay.id) == replay
    with pytest.raises(Conflict, match="already launched"):
        launch(session, options.model_copy(update={"continue_from": 3}), by="ada", replay_id=replay.id)


def test_the_branch_and_the_continuation_are_sealed_and_sealed_again_when_it_goes_on(
    session: Session, stub: StubModelServer
) -> None:
    repeat(stub)
    replay = continued(session, max_calls=2)
    assert replay.branch is not None
    assert replay.branch.id in due.sessions()
    assert replay.id in due.replays()
    first = seals.seal_session(replay.branch.id), seals.seal_replay(replay.id)
    replay = worked(go_on(replay, [], by="ada", max_calls=9))
    assert replay.branch is not None
    second = seals.seal_session(replay.branch.id), seals.seal_replay(replay.id)
    assert [seal and seal.state for seal in (first[0], second[0])] == ["closed", "closed"]
    assert first[0] is not None
    assert second[0] is not None
    assert second[0].size > first[0].size
    assert checked(replay.branch) == []


def test_a_recording_that_ends_with_a_call_is_followed_to_its_end(
    project: Project, stub: StubModelServer
) -> None:
    session = start_session(project, name="Ends with a call", by="test")
    append(session.id, drafts()[:3])
    repeat(stub)
    assert ending_of(continued(session)).finding == (
        "Followed the recording to its end: the recording ends with the same call and without its result; 2 calls, "
        "1 tool result from the record"
    )


def test_its_calls_are_costs_of_replays_and_not_of_the_recorded_work(
    session: Session, stub: StubModelServer
) -> None:
    browser, api = browser_of(session.project), program(session.project)
    recorded = {by: api.get("/costs", by=by).json() for by in GROUPS}
    repeat(stub)
    replay = continued(session)
    assert replay.branch is not None
    spent = replay.branch.cost_usd
    assert spent == tally(replay).cost_usd > 0
    for by in GROUPS:
        found = api.get("/costs", by=by).json()
        assert found.pop("replays") == {
            "cost_usd": pytest.approx(float(spent)),
            "unknown_cost_calls": 0,
            "uncertain_calls": 0,
        }
        recorded[by].pop("replays")
        assert found == recorded[by]
    assert f"Replays and continuations spent {money(spent)} on these days" in words(browser, "/costs/")
