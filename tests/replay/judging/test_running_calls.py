"""Running judgements: one at a time, cancelled by a person, or lost with their process."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, connections
from pytest_django.fixtures import Settings

from tests.api.conftest import Program, program
from tests.provider_failures import BUSY
from tests.replay.judging.opinions import ASK, MODEL, opinion
from tests.stub_model_server import Script, StubModelServer
from tests.web.people import browser_of
from timemachine.core.payloads.models import Payload
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict, NotFound, Unavailable
from timemachine.core.pure.ids import uuid7
from timemachine.core.pure.numbers import dollars as as_json_number
from timemachine.core.pure.numbers import total_cost
from timemachine.llm.concurrency import call_slot, call_slots
from timemachine.llm.models import ModelTrial
from timemachine.llm.trials import try_model
from timemachine.recording.sessions.deletions import erase_session
from timemachine.recording.sessions.models import Action, Session
from timemachine.replay.judging.commands import judge
from timemachine.replay.judging.models import ASKING, LONGEST_CALL, Judgement
from timemachine.replay.judging.queries import judgements_of


def test_a_form_sent_twice_is_not_paid_twice(
    transactional_db: None, session: Session, ask: Action, stub: StubModelServer
) -> None:
    refused = threading.Event()
    stub.script(Script(question="<sentence", answer=opinion(ask), held=refused))
    outcomes: list[str] = []

    def run() -> None:
        try:
            outcomes.append(judge(ask, use_model=MODEL, by="test").state)
        except Conflict as why:
            outcomes.append(why.code)
            refused.set()
        connection.close()

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["done", "judge_under_way"]
    assert len(stub.calls()) == 2


def test_judgements_and_model_tests_use_a_call_slot_like_asks(
    session: Session, ask: Action, stub: StubModelServer, settings: Settings
) -> None:
    settings.ASKS_AT_ONCE = 1
    call_slots.cache_clear()
    with call_slot():
        for call in (
            lambda: judge(ask, use_model=MODEL, by="test"),
            lambda: try_model(session.project_id, MODEL, by="test"),
        ):
            with pytest.raises(Unavailable) as refused:
                call()
            assert refused.value.code == "too_many_asks"
    assert (Judgement.objects.count(), ModelTrial.objects.count(), len(stub.calls())) == (0, 0, 1)
    assert try_model(session.project_id, MODEL, by="test").error_code is None
    call_slots.cache_clear()


@pytest.mark.parametrize("what", ["judge", "test"])
def test_no_database_connection_is_held_while_a_model_is_silent(
    transactional_db: None, session: Session, ask: Action, stub: StubModelServer, what: str
) -> None:
    looked = threading.Event()
    stub.script(Script(answer=opinion(ask), held=looked))
    mine = connections["default"]
    held: list[bool] = []

    def check() -> None:
        stub.wait_for_calls(2)
        held.append(mine.connection is not None)
        looked.set()

    watching = threading.Thread(target=check)
    watching.start()
    if what == "judge":
        judge(ask, use_model=MODEL, by="test")
    else:
        try_model(session.project_id, MODEL, by="test")
    watching.join()
    assert held == [False]


def test_a_lost_judgement_is_shown_as_lost_and_blocks_no_other(
    session: Session, ask: Action, stub: StubModelServer
) -> None:
    stub.script(Script(question="<sentence", answer=opinion(ask)))
    lost = judge(ask, use_model=MODEL, by="test")
    began = now() - LONGEST_CALL - timedelta(seconds=1)
    Judgement.objects.filter(id=lost.id).update(state=ASKING, created_at=began)
    lost.refresh_from_db()
    assert lost.state_now == "lost"
    shown = browser_of(session.project).get(f"/sessions/{session.id}/?step={ASK}").text
    assert "The call may have been billed" in shown
    assert judge(ask, use_model=MODEL, by="test").state == "done"
    assert [each.state for each in judgements_of(ask)] == ["lost", "done"]


def test_a_reply_after_the_session_was_erased_is_not_stored(
    transactional_db: None, session: Session, ask: Action, stub: StubModelServer
) -> None:
    erased = threading.Event()
    stub.script(Script(question="<sentence", answer=opinion(ask), held=erased))
    outcome: list[str] = []

    def run() -> None:
        try:
            judge(ask, use_model=MODEL, by="test")
        except NotFound as why:
            outcome.append(why.message)
        connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    stub.wait_for_calls(2)
    erase_session(session)
    erased.set()
    thread.join()
    assert "may have been billed" in outcome[0]
    assert not Payload.objects.filter(project=session.project, media_type="application/json").exists()


def test_a_judgement_can_be_cancelled_from_elsewhere_while_its_model_is_silent(
    transactional_db: None, session: Session, stub: StubModelServer, api: Program
) -> None:
    stub.script(Script(question="<sentence", mode="silent", seconds=60))
    path = f"/sessions/{session.id}/actions/{ASK}/judgements"
    address = f"/sessions/{session.id}/?step={ASK}"
    answers: list[Any] = []
    person = browser_of(session.project)

    def run() -> None:
        answers.append(program(session.project).post(path, {"model": MODEL}).json())
        connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    stub.wait_for_calls(2)
    (asking,) = api.get(path).json()["items"]
    assert (asking["state"], asking["cancel_wanted"]) == ("asking", False)
    assert ">Cancel</button>" in person.get(address).text
    assert ">Cancel</button>" not in browser_of(session.project, "viewer").get(address).text
    response = api.post(f"{path}/{asking['id']}/cancel")
    assert (response.status_code, response.json()) == (200, {"id": asking["id"], "cancel_wanted": True})
    thread.join(timeout=60)
    assert (answers[0]["state"], answers[0]["error"]["type"]) == ("failed", "cancelled")
    assert answers[0]["cost_usd"] is None, "its question was sent"
    assert "may have been billed" in answers[0]["error"]["message"]
    repeated = api.post(f"{path}/{asking['id']}/cancel")
    assert (repeated.status_code, repeated.json()["code"]) == (409, "judgement_over")
    shown = person.get(address).text
    assert ">cancelled</span>: The call to" in shown
    assert "; 1 judgement 1 call of unknown price" in " ".join(shown.split())


def test_a_person_cancels_a_judgement_with_the_button(
    session: Session, ask: Action, stub: StubModelServer
) -> None:
    stub.script(Script(question="<sentence", answer=opinion(ask)))
    person = browser_of(session.project)
    made = judge(ask, use_model=MODEL, by="test")
    address = f"/sessions/{session.id}/steps/{ASK}/judgements/{made.id}/cancel/"
    over: Any = person.post(address, follow=True)
    assert "This judgement has already finished" in over.text
    Judgement.objects.filter(id=made.id).update(state=ASKING)
    sent: Any = person.post(address, follow=True)
    assert sent.redirect_chain[0][0] == f"/sessions/{session.id}/?step={ASK}#judgements"
    assert "is being cancelled" in sent.text
    assert f"{made.id}/cancel/" not in sent.text
    cancel_requested_at = Judgement.objects.get(id=made.id).cancel_wanted_at
    person.post(address)
    assert Judgement.objects.get(id=made.id).cancel_wanted_at == cancel_requested_at is not None


def test_the_cost_of_judgements_is_shown_separately_from_the_session_cost(
    session: Session, ask: Action, stub: StubModelServer, api: Program
) -> None:
    zero = {"count": 0, "cost_usd": 0.0, "unknown_cost_calls": 0}
    assert api.get(f"/sessions/{session.id}/summary").json()["judgements"] == zero
    stub.script(Script(question="<sentence", answer=opinion(ask)))
    made = [judge(ask, use_model=model, by="test") for model in (MODEL, MODEL, "openai:no-such-model")]
    Judgement.objects.create(
        **{
            name: getattr(made[0], name)
            for name in ("project", "session", "action", "sequence", "prompt_id", "sentences", "model")
        }
    )
    body = api.get(f"/sessions/{session.id}/summary").json()
    dollars = 2 * made[0].cost_usd if made[0].cost_usd else 0
    assert body["judgements"] == {"count": 3, "cost_usd": float(dollars), "unknown_cost_calls": 1}
    assert body["cost_usd"] == as_json_number(Session.objects.get(id=session.id).cost_usd)
    shown = " ".join(browser_of(session.project).get(f"/sessions/{session.id}/").text.split())
    assert f"; 3 judgements {total_cost(dollars, 1)}" in shown
    stub.script(Script(question="<sentence", mode="error", **BUSY | {"retry_after": "0"}))
    assert judge(ask, use_model="openai:no-such-model", by="test").calls_made == 3
    body = api.get(f"/sessions/{session.id}/summary").json()
    assert body["judgements"] == {"count": 4, "cost_usd": float(dollars), "unknown_cost_calls": 1}


def test_resending_the_form_of_a_finished_judgement_makes_no_call(
    session: Session, ask: Action, stub: StubModelServer
) -> None:
    stub.script(Script(question="<sentence", answer=opinion(ask)))
    person = browser_of(session.project)
    form = {"model": MODEL, "judgement": str(uuid7())}
    for _ in range(2):
        sent = person.post(f"/sessions/{session.id}/steps/{ASK}/judge/", form)
    assert "This form was already submitted" in person.get(sent["Location"]).text
    assert str(Judgement.objects.get().id) == form["judgement"]


def test_the_outcome_of_a_judgement_is_shown_only_on_its_step_page(
    session: Session, stub: StubModelServer
) -> None:
    stub.script(Script(question="<sentence", mode="refusal"))
    person = browser_of(session.project)
    person.post(f"/sessions/{session.id}/steps/{ASK}/judge/", {"model": MODEL})
    outcome = f"Step {ASK} of {session.name} was not judged by {MODEL}: The judge model refused"
    others = ("/", f"/sessions/{session.id}/?step={ASK + 1}", f"/sessions/{session.id}/?step={ASK}&tab=state")
    assert not [path for path in others if outcome in person.get(path).text]
    step = f"/sessions/{session.id}/?step={ASK}"
    assert outcome in person.get(step).text
    assert outcome not in person.get(step).text
