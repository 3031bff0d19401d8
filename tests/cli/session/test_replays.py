"""`session replay`, against a real server with a replay worker."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection

from tests.cli.refunds import refunds
from tests.cli.terminal import Here, Terminal
from tests.provider_failures import as_vendors
from tests.waiting import wait_until
from timemachine.cli.commands.session import replays
from timemachine.cli.terminal import Progress
from timemachine.knowledge.models import Frame
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.replay.runs.commands import cancel
from timemachine.replay.runs.models import Replay

REFUSED: list[tuple[tuple[str, ...], str]] = [
    (("--audit", "--top-k", "3"), "`top_k` cannot be used"),
    (("--audit", "--adaptive"), "`adaptive` cannot be used"),
    (("--audit", "--use-model", "nobody:x"), "nobody"),
    (("--use-model", "openai:gpt-5"), "key"),
    (("--use-model", "local:extractive-1", "--use-model", "local:extractive-3", "--top-k", "3"), "`top_k`"),
    (("--use-model", "local:extractive-1", "--use-model", "local:extractive-3", "--skip-asks"), "skip_asks"),
    (("--from-checkpoint", "nowhere"), "no checkpoint 'nowhere'"),
    (("--skip-asks", "--skip-finds"), "nothing to replay"),
    (("--top-k", "0"), "`top_k`"),
]


@pytest.fixture
def recorded(tm: Here, worker: None) -> Session:
    return refunds(tm)


def test_an_audit_without_a_model_verifies_the_frozen_context(tm: Here, recorded: Session) -> None:
    ran = tm.run("session", "replay", "s1", "--audit")
    assert (ran.code, ran.err) == (0, "")
    replay = Replay.objects.get()
    assert replay.kind == "audit"
    assert (replay.reason or "").startswith("command line")
    first, *_ = ran.out.split("\n\n")
    lines = first.splitlines()
    assert lines[0].startswith("Step 1 · ask · ")
    rows = {line[2:18].strip(): line[18:].strip() for line in lines[1:7]}
    assert rows["mode"] == "audit, frozen context"
    assert rows["original model"] == "local:extractive-1"
    assert rows["frozen frames"].startswith("3: #")
    assert rows["context"] == "verified"
    assert ran.out.splitlines()[-1].startswith(f"Replay {replay.id} is done: ")


def test_an_audit_with_another_model_shows_both_answers_and_what_differs(tm: Here, recorded: Session) -> None:
    ran = tm.run(
        "session",
        "replay",
        "s1",
        "--audit",
        "--use-model",
        "local:extractive-3",
        "--diff",
        "--reason",
        "Weil.",
    )
    assert ran.code == 0, ran
    assert Replay.objects.get().reason == "Weil."
    step = ran.out.split("\n\n")[0]
    assert "  model now       local:extractive-3" in step
    assert "  original answer:\n    Refunds are paid within 14 days.\n" in step
    assert "  new answer:\n    " in step
    assert "{+" in step.partition("  diff:\n")[2]
    assert "[-" not in step.partition("  diff:\n")[2]


def test_a_debug_replay_shows_what_retrieval_returns_now(tm: Here, recorded: Session) -> None:
    tm.json(
        "put",
        "handbook",
        "-",
        "--title",
        "News",
        given="Refunds are paid at once since May. Refunds are quick.",
    )
    ran = tm.run(
        "session", "replay", "s1", "--top-k", "8", "--mode", "lexical", "--as-of", "now", "--verbose"
    )
    assert ran.code == 0, ran
    first, second, *_ = ran.out.split("\n\n")
    assert "  mode            debug, lexical search, top 8, as of " in first
    assert "  retrieval       changed" in first
    assert "  recorded hits (" in first
    assert "  hits now (" in first
    assert re.search(r"rank +score +scores +frame +title", first)
    assert "  recorded call  local:extractive-1; " in first
    assert second.startswith("Step 4 · find · ")
    assert "answer:" not in second


def test_an_ask_with_a_grounding_of_another_tool_is_replayed(tm: Here, worker: None) -> None:
    session = start_session(tm.project, name="Elsewhere", by="test", key="s2")
    ask = ActionDraft(
        kind="ask", model="local:extractive-1", input="Why?", output="So.", grounding={"score": 0.5}
    )
    append(session.id, [ask])
    ran = tm.run("session", "replay", "s2", "--audit", "--verbose")
    assert ran.code == 0, ran
    assert "; without a label 0.50" in ran.out


def test_the_collection_as_recorded_returns_the_recorded_hits(tm: Here, recorded: Session) -> None:
    tm.json("put", "handbook", "-", given="Refunds are paid at once since May.")
    done = tm.json("session", "replay", "s1", "--as-of", "recorded")
    assert done["retrieval"] == {"same": 2}
    assert done["verdicts"] == {"identical": 1}


def test_an_adaptive_replay_finds_what_the_demo_missed_and_says_at_which_rank(tm: Here, worker: None) -> None:
    tm.json("demo")
    ran = tm.run("session", "replay", "demo-card-desk", "--adaptive", "--skip-finds")
    asked = ran.out.partition("Step 2 ")[2].partition("Step 5 ")[0]
    assert "debug, hybrid search, pool 100, adaptive, as of" in asked
    assert "#12 at rank 12" in asked.partition("gained ")[2]


def test_an_adaptive_replay_that_misses_a_passage_names_the_options_that_find_it(
    tm: Here, worker: None
) -> None:
    tm.json("demo")
    replay = ("session", "replay", "demo-card-desk", "--adaptive", "--skip-finds")
    missed = tm.run(*replay, "--relative", "0.7", "--cliff", "0.7").out
    (named,) = re.findall("#12 at rank 12 with (.*)", missed.partition("Step 2 ")[2].partition("Step 5 ")[0])
    assert set(named.split()[::2]) == {"--relative", "--cliff"}
    assert "#12 at rank 12" in tm.run(*replay, *named.split()).out.partition("gained ")[2]
    limited = tm.run(*replay, "--pool", "11").out
    assert "#12 at rank 12 with --pool 12" in limited


def test_parts_of_a_session_can_be_skipped(tm: Here, recorded: Session) -> None:
    for words, sequences in (
        ((), [1, 4]),
        (("--skip-asks",), [4]),
        (("--skip-finds",), [1]),
        (("--from-checkpoint", "answered"), [4]),
        (("--from-checkpoint", "3"), [4]),
    ):
        done = tm.json("session", "replay", str(recorded.id), *words)
        stored = Replay.objects.get(id=done["id"]).steps.order_by("sequence")
        assert list(stored.values_list("sequence", flat=True)) == sequences
        assert done["status"] == "done"


def test_json_output_is_the_api_document(tm: Here, recorded: Session) -> None:
    done = tm.json("session", "replay", "s1", "--audit", "--use-model", "local:extractive-1", "--diff")
    assert done["context"]["verified"] == 2
    assert done["model"] == "local:extractive-1"
    assert done["steps"]["done"] == 2


def test_a_replay_never_changes_the_session_it_replays(tm: Here, recorded: Session) -> None:
    before = tm.json("session", "view", "s1")
    tm.json("session", "replay", "s1", "--use-model", "local:extractive-5", "--top-k", "5")
    assert tm.json("session", "view", "s1") == before


def test_a_later_deletion_of_a_frame_is_shown_next_to_its_hash(tm: Here, recorded: Session) -> None:
    Frame.objects.filter(number=0).update(valid_until=recorded.ended_at, ended_by="delete")
    out = tm.run("session", "replay", "s1", "--audit").out
    assert "#0 (deleted since)" in out
    assert "  context         verified" in out


def test_conditions_that_hold_exit_with_3_and_are_listed(tm: Here, recorded: Session) -> None:
    replay = ("session", "replay", "s1", "--as-of", "recorded", "--fail-on", "error", "--fail-on", "verified")
    ran = tm.run(*replay, "--fail-on", "identical", "--fail-on", "same")
    says = "verified in 2 steps; identical in 1 step; same in 2 steps"
    assert (ran.code, ran.err) == (3, f"--fail-on: {says}.\n")
    assert ran.out != ""
    document = tm.run(*replay, "--json")
    assert (document.code, document.err) == (3, "--fail-on: verified in 2 steps.\n")
    assert json.loads(document.out)["status"] == "done"


def test_conditions_that_do_not_hold_exit_with_0(tm: Here, recorded: Session) -> None:
    conditions = [
        word
        for name in ("altered", "missing", "error", "numbers differ", "cost:0.01")
        for word in ("--fail-on", name)
    ]
    ran = tm.run("session", "replay", "s1", "--as-of", "recorded", *conditions)
    assert (ran.code, ran.err) == (0, "")


def test_the_address_of_the_replay_page_is_printed(tm: Here, recorded: Session) -> None:
    out = tm.run("session", "replay", "s1", "--audit", "--web").out
    assert out.splitlines()[-1] == f"{tm.url}/replays/{Replay.objects.get().id}/"


def test_invalid_options_are_refused_and_create_no_replay(
    tm: Here, recorded: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    for words, says in REFUSED:
        assert says in tm.refused("session", "replay", "s1", *words)
    assert not Replay.objects.exists()


@pytest.mark.parametrize(
    "words",
    [
        ("--fail-on", "worse"),
        ("--fail-on", "cost:much"),
        ("--mode", "guess"),
        ("--as-of", "yesterday"),
        ("--top-k", "x"),
    ],
)
def test_wrong_usage_exits_with_2(words: tuple[str, ...], terminal: Terminal) -> None:
    ran = terminal.run("session", "replay", "s1", *words)
    assert (ran.code, ran.out) == (2, "")
    assert words[0] in ran.err


def test_a_session_without_replayable_steps_is_refused(tm: Here) -> None:
    tm.json("session", "start", "c", "--name", "n", "--key", "s1")
    assert "nothing to replay" in tm.refused("session", "replay", "s1")


def test_a_replay_cancelled_by_someone_else_is_reported_as_cancelled(tm: Here) -> None:
    session = start_session(tm.project, name="n", key="s1", by="test")
    append(session.id, [ActionDraft(kind="find", input="q")])

    def cancel_it() -> None:
        wait_until(Replay.objects.exists)
        cancel(Replay.objects.get())
        connection.close()

    with ThreadPoolExecutor() as threads:
        cancelled = threads.submit(cancel_it)
        ran = tm.run("session", "replay", "s1")
        cancelled.result()
    assert ran.code == 1
    assert ran.err.startswith("The replay was cancelled.")


def test_the_estimate_is_shown_first_and_the_spend_limit_is_enforced(
    tm: Here, recorded: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    with as_vendors(monkeypatch) as stub:
        ran = tm.run(
            "session", "replay", "s1", "--audit", "--use-model", "openai:gpt-4o", "--spend-limit", "0"
        )
        assert stub.calls() == []
    assert "with openai:gpt-4o: estimated cost $0.00" in ran.err
    assert "not asked because of the spend limit" in ran.out.splitlines()[-1]
    assert Replay.objects.get().options["spend_limit_usd"] == 0


def test_a_replay_without_a_worker_warns_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replays, "_PATIENCE", 0.0)
    update = replays._updater(Progress())
    steps = {"total": 2, "done": 0, "failed": 0, "skipped": 0, "cancelled": 0}
    waiting = {"calls": 0, "until": None}
    queued: Any = {
        "status": "queued",
        "steps": steps,
        "waiting": waiting,
        "cost_usd": 0,
        "unknown_cost_calls": 0,
    }
    for _ in range(3):
        update(queued)
    output = capsys.readouterr().err
    assert output.count("\n") == 1
    assert "Check that a worker is running" in output
