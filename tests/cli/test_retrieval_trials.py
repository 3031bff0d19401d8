"""Retrieval experiments in the terminal: a trial of one step, the ranks of a frame, and sweeps of settings."""

import pytest

from tests.cli.refunds import refunds
from tests.cli.terminal import Here
from tests.cli.test_process import started
from tests.waiting import wait_until
from timemachine.recording.sessions.models import Session
from timemachine.replay.sweeps.commands import cancel
from timemachine.replay.sweeps.models import Sweep


@pytest.fixture
def recorded(tm: Here, worker: None) -> Session:
    return refunds(tm)


def test_a_trial_repeats_one_step_with_chosen_passages(tm: Here, recorded: Session) -> None:
    ran = tm.run(
        "session", "trial", "s1", "1", "--frames", "#2,0", "--question", "How long is the guarantee?"
    )
    assert (ran.code, ran.err) == (0, "")
    rows = {line[2:18].strip(): line[18:].strip() for line in ran.out.splitlines()}
    assert rows["mode"] == "trial, chosen passages"
    assert rows["question now"] == "How long is the guarantee?"
    assert "lost #1" in rows["retrieval"]
    assert "The guarantee covers defects for three years." in ran.out
    found = tm.run("session", "trial", "s1", "1", "--top-k", "1", "--mode", "lexical")
    assert "trial, lexical search, top 1, as of" in found.out
    assert "trial, frozen context" in tm.run("session", "trial", "s1", "1").out
    refused = tm.run("session", "trial", "s1", "1", "--frames", "9")
    assert (refused.code, refused.out) == (1, "")
    assert "no frame 9" in refused.err


def test_the_rank_of_a_frame_is_shown_step_by_step(tm: Here, recorded: Session) -> None:
    ran = tm.run("session", "where", "s1", "--text", "Batteries are covered for one year.")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0] == "#2 Guarantee (contains the sentence)"
    assert lines[1].startswith("Step 1 · ask · hybrid, top 8 · When are refunds paid?")
    assert lines[2].strip() == "#2 found at rank 3" or "found at rank" in lines[2]
    assert lines[3].strip().startswith("as recorded  hybrid ")
    assert len(tm.json("session", "where", "s1", "--frame", "2")["items"]) == 2
    assert tm.run("session", "where", "s1").code == 1


def test_the_results_of_a_sweep_are_shown_as_a_table(tm: Here, recorded: Session) -> None:
    ran = tm.run(
        "session", "sweep", "s1", "--mode", "lexical", "--top-k", "1", "--top-k", "8", "--not-adaptive"
    )
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0].split()[:3] == ["#", "mode", "top-k"]
    assert lines[1].split()[:5] == ["1", "lexical", "1", "exactly", "top-k"]
    assert "2 steps; tokens by wordllama" in lines[3]
    assert tm.run("session", "sweep", "s1", "--top-k", "0").code == 1


def test_a_sweep_tries_every_given_cut_off(tm: Here, recorded: Session) -> None:
    def swept_values(*options: str) -> list[bool]:
        run = tm.json("session", "sweep", "s1", "--mode", "lexical", "--top-k", "1", *options)
        return [row["adaptive"] for row in run["rows"]]

    assert swept_values("--adaptive", "--not-adaptive") == swept_values() == [False, True]
    assert swept_values("--adaptive") == [True]
    assert swept_values("--not-adaptive") == [False]


def test_a_cancelled_sweep_is_a_failure_even_if_the_output_pipe_is_closed(tm: Here) -> None:
    refunds(tm)
    process = started(["session", "sweep", "s1"])
    assert process.stdout is not None
    process.stdout.close()
    wait_until(Sweep.objects.exists)
    cancel(Sweep.objects.get())
    assert process.wait(60) == 1
    assert process.stderr is not None
    assert b"The sweep is cancelled" in process.stderr.read()
    process.stderr.close()
