"""`session replay` with a language model: tokens, prices and failures."""

import pytest

from tests.api.conftest import program
from tests.cli.refunds import refunds
from tests.cli.terminal import Here
from tests.stub_model_server import Script, StubModelServer
from timemachine.core.pure.numbers import money
from timemachine.recording.sessions.models import Session


@pytest.fixture
def recorded(tm: Here, worker: None) -> Session:
    return refunds(tm)


def test_a_language_model_shows_its_tokens_and_its_price(
    tm: Here, recorded: Session, stub: StubModelServer
) -> None:
    stub.script(
        Script(
            answer="Within 14 days.",
            usage={"prompt_tokens": 1200, "completion_tokens": 45, "total_tokens": 1245},
        )
    )
    ran = tm.run(
        "session",
        "replay",
        "s1",
        "--audit",
        "--use-model",
        "openai:gpt-4o",
        "--verbose",
        "--fail-on",
        "cost:0.001",
    )
    call = next(line for line in ran.out.splitlines() if line.startswith("  call now"))
    assert "openai:gpt-4o; tokens 1,200 in, 45 out" in call
    assert "; $0.00345; " in call
    assert ran.code == 3
    expected, held = ran.err.splitlines()
    assert expected.startswith("1 call with openai:gpt-4o: estimated cost $0.000")
    assert held.startswith("--fail-on: the replay cost $0.003")


def test_the_estimate_for_a_changed_prompt_is_that_of_the_api(
    tm: Here, recorded: Session, stub: StubModelServer
) -> None:
    stub.script(Script(answer="Within 14 days."))
    arguments = ("session", "replay", "s1", "--audit", "--use-model", "openai:gpt-4o")
    prompt = "Be brief. " * 1_000
    ran = tm.run(*arguments, "--system-prompt", prompt, "--max-tokens", "4000")
    body = {"audit": True, "reason": "r", "use_models": ["openai:gpt-4o"]}
    changed = body | {"system_prompt": prompt, "max_tokens": 4_000}
    (document,) = (
        program(tm.project, "run").post("/sessions/s1/replays/estimate", changed).json()["estimates"]
    )
    assert document["cost_usd"] > 0.04
    assert f"1 call with openai:gpt-4o: estimated cost {money(document['cost_usd'])}.\n" in ran.err


def test_an_unknown_price_is_shown_as_unknown_and_exceeds_any_limit(
    tm: Here, recorded: Session, stub: StubModelServer
) -> None:
    stub.script(Script(answer="Within 14 days."))
    ran = tm.run(
        "session", "replay", "s1", "--audit", "--use-model", "openai:nobody-knows-1", "--fail-on", "cost:100"
    )
    assert (ran.code, ran.err) == (
        3,
        "1 call with openai:nobody-knows-1: estimated cost 1 call of unknown price.\n"
        "--fail-on: the cost of 1 call is not known, so it may be more than $100.00.\n",
    )
    ran_ask = tm.run("ask", "handbook", "--question", "When?", "--use-model", "openai:nobody-knows-1")
    assert "cost       unknown\n" in ran_ask.out


def test_a_model_failure_is_an_error_of_the_step_and_not_of_the_command(
    tm: Here, recorded: Session, stub: StubModelServer
) -> None:
    stub.script(Script(mode="error", status=400, body='{"error": {"message": "no such thing"}}'))
    ran = tm.run("session", "replay", "s1", "--audit", "--use-model", "openai:gpt-4o")
    assert ran.code == 0
    assert "no such thing" not in ran.err
    assert ran.out.startswith("Step 1 · ask · error\n")
    assert "no such thing" in ran.out
    assert (
        tm.run(
            "session", "replay", "s1", "--audit", "--use-model", "openai:gpt-4o", "--fail-on", "error"
        ).code
        == 3
    )


def test_a_replay_whose_steps_all_fail_has_failed(tm: Here, recorded: Session, stub: StubModelServer) -> None:
    stub.script(Script(mode="error", status=400, body='{"error": {"message": "no such thing"}}'))
    ran = tm.run("session", "replay", "s1", "--audit", "--use-model", "openai:gpt-4o", "--skip-finds")
    assert ran.code == 1
    assert ran.err.splitlines()[-1].startswith("Every step of the replay failed. ")
    assert "; error: " in ran.out.splitlines()[-1]
    assert "no such thing" in ran.out.splitlines()[-1]
    tm.run("suite", "create", "nightly", "s1", "--audit", "--use-model", "openai:gpt-4o")
    nightly = tm.run("suite", "run", "nightly").out
    assert any(line.startswith("error") and "no such thing" in line for line in nightly.splitlines())
    with tm.unchanged():
        refused = tm.run("ask", "handbook", "--question", "When?", "--use-model", "openai:gpt-4o")
    assert (refused.code, refused.out) == (1, "")
    assert "no such thing" in refused.err
