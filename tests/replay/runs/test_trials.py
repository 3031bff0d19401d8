"""Trials of one step with one change, through the API and the page; the recording does not change."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection

from tests.api.conftest import Program, program
from tests.builders import QUESTIONS, recorded_session, tamper
from tests.provider_failures import as_vendors
from tests.stub_model_server import StubModelServer
from tests.web.people import browser_of
from timemachine.core.accounts.models import VIEWER, Project
from timemachine.core.pure.ids import uuid7
from timemachine.knowledge.commands import NewFrame, put_frames
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft, RetrievalDraft
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.worker import work

MODEL = "openai:stub-model"
ASK = 2


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubModelServer]:
    with as_vendors(monkeypatch) as stub:
        yield stub


@pytest.fixture(scope="module")
def recorded(shared_rows: None) -> Session:
    with pytest.MonkeyPatch.context() as environment, as_vendors(environment):
        return recorded_session(Project.objects.create(name="Prüfung"), model=MODEL, key="s1")


@pytest.fixture
def session(recorded: Session, stub: StubModelServer, db: None) -> Session:
    return Session.objects.get(pk=recorded.pk)


@pytest.fixture
def project(session: Session) -> Project:
    return session.project


@pytest.fixture
def api(project: Project) -> Program:
    return program(project)


def run_trial(
    api: Program, changes: dict[str, Any], sequence: int = ASK, session: str = "s1"
) -> dict[str, Any]:
    """The single step of a finished trial."""
    sent = api.post(f"/sessions/{session}/actions/{sequence}/trials", changes)
    assert sent.status_code == 202, sent.content
    replay = sent.json()["replay_id"]
    work(replay, "test")
    (step,) = api.get(f"/replays/{replay}/steps").json()["items"]
    return dict(step)


def everything(session: Session) -> list[tuple[object, ...]]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT a::text FROM tm_action a WHERE session_id = %s ORDER BY 1", [session.id])
        return list(cursor.fetchall())


def named(session: Session, sequence: int = ASK) -> list[Any]:
    action = Action.objects.get(session=session, sequence=sequence)
    return [hit.frame for hit in action.hits.order_by("rank")]


def test_without_changes_exactly_the_recorded_prompt_is_sent(api: Program, session: Session) -> None:
    step = run_trial(api, {})
    assert (step["verdict"], step["context"], step["retrieval"]) == ("identical", "verified", None)
    assert step["evidence"]["same_prompt"] is True
    assert Replay.objects.get().kind == "trial"


@pytest.mark.parametrize(
    ("changes", "in_the_prompt"),
    [
        ({"question": "Who shreds invoices?"}, "Question: Who shreds invoices?"),
        ({"system_prompt": "Be brief."}, "Be brief."),
        ({"prompt_template": "Answer {question} by:\n{passages}"}, "Answer How long are invoices kept? by:"),
    ],
)
def test_only_the_change_reaches_the_model(
    api: Program, session: Session, stub: StubModelServer, changes: dict[str, Any], in_the_prompt: str
) -> None:
    step = run_trial(api, changes)
    assert in_the_prompt in stub.calls()[-1].prompt
    assert step["evidence"]["same_prompt"] is False
    assert step["original"]["input"] == QUESTIONS[0]
    assert changes.items() <= Replay.objects.get().options.items()


def test_parameters_and_the_model_can_be_changed_separately(
    api: Program, session: Session, stub: StubModelServer
) -> None:
    step = run_trial(api, {"temperature": 0.7, "max_tokens": 9, "use_model": "openai:other"})
    assert step["new"]["model"] == "openai:other"
    assert stub.calls()[-1].body["temperature"] == 0.7
    assert step["evidence"]["same_prompt"] is True


def test_passages_can_be_removed_added_and_reordered(
    api: Program, session: Session, stub: StubModelServer
) -> None:
    first, second = named(session)
    added = next(number for number in range(4) if number not in (first, second))
    step = run_trial(api, {"frames": [added, second]})
    assert [(hit["rank"], hit["frame"], hit["score"]) for hit in step["new"]["hits"]] == [
        (1, added, None),
        (2, second, None),
    ]
    found = step["retrieval"]
    assert (found["mode"], found["gained"], found["lost"]) == ("chosen", [added], [first])
    prompt = stub.calls()[-1].prompt
    assert prompt.index(step["new"]["hits"][0]["text"]) < prompt.index(step["new"]["hits"][1]["text"])
    assert run_trial(api, {"frames": [second, first]})["retrieval"]["verdict"] == "reordered"
    assert run_trial(api, {"frames": []})["retrieval"]["lost"] == [first, second]


def test_a_later_frame_can_be_added_only_from_the_current_collection(api: Program, session: Session) -> None:
    assert session.collection is not None
    put_frames(session.collection, [NewFrame(title="Later", text="Invoices go to the archive.")], by="test")
    refused = api.post(f"/sessions/s1/actions/{ASK}/trials", {"frames": [4]})
    assert (refused.status_code, refused.json()["code"]) == (404, "frame_not_found")
    assert "at this step" in refused.json()["message"]
    assert run_trial(api, {"frames": [4], "as_of": "now"})["new"]["hits"][0]["title"] == "Later"


def test_retrieval_options_repeat_the_search_as_of_the_recording(api: Program, session: Session) -> None:
    assert session.collection is not None
    put_frames(session.collection, [NewFrame(text="Invoices, invoices: how long are they kept?")], by="test")
    step = run_trial(api, {"top_k": 3, "search_mode": "lexical"})
    assert (step["retrieval"]["mode"], step["retrieval"]["top_k"]) == ("lexical", 3)
    assert 4 not in [hit["frame"] for hit in step["new"]["hits"]]
    step = run_trial(api, {"question": "Wann werden die Apfelbäume geschnitten?"}, sequence=1)
    assert step["kind"] == "find"
    assert step["new"]["hits"][0]["frame"] == 2


def test_a_trial_does_not_write_to_the_session(api: Program, session: Session) -> None:
    before = everything(session)
    run_trial(api, {"question": "Who?", "frames": [3]})
    run_trial(api, {"top_k": 1}, sequence=1)
    assert everything(session) == before


REFUSED = [
    (1, {"use_model": MODEL}, 422, "not_for_a_find"),
    (1, {"frames": [1]}, 422, "not_for_a_find"),
    (ASK, {"frames": ["rank 9"]}, 422, "invalid_field"),
    (ASK, {"frames": [77]}, 404, "frame_not_found"),
    (ASK, {"frames": [1], "top_k": 2}, 422, "passages_or_retrieval"),
    (ASK, {"prompt_template": "only {question}"}, 422, "not_a_template"),
    (ASK, {"use_model": "nobody:x"}, 422, "unknown_model"),
    (ASK, {"frames": [1.5]}, 422, "invalid_request"),
    (ASK, {"audit": True}, 422, "invalid_request"),
    (99, {}, 404, "step_not_found"),
    (2**70, {}, 404, "step_not_found"),
]


@pytest.mark.parametrize(("sequence", "changes", "status", "code"), REFUSED)
def test_an_invalid_trial_is_refused_and_creates_nothing(
    api: Program, session: Session, sequence: int, changes: dict[str, Any], status: int, code: str
) -> None:
    refused = api.post(f"/sessions/s1/actions/{sequence}/trials", changes)
    assert (refused.status_code, refused.json()["code"]) == (status, code)
    assert not Replay.objects.exists()


def test_externally_recorded_frames_are_chosen_by_their_names(
    project: Project, api: Program, stub: StubModelServer
) -> None:
    session = start_session(project, name="elsewhere", by="test", key="away")
    hits = (HitDraft(rank=1, frame="doc-1", text="Cats sleep."), HitDraft(rank=2, text="Dogs sleep less."))
    retrieval = RetrievalDraft(hits=(*hits, HitDraft(rank=3, frame="gone", sha256="0" * 64)))
    append(session.id, [ActionDraft(kind="ask", input="Who sleeps?", output="All.", retrieval=retrieval)])
    append(session.id, [ActionDraft(kind="message", input="hm")])
    refused = api.post("/sessions/away/actions/1/trials", {})
    assert refused.json()["code"] == "model_needed"
    assert api.post("/sessions/away/actions/2/trials", {}).json()["code"] == "not_replayable"
    missing = api.post("/sessions/away/actions/1/trials", {"use_model": MODEL, "frames": ["gone"]})
    assert missing.json()["code"] == "context_not_verified"
    complete = run_trial(api, {"use_model": MODEL}, 1, "away")
    assert "missing" in complete["evidence"]["not_asked"]
    step = run_trial(api, {"use_model": MODEL, "frames": ["rank 2", "doc-1"]}, 1, "away")
    assert [hit["text"] for hit in step["new"]["hits"]] == ["Dogs sleep less.", "Cats sleep."]


def test_an_altered_passage_is_not_sent_and_can_be_left_out(api: Program, session: Session) -> None:
    first, second = named(session)
    hit = Action.objects.get(session=session, sequence=ASK).hits.get(rank=1)
    tamper("UPDATE tm_payload SET data = set_byte(data, 0, 88) WHERE id = %s", [hit.payload_id or 0])
    assert "no longer matches its recorded hash" in run_trial(api, {})["evidence"]["not_asked"]
    assert run_trial(api, {"frames": [second]})["verdict"] is not None
    refused = api.post(f"/sessions/s1/actions/{ASK}/trials", {"frames": [first]})
    assert refused.json()["code"] == "context_not_verified"


def test_the_trials_of_a_step_are_listed_newest_first(api: Program, session: Session) -> None:
    for question in ("One?", "Two?", "Three?"):
        run_trial(api, {"question": question})
    run_trial(api, {}, sequence=4)
    path = f"/sessions/s1/actions/{ASK}/trials"
    page = api.get(path, limit=2).json()
    rest = api.get(path, limit=2, after=page["next"]).json()
    listed = [each["options"]["question"] for each in [*page["items"], *rest["items"]]]
    assert listed == ["Three?", "Two?", "One?"]
    assert rest["next"] is None


def test_a_person_starts_a_trial_on_the_step_page_and_sees_it_listed(
    project: Project, session: Session
) -> None:
    browser = browser_of(project)
    timeline, form = f"/sessions/{session.id}/?step={ASK}", f"/sessions/{session.id}/steps/{ASK}/trial/"
    assert form in browser.get(timeline).text
    page = browser.get(form)
    first, second = named(session)
    assert page.status_code == 200
    assert f"#{first}, #{second}" in page.text
    assert QUESTIONS[0] in page.text
    fields = {"question": QUESTIONS[0], "frames": f"#{second}, {first}", "as_of": "recorded"}
    refused = browser.post(form, fields | {"prompt_template": "{question}"})
    assert refused.status_code == 422
    assert "has no “{passages}”" in refused.text
    sent = browser.post(form, fields)
    assert sent.status_code == 302
    work(Replay.objects.get().id, "test")
    step = browser.get(sent["Location"]).text
    assert "Trial" in step
    assert ">chosen<" in step
    assert "Asked instead" not in step
    listed = browser.get(timeline).text
    assert f"Frames: #{second}, #{first}" in listed
    assert "reordered" in browser.get(f"/replays/{Replay.objects.get().id}/").text


def test_a_reused_form_with_another_question_is_refused_once_and_then_accepted(
    project: Project, session: Session
) -> None:
    browser, form = browser_of(project), f"/sessions/{session.id}/steps/{ASK}/trial/"
    first, second = named(session)
    fields = {"question": "Who?", "frames": f"#{first}, #{second}", "form_id": str(uuid7())}
    assert {browser.post(form, fields)["Location"] for _ in range(2)} == {
        f"/replays/{fields['form_id']}/steps/{ASK}/"
    }
    refused = browser.post(form, fields | {"question": "Why?"})
    assert refused.status_code == 409
    assert "Send it again" in refused.text
    fresh = re.search(r'name="form_id" value="([^"]+)"', refused.text)
    assert fresh is not None
    assert browser.post(form, fields | {"question": "Why?", "form_id": fresh[1]}).status_code == 302
    assert Replay.objects.count() == 2


def test_an_unchanged_form_sets_no_options_and_a_find_offers_no_model(
    project: Project, session: Session
) -> None:
    browser = browser_of(project)
    first, second = named(session)
    form = f"/sessions/{session.id}/steps/{ASK}/trial/"
    browser.post(form, {"question": QUESTIONS[0], "frames": f"#{first}, #{second}"})
    assert Replay.objects.get().options == {"step": ASK, "as_of": "recorded"}
    find = f"/sessions/{session.id}/steps/1/trial/"
    page = browser.get(find).text
    assert "Query" in page
    assert "Prompt template" not in page
    sent = browser.post(find, {"question": "Anything else?", "top_k": "3"})
    assert sent.status_code == 302
    work(Replay.objects.latest("created_at").id, "test")
    assert "Asked instead" in browser.get(sent["Location"]).text
    assert browser.get(f"/sessions/{session.id}/steps/99/trial/").status_code == 404


def test_a_viewer_sees_trials_without_the_form(project: Project, session: Session, api: Program) -> None:
    viewer = browser_of(project, VIEWER)
    run_trial(api, {"question": "Who?"})
    timeline = viewer.get(f"/sessions/{session.id}/?step={ASK}").text
    assert "Trials of this step" in timeline
    assert "Try one change" not in timeline


def test_an_audit_with_a_model_accepts_another_prompt_template(
    api: Program, session: Session, stub: StubModelServer
) -> None:
    body = {"audit": True, "reason": "prompt A/B", "use_models": [MODEL], "through_sequence": ASK}
    sent = api.post("/sessions/s1/replays", body | {"prompt_template": "{passages}\n\nQ: {question}"})
    assert sent.status_code == 202
    work(sent.json()["replay_id"], "test")
    assert "\n\nQ: How long are invoices kept?" in stub.calls()[-1].prompt
    for wrong in (
        {"prompt_template": "{nothing}"},
        {"prompt_template": "{passages} {question}", "use_models": []},
    ):
        assert api.post("/sessions/s1/replays", body | wrong).status_code == 422
