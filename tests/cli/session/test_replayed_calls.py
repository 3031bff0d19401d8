"""`session replay` of a session with model calls, and what fails on what they do."""

import re

import pytest

from tests.cli.terminal import Here
from tests.replay.continuation.conftest import QUESTION, called, repeat
from tests.stub_model_server import Script, StubModelServer
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.runs.models import Replay

REPLAY = ("session", "replay", "adding", "--audit", "--use-model", "openai:gpt-4o")


def test_a_check_can_fail_on_what_the_model_does(tm: Here, adding: Session, stub: StubModelServer) -> None:
    repeat(stub, always=True, write_file={"path": "d.txt"})
    does = ("--fail-on", "other_arguments", "--fail-on", "answers instead", "--fail-on", "other_tool")
    ran = tm.run(*REPLAY, *does)
    assert (ran.code, ran.err.splitlines()[-1]) == (3, "--fail-on: other arguments in 1 step.")
    compared = tm.run(
        "comparison", "create", "adding", "--model", "openai:gpt-4o", "--model", "openai:gpt-4o-mini", *does
    )
    assert compared.code == 3
    assert "openai:gpt-4o: other arguments in 1 step" in compared.err
    tm.run("suite", "create", "nightly", "adding", *REPLAY[3:], *does)
    assert tm.json("suite", "show", "nightly")["fail_on"] == [
        "other_arguments",
        "answers_instead",
        "other_tool",
    ]
    assert "other arguments in 1 step" in tm.run("suite", "run", "nightly").err


def test_model_calls_are_a_table_with_the_finding_right_after_it(
    tm: Here, adding: Session, stub: StubModelServer
) -> None:
    repeat(stub, always=True, write_file={"path": "d.txt"})
    ran = tm.run(*REPLAY)
    about, table, end = (part.splitlines() for part in ran.out.split("\n\n"))
    assert [line.split("  ")[0] for line in about] == [
        "model calls",
        "mode",
        "original model",
        "model now",
        "not recorded",
    ]
    assert len(table) == 1 + 4
    rows = [re.split(r"  +", line.strip()) for line in table]
    assert rows[0] == ["step", "recorded", "new", "verdict", "context"]
    assert rows[1] == ["1", "read_file {a.txt}", "read_file {a.txt}", "identical", "verified"]
    assert rows[3][3:] == ["other arguments", "verified"]
    assert "the runs first diverge at step 5" in end[0]
    for option in ("--diff", "--verbose"):
        in_full = tm.run(*REPLAY, option).out
        assert "Step 5 · llm call · other arguments" in in_full
        assert "original answer:" in in_full


def test_long_texts_of_a_model_call_are_cut_to_a_line(tm: Here, worker: None) -> None:
    session = start_session(tm.project, name="Chat", by="test", key="adding")
    append(session.id, [called([QUESTION], "One line.\n" * 500)])
    ran = tm.run("session", "replay", "adding", "--audit")
    assert max(map(len, ran.out.splitlines())) < 200
    assert "answers: One line. One line." in ran.out


def test_a_comparison_says_why_a_model_did_not_answer(
    tm: Here, adding: Session, stub: StubModelServer
) -> None:
    for question in ("Put the sum", "Step 1.", "Step 2.", "Step 3."):
        no_model = '{"error": {"message": "No such model"}}'
        stub.script(Script(question=question, model="gpt-4o-mini", mode="error", status=404, body=no_model))
    models = ("--model", "openai:gpt-4o", "--model", "openai:gpt-4o-mini")
    ran = tm.run("comparison", "create", "adding", *models)
    failed = "2 openai:gpt-4o-mini: 4 answers missing: openai:gpt-4o-mini returned 404: No such model. "
    assert failed in ran.out
    found = tm.json("comparison", "view", str(Comparison.objects.get().id))
    assert [(each["arm"], each["answers"]) for each in found["missing_answers"]] == [(2, 4)]
    assert found["unknown_cost_calls"] == 0


def test_a_wrong_condition_is_answered_with_the_verdicts_of_actions_too(tm: Here) -> None:
    ran = tm.run(*REPLAY, "--fail-on", "rain")
    assert ran.code == 2
    for name in (
        "same_action",
        "other_arguments",
        "other_tool",
        "answers_instead",
        "calls_instead",
        "reconstructed",
    ):
        assert name in ran.err


def test_a_debug_replay_whose_recorded_model_cannot_be_used_is_refused_before_it_starts(
    tm: Here, adding: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    refused = tm.run("session", "replay", "adding")
    assert (refused.code, Replay.objects.exists()) == (1, False)
    assert "As recorded, the model calls cannot be replayed. openai:gpt-4o-mini cannot be used" in refused.err
    assert "local:extractive needs no key" in refused.err


def test_an_audit_of_requests_that_were_not_recorded_says_that_nothing_could_be_verified(
    tm: Here, worker: None
) -> None:
    session = start_session(tm.project, name="Chat", by="test", key="chat")
    question = ActionDraft(kind="message", role="user", output="How long?")
    append(session.id, [question, ActionDraft(kind="llm_call", output="14 days.", model="openai:gpt-4o")])
    ran = tm.run("session", "replay", "chat", "--audit")
    assert "nothing could be verified: 1 step whose request was not recorded" in ran.out
    assert "checked" not in ran.out


def test_why_calls_were_not_asked_is_said_once_and_whole(
    tm: Here, worker: None, stub: StubModelServer
) -> None:
    session = start_session(tm.project, name="Without messages", by="test", key="adding")
    append(session.id, [ActionDraft(kind="llm_call", model="openai:gpt-4o", output="Done.")] * 2)
    ran = tm.run(*REPLAY)
    (reason,) = [line for line in ran.out.splitlines() if line.startswith("not asked")]
    assert reason.endswith("which OpenAI models cannot continue.")
    assert ran.out.count("models cannot continue") == 1
    assert not stub.calls()
