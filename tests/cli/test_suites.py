"""`suite`: created, run, waited for, reported and deleted, against a real server with a replay worker."""

import pytest

from tests.builders import QUESTIONS, recorded_session
from tests.cli.terminal import Here
from timemachine.recording.sessions.deletions import erase_session
from timemachine.recording.sessions.models import Session
from timemachine.replay.runs.models import Replay
from timemachine.replay.suites.models import Suite, SuiteRun

ONE = ("--audit", "--reason", "Nightly", "--use-model", "local:extractive-1")


@pytest.fixture
def session(tm: Here) -> Session:
    return recorded_session(tm.project, key="s1")


def test_a_suite_that_ran_twice_reports_what_changed(tm: Here, session: Session, worker: None) -> None:
    made = tm.run("suite", "create", "nightly", "s1", *ONE, "--schedule", "daily 07:30 Europe/Berlin")
    assert made.code == 0, made
    assert "schedule    daily 07:30 Europe/Berlin" in made.out
    assert "latest run  not run yet" in made.out
    first = tm.run("suite", "run", "nightly")
    assert first.code == 0, first
    assert "compared with  no earlier audit run to compare with" in first.out
    assert "verdicts       3 identical" in first.out
    assert tm.run("suite", "edit", "nightly", "--use-model", "local:extractive-3").code == 0
    second = tm.run("suite", "run", "nightly", "--wait")
    assert second.code == 0, second
    assert "compared with  run 1: worse 2" in second.out
    assert "$0 before, $0 now, over 3 steps" in second.out
    assert "worse   s1" in second.out
    assert QUESTIONS[1] in second.out
    assert second.out == tm.run("suite", "report", "nightly").out
    assert f"/suites/{Suite.objects.get().id}/runs/2/" in second.out
    every = tm.run("suite", "report", "nightly", "2", "--all").out
    assert QUESTIONS[0] in every
    document = tm.json("suite", "report", "nightly", "2")
    assert [each["change"] for each in document["items"]] == ["worse", "worse"]
    assert document["run"]["since"] == {"worse": 2, "same": 2}
    assert tm.json("suite", "report", "nightly", "1")["items"] == []


def test_a_condition_that_holds_exits_with_3(tm: Here, session: Session, worker: None) -> None:
    tm.run("suite", "create", "nightly", "s1", *ONE, "--fail-on", "worse", "--fail-on", "cost:1")
    assert tm.run("suite", "run", "nightly").code == 0
    tm.run("suite", "edit", "nightly", "--use-model", "local:extractive-3")
    done = tm.run("suite", "run", "nightly", "--fail-on", "numbers-differ", "--json")
    assert (done.code, done.err) == (3, "--fail-on: worse in 2 steps; numbers differ in 1 step.\n")
    wrong = tm.run("suite", "run", "nightly", "--fail-on", "rain")
    assert (wrong.code, "new_failure" in wrong.err) == (2, True)
    assert tm.json("suite", "show", "nightly")["fail_on"] == ["worse", "cost:1"]


def test_without_waiting_a_run_is_only_launched_and_can_be_cancelled(tm: Here, session: Session) -> None:
    tm.run("suite", "create", "nightly", "s1", *ONE)
    done = tm.run("suite", "run", "nightly", "--no-wait")
    assert done.out == f"Run 1: {tm.url}/suites/{Suite.objects.get().id}/runs/1/\n"
    assert "still in progress" in tm.run("suite", "run", "nightly").err
    assert tm.run("suite", "runs", "nightly").out.count("in progress") == 1
    assert tm.run("suite", "cancel", "nightly").out == "Run 1 is cancelled.\n"
    assert set(Replay.objects.values_list("status", flat=True)) == {"cancelled"}
    assert "has already finished" in tm.run("suite", "cancel", "nightly", "1").err


