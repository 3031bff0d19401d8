"""`comparison`, and `session replay` with several models, against a real server with a replay worker."""

import json
from collections.abc import Generator
from typing import Any

import pytest

from tests.brokers import tending
from tests.builders import recorded_session
from tests.cli.terminal import Here
from tests.cli.test_process import shell
from tests.provider_failures import as_vendors
from tests.stub_answers import Script
from tests.stub_model_server import StubModelServer
from timemachine.recording.sessions.models import Session
from timemachine.replay.comparison.judge_queue import judge_waiting
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.runs.models import Replay

MODELS = ("--model", "local:extractive-1", "--model", "local:extractive-3")
USED = ("--use-model", "local:extractive-1", "--use-model", "local:extractive-3")

VERDICT = json.dumps({"relation": "different", "better": "neither", "reason": "One says more."})


@pytest.fixture
def session(tm: Here) -> Session:
    return recorded_session(tm.project, key="s1")


def test_a_comparison_is_waited_for_and_shown_as_text(tm: Here, session: Session, worker: None) -> None:
    done = tm.run("comparison", "create", "s1", *MODELS, "--reason", "Welches?", "--noise-floor")
    assert done.code == 0, done
    made = Comparison.objects.get()
    assert made.reason == "Welches?"
    assert "2 local:extractive-3" in done.out
    assert "1 identical, numbers differ in 1, adds something in 1" in done.out
    assert "A: recording, B: 1 local:extractive-1" in done.out
    assert "too few: mean 1.00 against 0.33" in done.out
    assert "noise floor" in done.out
    assert tm.run("comparison", "view", str(made.id)).out == done.out
    assert str(made.id) in tm.run("comparison", "list").out
    assert tm.json("comparison", "view", str(made.id))["status"] == "done"


def test_a_replay_with_several_models_checks_its_conditions_for_each(
    tm: Here, session: Session, worker: None
) -> None:
    done = tm.run("session", "replay", "s1", *USED, "--diff", "--fail-on", "numbers_differ")
    assert done.code == 3, done
    assert done.err == "--fail-on: local:extractive-3: numbers differ in 1 step.\n"
    assert "A: 1 local:extractive-1, B: 2 local:extractive-3" in done.out
    assert "diff:" in done.out
    assert Comparison.objects.get().reason.startswith("command line")


def test_without_waiting_a_comparison_is_only_launched_and_can_be_cancelled(
    tm: Here, session: Session
) -> None:
    assert "No comparisons yet" in tm.run("comparison", "list").out
    done = tm.run(
        "comparison", "create", "s1", *MODELS, "--no-wait", "--temperature", "0.5", "--spend-limit", "2"
    )
    made = Comparison.objects.get()
    assert done.out == f"{tm.url}/comparisons/{made.id}/\n"
    assert made.arms[0] == {"model": "local:extractive-1", "temperature": 0.5}
    assert made.spend_limit_usd == 2
    assert "is cancelled" in tm.run("comparison", "cancel", str(made.id)).out
    assert set(Replay.objects.values_list("status", flat=True)) == {"cancelled"}


def test_a_cancelled_comparison_can_be_retried_once_it_has_ended(
    tm: Here, session: Session, request: Any
) -> None:
    tm.run("comparison", "create", "s1", *MODELS, "--no-wait")
    made = str(Comparison.objects.get().id)
    assert "still running" in tm.run("comparison", "retry", made).err
    tm.run("comparison", "cancel", made)
    assert tm.run("comparison", "retry", made, "--no-wait").out == f"{tm.url}/comparisons/{made}/\n"
    tm.run("comparison", "cancel", made)
    request.getfixturevalue("worker")
    done = tm.run("comparison", "retry", made)
    assert (done.code, done.out) == (0, tm.run("comparison", "view", made).out), done
    assert "6 of 6 answered" in done.out
    over = tm.run("comparison", "retry", made)
    assert (over.code, over.err) == (
        1,
        "No answer of this comparison failed or was cancelled, so there is nothing to retry.\n",
    )


def test_an_invalid_comparison_is_refused_in_one_line(tm: Here, session: Session) -> None:
    done = tm.run("comparison", "create", "s1", "--model", "local:extractive-1")
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "2 to 8 variants" in done.err


def test_a_variant_may_have_its_own_prompt_and_shares_the_other_options(tm: Here, session: Session) -> None:
    brief = tm.file("brief.txt", "Be brief = short, ☃.")
    done = tm.run(
        *("comparison", "create", "s1", "--no-wait", "--max-tokens", "50", "--temperature", "0"),
        *("--arm", f"local:extractive-1 system-prompt=@{brief}"),
        *("--model", "local:extractive-1 temperature=0.5 'system_prompt=Say why.'"),
        *("--arm", "local:extractive-1 seed=7"),
    )
    assert done.code == 0, done
    model = {"model": "local:extractive-1", "max_tokens": 50}
    assert Comparison.objects.get().arms == [
        model | {"temperature": 0, "system_prompt": "Be brief = short, ☃."},
        model | {"temperature": 0.5, "system_prompt": "Say why."},
        model | {"temperature": 0, "seed": 7},
    ]


