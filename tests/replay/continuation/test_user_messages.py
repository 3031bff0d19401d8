"""A continued run gets what the user wrote next, where it did what was recorded; elsewhere a person decides."""

from pathlib import Path

import pytest

from tests.builders import tamper
from tests.replay.continuation.conftest import (
    FIRST,
    QUESTION,
    SECOND,
    A,
    B,
    answered,
    asked,
    branch_steps,
    called,
    continued,
    ending_of,
    play,
    read,
    worked,
)
from tests.stub_model_server import Script, StubModelServer
from tests.web.timelines import words
from tests.web.visitors import opened, shared
from timemachine.core.accounts.models import Project
from timemachine.core.payloads.queries import value
from timemachine.core.pure.errors import Conflict, InvalidInput
from timemachine.recording.importing.commands import import_file
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Action, Session
from timemachine.replay.continuation.commands import NextMessage, SuppliedResult, go_on
from timemachine.replay.runs.frozen import model_answer_of
from timemachine.replay.runs.models import Replay


def messages_in(replay: Replay) -> list[Action]:
    return [each for each in branch_steps(replay) if each.kind == "message"]


def test_a_run_that_does_the_same_gets_what_the_user_wrote_next(chat: Session, stub: StubModelServer) -> None:
    play(stub, A, FIRST, B, SECOND)
    replay = continued(chat, 2)
    assert ending_of(replay).finding == (
        "Followed the recording to its end: 4 calls, 2 tool results from the record, 1 user message from the record"
    )
    assert [(each["role"], each["content"]) for each in stub.calls()[-1].body["messages"]][2:5] == [
        ("tool", "1"),
        ("assistant", FIRST),
        ("user", "And b.txt?"),
    ]
    (copy,) = messages_in(replay)
    assert (value(copy.input), copy.role, copy.agent) == ("And b.txt?", "user", "coder")
    assert copy.copied_from == {"session": chat.key, "step": 5}
    assert copy.metadata is None


def test_after_another_answer_it_stops_and_a_person_sends_the_recorded_message(
    chat: Session, stub: StubModelServer
) -> None:
    play(stub, A, "a.txt has 7 lines.", B, SECOND)
    replay = continued(chat, 2)
    ending = ending_of(replay)
    assert (ending.why, ending.next_message, ending.calls, ending.recorded_messages) == (
        "user_message",
        5,
        2,
        0,
    )
    assert ending.finding.startswith(
        "Stopped after step 3 of the branch, before the user's next message: the next message of the user (step 5 of the recording) answers what the recorded "
        "model said, and this answer is not the recorded one (numbers differ); to continue, send it or another one; 2 calls"
    )
    replay = worked(go_on(replay, [], by="ada", message=NextMessage()))
    assert ending_of(replay).finding == (
        "Followed the recording to its end: 4 calls, 2 tool results from the record, 1 user message from the record"
    )
    (copy,) = messages_in(replay)
    assert (copy.metadata, copy.copied_from) == ({"accepted_by": "ada"}, {"session": chat.key, "step": 5})


def test_a_person_writes_another_message_and_no_recorded_one_follows(
    chat: Session, stub: StubModelServer
) -> None:
    append(chat.id, [answered("You are welcome."), asked("Bye."), answered("Bye.")])
    play(stub, A, "No idea.", "Sorry.")
    replay = continued(chat, 2)
    for wrong in (None, NextMessage(text=" ")):
        with pytest.raises(InvalidInput, match="next message of the user is missing"):
            go_on(replay, [], by="ada", message=wrong)
    with pytest.raises(Conflict, match="not waiting for a result"):
        go_on(replay, [SuppliedResult(tool="x", result="y")], by="ada", message=NextMessage())
    replay = worked(go_on(replay, [], by="ada", message=NextMessage(text="Look again.")))
    ending = ending_of(replay)
    assert (ending.why, ending.next_message, ending.supplied_messages) == ("user_message", 5, 1)
    assert "a person has supplied something that was not recorded" in ending.finding
    (written,) = messages_in(replay)
    assert (value(written.input), written.copied_from) == ("Look again.", None)
    assert written.metadata == {"supplied_by": "ada"}
    assert stub.calls()[-1].body["messages"][-1] == {"role": "user", "content": "Look again."}


def test_every_answer_at_the_same_place_can_be_accepted(chat: Session, stub: StubModelServer) -> None:
    play(stub, A, "Seven lines, I think.", B, "Eight.")
    ending = ending_of(continued(chat, 2, user_messages="recorded"))
    assert (ending.why, ending.calls, ending.recorded_messages) == ("finished", 4, 1)


def test_a_model_that_stops_early_is_not_at_the_same_place(chat: Session, stub: StubModelServer) -> None:
    play(stub, FIRST)
    ending = ending_of(continued(chat, 2, user_messages="recorded"))
    assert (ending.why, ending.next_message) == ("user_message", 5)
    assert "the run has not made all the recorded tool calls before it" in ending.finding


