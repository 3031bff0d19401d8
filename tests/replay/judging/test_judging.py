"""Judgements through the public interfaces: requested, stored, shown next to the grounding, and erased with the session."""

import json
from typing import Any

import pytest
from django.db import connection

from tests.api.conftest import Program
from tests.builders import tamper
from tests.replay.judging.opinions import ANSWER, ASK, MODEL, judge_reply, opinion, place_of
from tests.stub_model_server import Script, StubModelServer
from tests.web.people import browser_of
from timemachine.core.accounts.models import Project
from timemachine.core.payloads.models import Payload
from timemachine.core.pure.errors import Conflict, InvalidInput
from timemachine.management.demo import commands as demo
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.deletions import erase_session
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft, RetrievalDraft
from timemachine.recording.sessions.queries import action_of
from timemachine.replay.judging.commands import judge
from timemachine.replay.judging.models import Judgement
from timemachine.replay.judging.schemas import sentences_of
from timemachine.replay.runs import frozen


def recorded(session: Session) -> list[tuple[object, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT a::text FROM tm_action a WHERE session_id = %s ORDER BY sequence", [session.id]
        )
        return [*cursor.fetchall(), *Session.objects.filter(id=session.id).values_list()]


def test_a_judgement_contains_the_verdicts_and_whether_the_quotes_exist(
    session: Session, ask: Action, stub: StubModelServer, api: Program
) -> None:
    stub.script(Script(question="<sentence", answer=opinion(ask)))
    before = recorded(session)
    path = f"/sessions/{session.id}/actions/{ASK}/judgements"
    answered = api.post(path, {"model": MODEL})
    assert answered.status_code == 201
    made = answered.json()
    place = place_of(ask, "Retention")
    assert (made["state"], made["model"], made["error"]) == ("done", MODEL, None)
    assert made["verdicts"] == {
        "supported": 1,
        "contradicted": 0,
        "not_found": 1,
        "quote_not_found": 1,
        "disagree": 1,
    }
    first, second, third = made["sentences"]
    assert (first["verdict"], first["quote_in"], first["frame"], first["agrees"]) == (
        "supported",
        place,
        0,
        True,
    )
    assert (second["verdict"], second["grounded"], second["agrees"]) == ("not_found", True, False)
    assert (third["verdict"], third["quote"], third["quote_in"]) == (
        "contradicted",
        "Zoë never eats them",
        None,
    )
    assert made["cost_usd"] > 0
    assert made["usage"]["input_tokens"] > 0
    assert made["prices"]["source"] == "genai-prices"
    assert made["created_by"] == "key test"
    assert json.loads(made["raw_answer"])["sentences"][0]["verdict"] == "supported"
    complete = api.get(f"{path}/{made['id']}").json()
    assert [each["role"] for each in complete["prompt"]] == ["system", "user"]
    assert complete["prompt"][1]["content"] == stub.calls()[-1].body["messages"][1]["content"]
    assert ANSWER.split(". ", maxsplit=1)[0] in complete["prompt"][1]["content"]
    assert recorded(session) == before


def test_several_judgements_are_shown_side_by_side(
    session: Session, ask: Action, stub: StubModelServer, api: Program
) -> None:
    stub.script(Script(question="<sentence", answer=opinion(ask), model="gpt-4o-mini"))
    stub.script(
        Script(question="<sentence", answer=judge_reply(*[("supported", 1, "x")] * 3), model="gpt-4o")
    )
    path = f"/sessions/{session.id}/actions/{ASK}/judgements"
    for model in (MODEL, "openai:gpt-4o", MODEL):
        assert api.post(path, {"model": model}).status_code == 201
    items = api.get(path).json()["items"]
    assert [each["model"] for each in items] == [MODEL, "openai:gpt-4o", MODEL]
    shown = browser_of(session.project, "viewer").get(f"/sessions/{session.id}/?step={ASK}").text
    assert shown.count(">disagrees with the grounding<") == 2
    assert shown.count("? quote not found") == 5
    assert shown.count("or any other</span>") == 5
    assert shown.count('<div class="rerun">') == 3 * 3
    assert "Let a model judge this answer" not in shown


def test_a_quote_that_occurs_nowhere_supports_nothing(
    session: Session, ask: Action, stub: StubModelServer, api: Program
) -> None:
    stub.script(Script(question="<sentence", answer=judge_reply(*[("supported", 1, "Invented words.")] * 3)))
    path = f"/sessions/{session.id}/actions/{ASK}/judgements"
    made = api.post(path, {"model": MODEL}).json()
    assert (made["verdicts"]["supported"], made["verdicts"]["quote_not_found"]) == (0, 3)
    assert {(each["verdict"], each["counted_as"], each["agrees"]) for each in made["sentences"]} == {
        ("supported", "quote_not_found", None)
    }
    shown = browser_of(session.project).get(f"/sessions/{session.id}/?step={ASK}").text
    assert "0 supported, 0 contradicted, 0 not found, <b>3 quotes not found</b>" in shown
    assert "with the grounding" not in shown


FAILURES: list[tuple[Script, str, str]] = [
    (Script(answer="Everything is fine."), "judge_not_understood", "it is not the requested JSON"),
    (Script(answer=judge_reply(("supported", 1, "x"))), "judge_not_understood", "leaves out sentence 2, 3"),
    (Script(mode="truncated", answer='{"sentences": ['), "judge_cut_off", "cut off (length)"),
    (Script(mode="refusal"), "judge_refused", "refused"),
    (Script(mode="error", status=401), "model_failed", "401"),
]


@pytest.mark.parametrize(("script", "code", "why"), FAILURES, ids=lambda each: str(each)[:40])
def test_a_failed_judgement_is_stored_with_the_reason(
    session: Session, ask: Action, stub: StubModelServer, api: Program, script: Script, code: str, why: str
) -> None:
    stub.script(script)
    made = api.post(f"/sessions/{session.id}/actions/{ASK}/judgements", {"model": MODEL}).json()
    assert (made["state"], made["error"]["type"]) == ("failed", code)
    assert why in made["error"]["message"]
    assert made["calls_made"] == 1
    assert (made["cost_usd"] == 0) is (script.mode == "error"), "a refused request costs nothing"
    assert [each["verdict"] for each in made["sentences"]] == [None] * 3
    shown = browser_of(session.project).get(f"/sessions/{session.id}/?step={ASK}").text
    assert why in shown.replace("&#x27;", "'")


@pytest.mark.parametrize(
    ("model", "code"),
    [
        ("local:extractive", "cannot_judge"),
        ("", "model_needed"),
        ("nobody:x", "unknown_model"),
        ("mistral:large", "model_not_usable"),
    ],
)
def test_a_model_that_cannot_judge_is_refused_before_anything_is_stored(
    session: Session, api: Program, stub: StubModelServer, model: str, code: str
) -> None:
    refused = api.post(f"/sessions/{session.id}/actions/{ASK}/judgements", {"model": model})
    assert refused.json()["code"] == code
    assert (Judgement.objects.count(), len(stub.calls())) == (0, 1)


def test_a_step_that_cannot_be_judged_is_refused(
    session: Session, project: Project, stub: StubModelServer
) -> None:
    for sequence in (1, 3):
        with pytest.raises(InvalidInput, match="Only an ask"):
            judge(action_of(session, sequence), use_model=MODEL, by="test")
    bare = start_session(project, name="bare", by="test")
    append(bare.id, [ActionDraft(kind="ask", input="Why?", output="Because.")])
    with pytest.raises(Conflict, match="not recorded"):
        judge(action_of(bare, 1), use_model=MODEL, by="test")
    payload = action_of(session, ASK).hits.order_by("rank").values_list("payload", flat=True).first()
    assert tamper(
        "UPDATE tm_payload SET data = set_byte(data, 0, get_byte(data, 0) # 1) WHERE id = %s", [payload or 0]
    )
    with pytest.raises(Conflict, match="altered"):
        judge(action_of(session, ASK), use_model=MODEL, by="test")
    assert len(stub.calls()) == 1


def test_the_partial_output_of_a_failed_ask_cannot_be_judged(project: Project, stub: StubModelServer) -> None:
    session = start_session(project, name="theirs", by="test")
    hits = (HitDraft(rank=1, text="One. Two."),)
    for kind, message in (("timeout", None), (None, "It broke off.")):
        draft = ActionDraft(
            kind="ask",
            input="Why?",
            output="One. Tw",
            error_type=kind,
            error_message=message,
            retrieval=RetrievalDraft(hits=hits),
        )
        append(session.id, [draft])
    page = browser_of(project)
    for sequence in (1, 2):
        action = action_of(session, sequence)
        assert frozen.answer_of(action) is None
        with pytest.raises(InvalidInput, match="Only an ask"):
            judge(action, use_model=MODEL, by="test")
        shown = page.get(f"/sessions/{session.id}/?step={sequence}").text
        assert "One. Tw" in shown
        assert "Let a model judge this answer" not in shown
    assert not stub.calls()


def test_erasing_a_session_erases_its_judgements(
    session: Session, ask: Action, stub: StubModelServer
) -> None:
    before = Payload.objects.count()
    stub.script(Script(question="<sentence", answer=opinion(ask)))
    judge(ask, use_model=MODEL, by="test")
    assert Payload.objects.count() == before + 2
    erase_session(session)
    assert not Judgement.objects.exists()
    assert not Payload.objects.filter(media_type="application/json").exists()


def test_the_estimate_is_shown_before_any_call(session: Session, api: Program, stub: StubModelServer) -> None:
    path = f"/sessions/{session.id}/actions/{ASK}/judgements/estimate"
    about = api.get(path, model=MODEL).json()
    assert about["cost_usd"] > 0
    assert about["output_tokens"] == 180
    assert api.get(path, model="openai:no-such-model").json()["cost_usd"] is None
    assert api.get(path, model="local:extractive").json()["code"] == "cannot_judge"
    assert len(stub.calls()) == 1
    assert "about $0.00" in browser_of(session.project).get(f"/sessions/{session.id}/?step={ASK}").text


def test_a_person_requests_a_judgement_on_the_action_tab(
    session: Session, ask: Action, stub: StubModelServer
) -> None:
    stub.script(Script(question="<sentence", answer=opinion(ask)))
    client = browser_of(session.project)
    address = f"/sessions/{session.id}/steps/{ASK}/judge/"
    sent = client.post(address, {"model": MODEL})
    assert sent["Location"] == f"/sessions/{session.id}/?step={ASK}#judgements"
    shown = client.get(sent["Location"]).text
    assert "has judged the answer; it cost $0.00" in shown
    assert "disagrees with the grounding" in shown
    refused: Any = client.post(address, {"model": "local:extractive"}, follow=True)
    assert "quotes sentences and cannot judge them" in refused.text
    assert refused.redirect_chain[0][0] == sent["Location"]


def test_removing_a_demo_counts_and_removes_judgements(project: Project, stub: StubModelServer) -> None:
    made = demo.load(project, by="test")
    ask = Action.objects.get(session_id=made.session.id, kind="ask", sequence=2)
    before = demo.added_to(project).get("judgement")
    judge(ask, use_model=MODEL, by="test")
    assert (before, demo.added_to(project)["judgement"]) == (None, 1)
    assert demo.remove(project)
    assert not Judgement.objects.exists()


def test_an_answer_of_too_many_sentences_is_refused(project: Project, stub: StubModelServer) -> None:
    session = start_session(project, name="long", by="test")
    hits = (HitDraft(rank=1, text="One. Two."),)
    answer = "It is so. " * 301
    append(
        session.id,
        [ActionDraft(kind="ask", input="Why?", output=answer, retrieval=RetrievalDraft(hits=hits))],
    )
    with pytest.raises(InvalidInput, match="301 sentences"):
        judge(action_of(session, 1), use_model=MODEL, by="test")


def test_an_ask_recorded_by_another_program_is_judged_without_a_grounding(
    project: Project, stub: StubModelServer
) -> None:
    stub.script(Script(question="<sentence", answer=judge_reply(("supported", 1, "One."))))
    session = start_session(project, name="theirs", by="test")
    hits = (HitDraft(rank=1, frame="doc-7", text="One. Two."),)
    for grounding in (None, {"sentences": "none"}, {"sentences": [{"text": "One."}, 3]}):
        draft = ActionDraft(
            kind="ask",
            input={"question": "Why?"},
            output={"answer": "One."},
            grounding=grounding,
            retrieval=RetrievalDraft(hits=hits),
        )
        action = action_of(session, append(session.id, [draft])[0])
        made = judge(action, use_model=MODEL, by="test")
        (found,) = sentences_of(made, action)
        assert (found.verdict, found.frame, found.grounded, found.agrees) == (
            "supported",
            "doc-7",
            None,
            None,
        )


def test_a_judgement_of_another_step_is_not_found(session: Session, api: Program) -> None:
    path = f"/sessions/{session.id}/actions/{ASK}/judgements/{session.id}"
    assert (api.get(path).status_code, api.get(path).json()["code"]) == (404, "judgement_not_found")