def test_a_run_cancelled_by_someone_else_is_a_failure(
    tm: Here, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    tm.run("suite", "create", "nightly", "s1", *ONE)
    monkeypatch.setattr(
        "timemachine.client.waiting.time.sleep", lambda _: tm.run("suite", "cancel", "nightly")
    )
    done = tm.run("suite", "run", "nightly")
    assert (done.code, "was cancelled" in done.err) == (1, True)


def test_suites_and_runs_are_listed(tm: Here, session: Session, worker: None) -> None:
    assert "No suites yet" in tm.run("suite", "list").out
    tm.run("suite", "create", "nightly", "s1", *ONE)
    assert "No runs yet" in tm.run("suite", "runs", "nightly").out
    tm.run("suite", "run", "nightly")
    tm.run("suite", "run", "nightly")
    listed = tm.run("suite", "list").out
    assert "2: nothing changed" in listed
    assert "manual" in listed
    runs = tm.run("suite", "runs", "nightly").out.splitlines()
    assert [line.split()[:2] for line in runs[1:]] == [["2", "done"], ["1", "done"]]
    assert [each["number"] for each in tm.json("suite", "runs", "nightly")["items"]] == [2, 1]
    assert tm.json("suite", "list")["items"][0]["name"] == "nightly"


def test_an_erased_session_is_named(tm: Here, session: Session, worker: None) -> None:
    second = recorded_session(tm.project, key="s2", questions=QUESTIONS[:1])
    tm.run("suite", "create", "nightly", "s1", "s2", *ONE)
    tm.run("suite", "run", "nightly")
    erase_session(second)
    assert "missing     deleted: s2" in tm.run("suite", "show", "nightly").out
    done = tm.run("suite", "run", "nightly", "--fail-on", "left_out")
    assert done.code == 3
    assert "Left out, s2: The session s2 was deleted" in done.out


def test_only_the_given_options_are_edited(tm: Here, session: Session) -> None:
    tm.run("suite", "create", "nightly", "s1", *ONE, "--skip-finds", "--spend-limit", "2")
    found = tm.json(
        "suite", "edit", "nightly", "--name", "weekly", "--seed", "7", "--schedule", "every 3 hours"
    )
    stored = {"audit": True, "reason": "Nightly", "skip_finds": True, "spend_limit_usd": 2.0, "seed": 7}
    assert (found["name"], found["options"]) == ("weekly", stored)
    assert (found["use_models"], found["schedule"]) == (["local:extractive-1"], "every 3 hours")
    assert tm.json("suite", "edit", "weekly", "--no-schedule")["next_run_at"] is None
    assert tm.run("suite", "edit", "weekly").code == 2
    assert tm.run("suite", "edit", "weekly", "--no-schedule", "--schedule", "every 1 hour").code == 2
    debug = tm.json("suite", "create", "debug", "s1", "--mode", "lexical", "--top-k", "3", "--as-of", "now")
    assert debug["options"] == {"search_mode": "lexical", "top_k": 3, "as_of": "now"}
    audit = tm.json("suite", "create", "audit", "s1", "--audit")
    assert audit["options"]["reason"].startswith("command line")


def test_sessions_may_be_chosen_by_filter_instead_of_by_name(
    tm: Here, session: Session, worker: None
) -> None:
    made = tm.run("suite", "create", "nightly", *ONE, "--match", "s1", "--match-agent", "desk", "--most", "3")
    assert "matching    the newest 3 sessions with q s1, agent desk, searched again at each run" in made.out
    assert "No session matches" in tm.run("suite", "run", "nightly").err
    tm.run("suite", "edit", "nightly", "--match", "s1")
    assert tm.json("suite", "show", "nightly")["matching"] == {"q": "s1", "most": 20}
    assert tm.run("suite", "run", "nightly").code == 0
    assert tm.run("suite", "edit", "nightly", "--match", "s1", "--no-match").code == 2
    refused = tm.run("suite", "edit", "nightly", "--no-match")
    assert (refused.code, "at least one session" in refused.err) == (1, True)
    assert tm.json("suite", "edit", "nightly", "--session", "s1", "--no-match")["matching"] is None


def test_a_suite_is_deleted_after_confirmation(tm: Here, session: Session, worker: None) -> None:
    tm.run("suite", "create", "nightly", "s1", *ONE)
    tm.run("suite", "run", "nightly")
    assert "Nothing was deleted" in tm.run("suite", "delete", "nightly", given="no\n").err
    assert Suite.objects.exists()
    done = tm.run("suite", "delete", "nightly", given="yes\n")
    assert done.out == "Suite nightly was deleted with 1 run. Their replays stay.\n"
    assert (Suite.objects.count(), SuiteRun.objects.count(), Replay.objects.count()) == (0, 0, 1)
    assert "There is no suite 'nightly'" in tm.run("suite", "show", "nightly").err
