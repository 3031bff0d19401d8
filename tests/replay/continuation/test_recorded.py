"""What the branch of a continuation records, from recordings of all kinds."""

import pytest

from tests.replay.continuation.conftest import (
    QUESTION,
    SYSTEM,
    branch_steps,
    called,
    continued,
    drafts,
    ending_of,
)
from tests.stub_model_server import Script, StubModelServer
from timemachine.core.accounts.models import Project
from timemachine.core.payloads.queries import value
from timemachine.llm.pure.requests.neutral import ToolCall
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.replay.continuation.branches import with_ids


def test_a_recorded_result_without_content_is_a_result(project: Project, stub: StubModelServer) -> None:
    session = start_session(project, name="No content", by="test")
    call = ActionDraft(kind="tool_call", tool="read_file", call_id="call_1", input={"path": "a.txt"})
    result = ActionDraft(kind="tool_result", tool="read_file", call_id="call_1")
    append(session.id, [drafts()[0], call, result, called([QUESTION], "One.")])
    stub.script(Script(answer="Step 1.", tools=(("read_file", {"path": "a.txt"}),), times=1))
    stub.script(Script(answer="One."))
    replay = continued(session)
    assert (replay.status, ending_of(replay).why) == ("done", "finished")
    assert stub.calls()[1].body["messages"][-1]["role"] == "tool"


def test_the_branch_records_the_request_that_was_sent(
    project: Project, stub: StubModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MISTRAL_BASE_URL", f"{stub.url}/v1")
    monkeypatch.setenv("MISTRAL_API_KEY", "sk-of-nobody")
    session = start_session(project, name="Settings", by="test")
    request = {
        "model": "gpt-4o-mini",
        "messages": [SYSTEM, QUESTION],
        "max_tokens": 77,
        "temperature": 0.3,
        "seed": 4,
    }
    append(session.id, [ActionDraft(kind="llm_call", input=request, output="3", model="openai:gpt-4o-mini")])
    rejected = '{"error": {"message": "Unsupported parameter: temperature"}}'
    stub.script(Script(mode="error", body=rejected, times=1, model="gpt-5"))
    delivery = {"stream", "stream_options"}
    for model in ("openai:gpt-4o", "openai:gpt-5", "mistral:small", "anthropic:claude-sonnet-4-5"):
        replay = continued(session, use_model=model)
        sent = stub.calls()[-1].body
        assert value(branch_steps(replay)[0].input) == {
            name: each for name, each in sent.items() if name not in delivery
        }, model


def test_a_failed_result_with_an_image_has_its_text_as_the_error(
    project: Project, stub: StubModelServer
) -> None:
    session = start_session(project, name="An image", by="test")
    image = {"type": "base64", "media_type": "image/png", "data": "aGk="}
    content = [{"type": "text", "text": "No such file."}, {"type": "image", "source": image}]
    call = {"type": "tool_use", "id": "call_1", "name": "read_file", "input": {"path": "a.txt"}}
    result = {"type": "tool_result", "tool_use_id": "call_1", "is_error": True, "content": content}
    request = {
        "model": "claude-sonnet-4-5",
        "system": "You are careful.",
        "messages": [
            QUESTION,
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [result]},
        ],
    }
    append(
        session.id, [drafts()[0], ActionDraft(kind="llm_call", agent="coder", input=request, output="None.")]
    )
    stub.script(Script(answer="Step 1.", tools=(("read_file", {"path": "a.txt"}),), times=1))
    stub.script(Script(answer="None."))
    steps = branch_steps(continued(session, use_model="anthropic:claude-sonnet-4-5"))
    assert (steps[1].kind, steps[1].error_message) == ("tool_result", "No such file.")


def test_calls_with_the_same_id_get_their_own_results() -> None:
    parts = [ToolCall(id=each, name="read_file", arguments={}) for each in ("0", "0", "", "1")]
    assert [part.id for part in with_ids(parts, 2) if isinstance(part, ToolCall)] == [
        "0",
        "continue_2_2",
        "continue_2_3",
        "1",
    ]
