"""`session judge`, against a real server and a scripted judge."""

import json
import signal

import pytest

from tests.cli.terminal import Here
from tests.cli.test_asking import Typed
from tests.cli.test_process import shell
from tests.stub_model_server import Script, StubModelServer
from tests.waiting import wait_until
from timemachine.replay.judging.models import Judgement

MODEL = "openai:gpt-4o-mini"


@pytest.fixture
def recorded(tm: Here) -> str:
    """A session whose first step is an ask with an answer."""
    assert tm.run("put", "handbook", "-", given="Refunds are paid within 14 days.").code == 0
    tm.json("session", "start", "handbook", "--name", "n", "--key", "s1")
    tm.json("ask", "handbook", "--question", "When are refunds paid?", "--session", "s1")
    return "s1"


def entry(**more: object) -> dict[str, object]:
    return {"number": 1, "verdict": "contradicted", "passage": 1, "quote": "within 30 days"} | more


def test_judge_shows_the_cost_first_and_then_each_sentence(
    tm: Here, stub: StubModelServer, recorded: str
) -> None:
    stub.script(Script(answer=json.dumps({"sentences": [entry()]})))
    ran = tm.run("session", "judge", recorded, "1", "--model", MODEL)
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0].startswith(f"Asking {MODEL}: about $0.00")
    assert lines[1:3] == [
        "  1  quote not found  Refunds are paid within 14 days.",
        "     judge model: contradicted; quote not found in the passages (passage 1, #0): within 30 days",
    ]
    rows = {line.split("  ", 1)[0]: line.split("  ", 1)[1].strip() for line in lines[4:]}
    assert rows["verdicts"] == "0 supported, 0 contradicted, 0 not found, 1 quote not found"
    assert rows["grounding"] == "same for every sentence"
    assert rows["cost"].startswith("$0.00")


def test_judge_with_json_prints_the_api_document(tm: Here, stub: StubModelServer, recorded: str) -> None:
    stub.script(Script(answer=json.dumps({"sentences": [entry(quote="within 14 days")]})))
    made = tm.json("session", "judge", recorded, "1", "--model", MODEL)
    assert (made["state"], made["sentences"][0]["quote_in"]) == ("done", 1)


def test_an_unreadable_judgement_is_a_one_line_error(tm: Here, stub: StubModelServer, recorded: str) -> None:
    stub.script(Script(answer="All good!"))
    ran = tm.run("session", "judge", recorded, "1", "--model", MODEL)
    assert ran.code == 1
    assert "it is not the requested JSON" in ran.err
    assert len(ran.err.splitlines()) == 1
    assert "verdicts" not in ran.out


def test_a_judge_failure_is_reported_even_if_the_output_pipe_is_closed(
    tm: Here, stub: StubModelServer, recorded: str
) -> None:
    stub.script(Script(answer="All good!"))
    done = shell(f"timemachine session judge {recorded} 1 --model {MODEL} | true")
    assert (done.returncode, b"not the requested JSON" in done.stderr) == (1, True)
    assert len(stub.calls()) == 1


def test_ctrl_c_cancels_the_judgement(tm: Here, stub: StubModelServer, recorded: str) -> None:
    stub.script(Script(mode="silent", seconds=20))
    typed = Typed("session", "judge", recorded, "1", "--model", MODEL)
    stub.wait_for_calls(1)
    typed.process.send_signal(signal.SIGINT)
    assert typed.read().startswith(f"Asking {MODEL}")
    code, stderr = typed.end()
    assert (code, "The judgement was cancelled" in stderr) == (130, True)
    wait_until(lambda: Judgement.objects.get().state == "failed")
    assert Judgement.objects.get().error_type == "cancelled"
    assert "1 call of unknown price for 1 judgement" in tm.run("session", "view", recorded).out


def test_the_local_model_cannot_judge(tm: Here, recorded: str) -> None:
    refusal = tm.refused("session", "judge", recorded, "1", "--model", "local:extractive")
    assert "quotes sentences and cannot judge them" in refusal
