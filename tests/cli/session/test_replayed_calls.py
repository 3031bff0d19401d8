"""`session replay` of a session with model calls, and what fails on what they do."""

from collections.abc import Iterator

import pytest

from tests.cli.terminal import Here
from tests.replay.continuation.conftest import drafts, repeat
from tests.stub_model_server import StubModelServer
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session

REPLAY = ("session", "replay", "adding", "--audit", "--use-model", "openai:gpt-4o")


@pytest.fixture
def session(tm: Here, worker: None) -> Session:
    session = start_session(tm.project, name="Adding", by="test", key="adding")
    append(session.id, drafts())
    return session


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubModelServer]:
    with StubModelServer() as server:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url + "/v1")
        yield server


def test_a_check_can_fail_on_what_the_model_does(tm: Here, session: Session, stub: StubModelServer) -> None:
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
