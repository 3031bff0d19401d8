"""Replays of recorded model calls: the frozen request is verified and sent again, and what the model does is compared."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from pytest_django import Settings

from tests.builders import replayed, stored_as, tamper, unpack_payloads
from tests.replay.continuation.conftest import stubbed
from tests.stub_model_server import Script, StubModelServer
from timemachine.core.accounts.models import Project
from timemachine.core.payloads.queries import value
from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage
from timemachine.replay.runs.estimate import estimate_replays
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.plan import steps_in
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.runs.queries import steps_of
from timemachine.replay.runs.schemas import ReplayOut
from timemachine.replay.runs.trials import try_step
from timemachine.replay.runs.worker import work

MODEL = "openai:gpt-4o"
AUDIT = ReplayOptions(audit=True, reason="Would another model do the same?", use_model=MODEL)
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": f"Calls {name}.",
            "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
        },
    }
    for name in ("read_file", "delete_file")
]
SYSTEM = {"role": "system", "content": "You are careful."}
QUESTION = {"role": "user", "content": "What does notes.txt say?"}


def a_call(name: str, **arguments: object) -> dict[str, Any]:
    written = json.dumps(arguments)
    function = {"name": name, "arguments": written}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": function}],
    }


READ = a_call("read_file", path="notes.txt")
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "Buy milk."}


def asked(messages: list[dict[str, Any]], output: object, **facts: Any) -> ActionDraft:
    request = {"model": "gpt-4o-mini", "messages": messages, "tools": TOOLS, "temperature": 0.5}
    given: dict[str, Any] = {"model": "openai:gpt-4o-mini", "agent": "reader", **facts}
    return ActionDraft(kind="llm_call", input=request, output=output, **given)


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Iterator[StubModelServer]:
    with stubbed(monkeypatch, settings) as server:
        yield server


@pytest.fixture
def session(db: None, project: Project) -> Session:
    """Two model calls with a tool call between them, recorded with their requests."""
    session = start_session(project, name="Reading", by="test")
    append(
        session.id,
        [
            asked([SYSTEM, QUESTION], READ),
            ActionDraft(
                kind="tool_call",
                tool="read_file",
                input={"path": "notes.txt"},
                output="Buy milk.",
                agent="reader",
            ),
            asked([SYSTEM, QUESTION, READ, RESULT], "It says: buy milk."),
        ],
    )
    return session


def all_steps(replay: Replay) -> list[Any]:
    return list(steps_of(replay))


def test_an_audit_without_a_model_verifies_the_requests_and_calls_nothing(
    session: Session, stub: StubModelServer
) -> None:
    found = ReplayOut.of(replayed(session, ReplayOptions(audit=True, reason="r")))
    assert found.status == "done"
    assert (found.context.verified, found.verdicts) == (2, {})
    assert found.summary == "2 steps of 2 checked, no model called; context verified 2 of 2"
    assert stub.calls() == []


def test_an_audit_sends_exactly_the_recorded_request_to_the_other_model(
    session: Session, stub: StubModelServer
) -> None:
    replayed(session, AUDIT)
    first, second = (call.body for call in stub.calls())
    assert [each["role"] for each in second["messages"]] == ["system", "user", "assistant", "tool"]
    assert second["messages"][2]["tool_calls"][0]["function"] == {
        "name": "read_file",
        "arguments": '{"path": "notes.txt"}',
    }
    assert [each["function"]["name"] for each in first["tools"]] == ["read_file", "delete_file"]
    assert (first["model"], first["temperature"]) == ("gpt-4o", 0.5)


def test_each_call_is_compared_as_an_action(session: Session, stub: StubModelServer) -> None:
    stub.script(Script(answer="", tools=(("read_file", {"path": "other.txt"}),), times=1))
    stub.script(Script(answer="It says: buy milk."))
    replay = replayed(session, AUDIT)
    first, second = all_steps(replay)
    assert (first.verdict, second.verdict) == ("other_arguments", "identical")
    (differing,) = first.evidence["differing"]
    (path,) = differing["paths"]
    assert (path["path"], path["recorded"], path["new"]) == ("/path", "notes.txt", "other.txt")
    assert value(first.output)["tool_calls"][0]["function"]["name"] == "read_file"
    assert value(second.output) == "It says: buy milk."
    assert ReplayOut.of(replay).summary.startswith(
        "2 model calls replayed with openai:gpt-4o: 1 identical, other arguments in 1; the runs first diverge at step 1, where the "
        "model calls the tool with different arguments; context verified 2 of 2"
    )


@pytest.mark.parametrize(
    ("script", "verdict"),
    [
        (Script(answer="Let me look.", tools=(("read_file", {"path": "notes.txt"}),)), "same_action"),
        (Script(answer="", tools=(("delete_file", {"path": "notes.txt"}),)), "other_tool"),
        (Script(answer="It lists a few things."), "answers_instead"),
        (Script(mode="error", status=400, body='{"error": {"message": "no"}}'), "error"),
        (Script(mode="refusal"), "refused"),
    ],
)
def test_what_another_model_does_instead_is_named(
    session: Session, stub: StubModelServer, script: Script, verdict: str
) -> None:
    stub.script(script)
    first = all_steps(replayed(session, AUDIT))[0]
    assert first.verdict == verdict


def test_an_answer_of_anthropic_keeps_its_calls(session: Session, stub: StubModelServer) -> None:
    stub.script(Script(answer="I look.", tools=(("read_file", {"path": "notes.txt"}),)))
    replay = replayed(session, AUDIT.with_model("anthropic:claude-sonnet-4-5"))
    first = all_steps(replay)[0]
    assert first.verdict == "same_action"
    assert [block["type"] for block in value(first.output)["content"]] == ["text", "tool_use"]


def test_a_debug_replay_calls_the_recorded_model(session: Session, stub: StubModelServer) -> None:
    replayed(session, ReplayOptions())
    assert [call.model for call in stub.calls()] == ["gpt-4o-mini", "gpt-4o-mini"]


def test_a_changed_request_is_named_and_not_sent(session: Session, stub: StubModelServer) -> None:
    first = session.actions.get(sequence=1)
    assert first.input_id is not None
    unpack_payloads()
    altered = "convert_to(replace(convert_from(data, 'UTF8'), 'careful', 'carefree'), 'UTF8')"
    assert tamper(f"UPDATE tm_payload SET {stored_as(altered)} WHERE id = %s", [first.input_id])
    changed, kept = all_steps(replayed(session, AUDIT))
    assert (changed.context, kept.context) == ("altered", "verified")
    assert "no longer matches its recorded hash" in changed.evidence["not_asked"]
    assert len(stub.calls()) == 1


def test_a_request_is_rebuilt_from_turns_and_says_what_is_absent(
    project: Project, stub: StubModelServer
) -> None:
    session = start_session(project, name="Turns only", by="test")
    append(
        session.id,
        [
            ActionDraft(kind="message", role="user", input="What does notes.txt say?"),
            ActionDraft(kind="llm_call", output="Nothing.", model="anthropic:claude-sonnet-4-5"),
        ],
    )
    stub.script(Script(answer="Nothing."))
    replay = replayed(session, AUDIT)
    (step,) = all_steps(replay)
    assert (step.context, step.verdict) == ("reconstructed", "identical")
    assert step.evidence["request"]["absent"] == ["system prompt", "tool definitions", "parameters"]
    assert ReplayOut.of(replay).context.reconstructed == 1


def test_a_request_that_the_provider_does_not_accept_says_why_before_anything_is_sent(
    project: Project, stub: StubModelServer
) -> None:
    session = start_session(project, name="Too warm", by="test")
    request = {"messages": [QUESTION], "temperature": 1.7}
    append(session.id, [ActionDraft(kind="llm_call", input=request, output="Hm.", model="openai:gpt-4o")])
    (step,) = all_steps(replayed(session, AUDIT.with_model("anthropic:claude-sonnet-4-5")))
    assert "temperature" in step.evidence["not_asked"]
    assert stub.calls() == []


@pytest.mark.parametrize(
    ("chosen", "steps"),
    [
        ({"only": "tool:read_file"}, [1]),
        ({"only": "kind:llm_call"}, [1, 3]),
        ({"only": "agent:reader"}, [1, 3]),
        ({"through_sequence": 2}, [1]),
        ({"after_sequence": 1}, [3]),
        ({"sample": 1}, None),
    ],
)
def test_a_filter_chooses_calls_and_those_that_led_to_a_step(
    session: Session, chosen: dict[str, Any], steps: list[int] | None
) -> None:
    found = steps_in(session, ReplayOptions(**chosen))
    assert found == steps or (steps is None and len(found) == 1)


def test_a_sample_is_the_same_in_every_replay(project: Project) -> None:
    session = start_session(project, name="Long", by="test")
    append(session.id, [asked([QUESTION], "Yes.") for _ in range(20)])
    first = steps_in(session, ReplayOptions(sample=5))
    assert (len(first), sorted(first)) == (5, first)
    assert steps_in(session, ReplayOptions(sample=5, use_model=MODEL)) == first
    assert set(first) < set(steps_in(session, ReplayOptions(sample=6)))


def test_a_filter_that_nothing_fits_is_refused(session: Session) -> None:
    with pytest.raises(InvalidInput, match="No find, ask or model call fits “tool:delete_file”"):
        replayed(session, ReplayOptions(only="tool:delete_file"))
    with pytest.raises(InvalidInput, match="tol"):
        replayed(session, ReplayOptions(only="tol:delete_file"))


def test_calls_can_be_left_out(session: Session) -> None:
    with pytest.raises(InvalidInput, match="nothing to replay"):
        replayed(session, ReplayOptions(skip_calls=True))


def test_a_trial_sends_one_call_with_one_change(session: Session, stub: StubModelServer) -> None:
    changes = ReplayOptions(step=3, system_prompt="Answer in French.", question="Et bien?", use_model=MODEL)
    replay = try_step(session, changes, by="test")
    work(replay.id, "worker of a test")
    (call,) = stub.calls()
    assert call.body["messages"][0] == {"role": "system", "content": "Answer in French."}
    assert call.body["messages"][1]["content"] == "Et bien?"
    (step,) = all_steps(replay)
    assert step.sequence == 3


@pytest.mark.parametrize(
    "change", [{"frames": (1,)}, {"top_k": 3}, {"prompt_template": "{question} {passages}"}]
)
def test_a_trial_of_a_call_refuses_what_would_have_no_effect(
    session: Session, change: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInput, match="would have no effect"):
        try_step(session, ReplayOptions(step=1, **change), by="test")


def test_an_estimate_counts_calls_with_their_recorded_tokens(project: Project, stub: StubModelServer) -> None:
    session = start_session(project, name="Priced", by="test")
    append(
        session.id,
        [
            asked([QUESTION], "Yes.", usage=Usage(input_tokens=1_000_000, output_tokens=100_000)),
            asked([QUESTION], "Yes."),
        ],
    )
    (found,) = estimate_replays([session], [AUDIT])
    assert (found.calls, found.guessed_calls, found.unknown_cost_calls) == (2, 1, 0)
    assert found.cost_usd == pytest.approx(2.5 + 1.0, abs=0.001)


def test_a_replay_of_some_steps_does_not_say_where_the_runs_first_part(
    session: Session, stub: StubModelServer
) -> None:
    stub.script(Script(answer="", tools=(("delete_file", {}),)))
    found = ReplayOut.of(replayed(session, AUDIT.model_copy(update={"after_sequence": 1})))
    assert "the first replayed step that differs is step 3, where the model calls" in found.summary
    assert found.first_divergence is not None
    assert found.first_divergence.earlier_unanswered == 1


def test_the_spend_limit_stops_before_a_call(session: Session, stub: StubModelServer) -> None:
    replay = replayed(session, AUDIT.model_copy(update={"spend_limit_usd": 0.000001}))
    assert [step.status for step in all_steps(replay)] == ["skipped", "skipped"]
    assert stub.calls() == []


def only_turns(project: Project) -> Session:
    """The same run, of which only the turns were recorded, without system prompt and definitions of tools."""
    session = start_session(project, name="Reading", by="test")
    spoken: dict[str, Any] = {"model": "openai:gpt-4o-mini", "agent": "reader"}
    read = {"path": "notes.txt"}
    append(
        session.id,
        [
            ActionDraft(kind="message", role="user", output="What does notes.txt say?"),
            ActionDraft(kind="llm_call", output=READ, **spoken),
            ActionDraft(kind="tool_call", tool="read_file", call_id="c1", input=read, agent="reader"),
            ActionDraft(
                kind="tool_result", tool="read_file", call_id="c1", output="Buy milk.", agent="reader"
            ),
            ActionDraft(kind="llm_call", output="It says: buy milk.", **spoken),
        ],
    )
    return session


@pytest.fixture
def turns(db: None, project: Project) -> Session:
    return only_turns(project)


def test_tools_without_recorded_definitions_are_offered_as_the_calls_show_them(
    turns: Session, stub: StubModelServer
) -> None:
    stub.script(Script(answer="", tools=(("read_file", {"path": "notes.txt"}),), times=1))
    stub.script(Script(answer="It says: buy milk."))
    replay = replayed(turns, AUDIT)
    assert [step.verdict for step in all_steps(replay)] == ["identical", "identical"]
    for sent in stub.calls():
        (tool,) = sent.body["tools"]
        assert tool["function"] == {
            "name": "read_file",
            "parameters": {
                "type": "object",
                "properties": {"path": {"type": "string"}},
                "required": ["path"],
            },
        }
    assert all_steps(replay)[0].evidence["request"]["inferred_tools"] == ["read_file"]


def test_a_request_that_was_recorded_without_tools_is_sent_without_them(
    project: Project, stub: StubModelServer
) -> None:
    session = start_session(project, name="Summary", by="test")
    request: dict[str, Any] = {"model": "gpt-4o-mini", "messages": [QUESTION, READ, RESULT]}
    made: dict[str, Any] = {"model": "openai:gpt-4o-mini", "agent": "reader"}
    append(
        session.id,
        [
            ActionDraft(kind="llm_call", input={**request, "messages": [QUESTION]}, output=READ, **made),
            ActionDraft(kind="llm_call", input=request, output="It says: buy milk.", **made),
        ],
    )
    replay = replayed(session, AUDIT)
    assert ReplayOut.of(replay).context.verified == 2
    first, second = (sent.body.get("tools", []) for sent in stub.calls())
    assert [tool["function"]["name"] for tool in first] == ["read_file"], "its answer called a tool"
    assert second == []


def test_a_replay_says_what_its_requests_lack(turns: Session, stub: StubModelServer) -> None:
    found = ReplayOut.of(replayed(turns, AUDIT))
    assert found.context.reconstructed == 2
    assert found.absent == {"parameters": 2, "system prompt": 2, "tool definitions": 2}
    assert found.inferred_tools == 2
    assert "sent without what was not recorded: parameters, system prompt; tools offered as" in found.summary


def test_recorded_requests_lack_nothing(session: Session, stub: StubModelServer) -> None:
    found = ReplayOut.of(replayed(session, AUDIT))
    assert (found.absent, found.inferred_tools) == ({}, 0)
    assert "not recorded" not in found.summary


def test_a_model_that_cannot_call_tools_is_not_asked_what_to_call(
    turns: Session, stub: StubModelServer
) -> None:
    replay = replayed(turns, AUDIT.model_copy(update={"use_model": "local:extractive"}))
    for step in all_steps(replay):
        assert (step.status, step.verdict, step.output) == ("done", None, None)
        assert "cannot call tools" in step.evidence["not_asked"]