def test_without_messages_of_the_user_it_ends_at_the_first_answer(
    chat: Session, stub: StubModelServer
) -> None:
    play(stub, A, FIRST)
    replay = continued(chat, 2, user_messages="none")
    ending = ending_of(replay)
    assert (ending.why, ending.next_message, ending.recorded_messages) == ("finished", None, 0)
    assert ending.finding.startswith("The model stopped: 2 calls (4 in the recording)")
    with pytest.raises(Conflict, match="cannot continue with a result or a higher limit"):
        go_on(replay, [], by="ada", message=NextMessage())


def test_a_limit_of_calls_counts_before_the_message_is_answered(chat: Session, stub: StubModelServer) -> None:
    play(stub, A, FIRST, B, SECOND)
    replay = continued(chat, 2, max_calls=2)
    assert (ending_of(replay).why, ending_of(replay).recorded_messages) == ("call_limit", 1)
    with pytest.raises(Conflict, match="not waiting for a message"):
        go_on(replay, [], by="ada", max_calls=9, message=NextMessage())
    replay = worked(go_on(replay, [], by="ada", max_calls=9))
    assert ending_of(replay).finding.startswith("Followed the recording to its end: 4 calls")
    assert len(messages_in(replay)) == 1


def test_a_message_that_interrupted_the_model_comes_after_the_same_tool_calls(
    project: Project, stub: StubModelServer
) -> None:
    session = start_session(project, name="Interrupted", by="test")
    interrupted = [asked("[Request interrupted by user]"), asked("b.txt instead.")]
    append(
        session.id,
        [asked("How long is it?"), *read(1, "a.txt"), *interrupted, *read(2, "b.txt"), answered(SECOND)],
    )
    play(stub, A, B, SECOND)
    replay = continued(session, 2)
    assert ending_of(replay).finding.startswith("Followed the recording to its end: 3 calls")
    assert [each["content"] for each in stub.calls()[1].body["messages"][-3:]] == [
        "1",
        "[Request interrupted by user]",
        "b.txt instead.",
    ]
    assert [each.client_id for each in messages_in(replay)] == ["continue-1.user.4.1", "continue-1.user.5.2"]


def test_messages_are_found_in_the_requests_of_later_calls(project: Project, stub: StubModelServer) -> None:
    session = start_session(project, name="Only calls", by="test")
    first = {"role": "assistant", "content": FIRST}
    later = {"role": "user", "content": [{"type": "text", "text": "And b.txt?"}]}
    append(session.id, [called([QUESTION], FIRST), called([QUESTION, first, later], SECOND)])
    play(stub, FIRST, SECOND)
    replay = continued(session)
    assert ending_of(replay).finding == (
        "Followed the recording to its end: 2 calls, 0 tool results from the record, 1 user message from the record"
    )
    (copy,) = messages_in(replay)
    assert copy.copied_from == {"session": session.key, "step": 2}
    assert stub.calls()[1].body["messages"][-1]["content"] == "And b.txt?"


def test_from_an_altered_step_on_nothing_of_the_user_is_sent(chat: Session, stub: StubModelServer) -> None:
    altered = Action.objects.get(session=chat, sequence=4)
    assert tamper("UPDATE tm_payload SET sha256 = %s WHERE id = %s", [bytes(32), altered.output_id or 0]) == 1
    play(stub, A, FIRST)
    assert ending_of(continued(chat, 2)).why == "finished"


@pytest.mark.parametrize(("name", "call"), [("session_a", 2), ("session_b", 7)])
def test_a_session_of_claude_code_is_followed_to_its_end(
    project: Project, stub: StubModelServer, recordings: Path, name: str, call: int
) -> None:
    file = recordings / "claude_code" / f"{name}.jsonl"
    session = import_file(project, file.read_bytes(), by="test").sessions[0].session
    calls = Action.objects.filter(session=session, kind="llm_call", sequence__gte=call).order_by("sequence")
    for action in calls.select_related("output"):
        found = model_answer_of(action)
        assert found is not None
        tools = tuple((each.name, dict(each.arguments)) for each in found.calls)
        stub.script(Script(answer=found.text, tools=tools, times=1))
    ending = ending_of(continued(session, call))
    assert ending.finding.startswith("Followed the recording to its end")
    assert (ending.calls, ending.unused_results) == (calls.count(), 0)
    assert ending.recorded_messages == {"session_a": 1, "session_b": 5}[name]


def branch_of(replay: Replay) -> Session:
    assert replay.branch is not None
    return replay.branch


def test_a_link_of_the_branch_says_where_its_messages_are_from(chat: Session, stub: StubModelServer) -> None:
    play(stub, A, FIRST, B, SECOND)
    replay = continued(chat, 2)
    (copy,) = messages_in(replay)
    visitor, path = opened(shared(chat.project, branch_of(replay))[1])
    shown = words(visitor.get(path).text)
    assert f"Messages of the user from the record: step {copy.sequence}" in shown
    assert "Messages written by a person" not in shown


def test_a_link_of_the_branch_names_the_messages_of_a_person(chat: Session, stub: StubModelServer) -> None:
    play(stub, A, "a.txt has 7 lines.", B, SECOND)
    replay = continued(chat, 2)
    go_on(replay, [], by="ada", message=NextMessage(text="What does b.txt say?"))
    (own,) = messages_in(worked(replay))
    visitor, path = opened(shared(chat.project, branch_of(replay))[1])
    assert f"Messages written by a person: step {own.sequence}" in words(visitor.get(path).text)