def test_a_malformed_variant_is_wrong_usage(tm: Here) -> None:
    for arm, says in (
        ("", "has no model"),
        ("local:extractive-1 'system-prompt=", "an unclosed quote"),
        ("local:extractive-1 top_k=3", "'top_k=3'"),
        ("local:extractive-1 model=other", "'model=other'"),
        ("local:extractive-1 seed=1 seed=2", "'seed=2'"),
        ("local:extractive-1 seed", "'seed'"),
        ("local:extractive-1 temperature=warm", "temperature=warm is not a number"),
        ("local:extractive-1 system-prompt=@nowhere.txt", "Cannot read nowhere.txt"),
    ):
        done = tm.run("comparison", "create", "s1", "--arm", arm, "--model", "local:extractive-3")
        assert (done.code, says in done.err) == (2, True), done


def test_a_condition_that_holds_for_a_variant_over_all_sessions_exits_with_3(
    tm: Here, session: Session, worker: None
) -> None:
    recorded_session(tm.project, key="s2")
    arguments = ("comparison", "create", "s1", "s2", *MODELS, "--fail-on", "numbers differ")
    done = tm.run(*arguments, "--fail-on", "cost:0", "--json")
    assert done.code == 3
    assert done.err == "--fail-on: local:extractive-3: numbers differ in 2 steps.\n"
    assert '"status": "done"' in done.out
    assert tm.run(*arguments, "--no-wait").code == 2


def test_the_cost_is_estimated_first_and_a_cost_condition_applies_per_variant(
    tm: Here, session: Session, worker: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with as_vendors(monkeypatch) as stub:
        usage = {"prompt_tokens": 1_000_000, "completion_tokens": 0, "total_tokens": 1_000_000}
        stub.script(Script(answer="Ten years.", usage=usage))
        done = tm.run(
            *("comparison", "create", "s1", "--fail-on", "cost:0.2"),
            *("--model", "openai:gpt-4o-mini", "--model", "local:extractive-1"),
        )
    assert done.code == 3, done
    estimate, held = done.err.splitlines()
    assert estimate.startswith("3 calls with openai:gpt-4o-mini: estimated cost $0.")
    assert held == "--fail-on: openai:gpt-4o-mini: the arm cost $0.45, more than $0.20."


@pytest.fixture
def judging(tm: Here) -> Generator[StubModelServer]:
    """A stub in place of OpenAI that judges every pair the same way, and a worker that asks it."""

    def work() -> None:
        for comparison_id in Comparison.objects.values_list("id", flat=True):
            judge_waiting(comparison_id)

    with pytest.MonkeyPatch.context() as patched, as_vendors(patched) as stub:
        stub.script(Script(answer=VERDICT))
        with tending(work):
            yield stub


def test_judges_are_waited_for_and_their_verdicts_and_failures_are_counted(
    tm: Here, session: Session, worker: None, judging: StubModelServer
) -> None:
    tm.run("comparison", "create", "s1", *MODELS)
    made = str(Comparison.objects.get().id)
    about = tm.run("comparison", "judge", made, "--model", "openai:stub-judge", "--estimate")
    assert "in 4 calls, about unknown, by four characters to a token" in about.out
    done = tm.run("comparison", "judge", made, "--model", "openai:stub-judge")
    assert done.code == 0, done
    assert "asked about       2 answers" in done.out
    assert "2 different" in done.out
    assert "2 neither" in done.out
    assert "4 calls of unknown price" in done.out
    repeated = tm.run("comparison", "judge", made, "--model", "openai:stub-judge")
    assert (repeated.code, "This judge has no answers left" in repeated.err) == (1, True)
    judging.script(Script(answer="Both are nice."))
    critic = ("comparison", "judge", made, "--model", "openai:stub-critic")
    failed = tm.run(*critic)
    assert failed.code == 1
    assert "2 judge failed" in failed.out
    assert "openai:stub-critic rated no answer: " in failed.err
    judging.script(Script(question="<answer", answer=VERDICT))
    after_a_failure = tm.run(*critic)
    assert after_a_failure.code == 0, after_a_failure
    calls = len(judging.calls())
    unread = shell(f"timemachine comparison judge {made} --model openai:stub-third | true")
    assert (unread.returncode, unread.stderr) == (0, b"")
    assert len(judging.calls()) == calls + 4
