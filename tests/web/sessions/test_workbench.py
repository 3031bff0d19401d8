"""The workbench: storing, finding and asking in a session manually and without JavaScript."""

import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.stub_model_server import Script, StubModelServer
from tests.web.handbook import FACTS
from tests.web.people import browser_of
from tests.web.sessions.workbench import kinds, open_session, work, work_form
from timemachine.core.accounts.models import Project
from timemachine.knowledge.commands import get_or_create_collection
from timemachine.knowledge.models import Collection, Frame
from timemachine.recording.intake import commands as intake
from timemachine.recording.intake.models import Intake
from timemachine.recording.intake.worker import work as put_file
from timemachine.recording.sessions.commands import append, end_session, start_session
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.draft import ActionDraft


@pytest.fixture
def handbook(handbook_once: Collection, db: None) -> Collection:
    return Collection.objects.get(pk=handbook_once.pk)


@pytest.fixture
def project(handbook: Collection) -> Project:
    return handbook.project


@pytest.fixture
def session(project: Project, handbook: Collection) -> Session:
    return open_session(project, handbook)


def test_an_empty_workbench_says_what_to_do(operator: Client, session: Session) -> None:
    page = operator.get(work(session)).text
    assert "Ask" in page
    assert "Your first question becomes step 1" in page
    assert "End session" in page


def test_a_find_is_recorded_with_its_hits_and_shown(operator: Client, session: Session) -> None:
    sent = operator.post(
        work(session), work_form("how long are invoices kept", do="find", top_k="2", mode="lexical")
    )
    assert (sent.status_code, sent["Location"]) == (
        303,
        f"{work(session)}?step=1&do=find&mode=lexical&top_k=2#done",
    )
    page = operator.get(sent["Location"]).text
    assert 'aria-current="step"' in page
    assert f'href="/sessions/{session.id}/?step=1"' in page
    assert "shredded by the archive team" in page
    assert '<option value="lexical" selected>' in page
    found = Action.objects.get(session=session)
    assert (found.kind, (found.retrieval or {})["mode"], found.hits.count()) == ("find", "lexical", 1)


@pytest.mark.parametrize("do", ["find", "ask"])
def test_the_thresholds_of_an_adaptive_cut_off_are_recorded_and_kept_in_the_form(
    operator: Client, session: Session, do: str
) -> None:
    chosen = {"adaptive": "on", "relative": "0", "cliff": "0.25", "min_score": "0.125"}
    sent = operator.post(work(session), work_form("How long are invoices kept?", do=do, **chosen))
    assert "relative=0.0&cliff=0.25&min_score=0.125" in sent["Location"]
    found = Action.objects.filter(session=session, kind="find").get().retrieval or {}
    assert found["thresholds"] == {"relative": 0, "cliff": 0.25, "floor": 0.125}
    assert 'name="cliff" value="0.25"' in operator.get(sent["Location"]).text


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        (
            {"relative": "2", "adaptive": "on"},
            "“Cut off below this share of the best score” must be a number from 0 to 1.",
        ),
        ({"cliff": "0.5"}, "applies only to an adaptive find"),
        ({"min_score": "x"}, "“Minimum score” must be a number."),
    ],
)
def test_an_invalid_threshold_is_refused(
    operator: Client, session: Session, chosen: dict[str, str], message: str
) -> None:
    sent = operator.post(work(session), work_form("How long?", **chosen))
    assert sent.status_code == 422
    assert message in sent.text.replace("&#x27;", "'")
    assert kinds(session) == []


def test_an_ask_is_recorded_with_its_find_and_shown_with_its_answer(
    operator: Client, session: Session
) -> None:
    sent = operator.post(work(session), work_form("How long are invoices kept?"))
    assert sent["Location"] == f"{work(session)}?step=1&top_k=3#done"
    page = operator.get(sent["Location"]).text
    assert "How long are invoices kept?" in page
    assert "ten years" in page
    assert "local:extractive-3" in page
    assert "HIGH" in page
    assert kinds(session) == ["ask", "find"]


def test_the_form_remembers_how_it_was_used(operator: Client, session: Session) -> None:
    sent = operator.post(work(session), work_form("Invoices?", model="local:extractive-3", adaptive="on"))
    page = operator.get(sent["Location"]).text
    assert 'name="model" value="local:extractive-3"' in page
    assert re.search(r'name="adaptive"[^>]* checked', page)
    assert re.search(r'<details class="options"\s+open', page)


def test_a_model_that_cannot_be_used_is_listed_with_its_reason(
    operator: Client, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    page = operator.get(work(session)).text
    option = re.search(r'<option value="openai:[^"]*"([^>]*)>([^<]*)<', page)
    assert option is not None
    assert "OPENAI_API_KEY is not set" in option[1]


@pytest.mark.parametrize(
    ("form", "status", "field", "sentence"),
    [
        (work_form(" \n"), 422, "text", "Enter a question or a search query."),
        (work_form("q", top_k="0"), 422, "top_k", "Top-k must be a whole number from 1 to 1,000."),
        (work_form("q", mode="psychic"), 422, "mode", "Mode must be hybrid, semantic or lexical."),
        (work_form("q", do="dance"), 422, None, "Choose Find or Ask."),
        (work_form("q", model="nonsense:7b"), 422, "model", "There is no model provider"),
        (work_form("q", model="openai:gpt-4o"), 503, "model", "OPENAI_API_KEY is not set,"),
    ],
)
def test_an_invalid_form_shows_the_reason_keeps_its_input_and_records_nothing(
    operator: Client,
    session: Session,
    monkeypatch: pytest.MonkeyPatch,
    form: dict[str, str],
    status: int,
    field: str | None,
    sentence: str,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    page = operator.post(work(session), form)
    assert page.status_code == status
    assert sentence in page.text
    assert page.context["work_form"]["text"].value() == form["text"]
    assert field is None or f'work_{field}_error"' in page.text
    assert kinds(session) == []


def test_the_error_of_a_model_is_shown_verbatim_and_recorded(
    operator: Client, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    with StubModelServer() as stub:
        stub.script(Script(mode="error", status=400, body='{"error": {"message": "no such deployment"}}'))
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{stub.url}/v1")
        page = operator.post(work(session), work_form("How long?", model="openai:gpt-4o"))
    assert page.status_code == 502
    assert "no such deployment" in page.text
    assert "How long?" in page.context["work_form"]["text"].value()
    assert kinds(session) == ["ask", "find"]
    assert '<span class="mark">error</span>' in page.text
    assert "no such deployment" in operator.get(work(session), {"step": "1"}).text


def test_a_passage_is_stored_and_recorded(operator: Client, session: Session) -> None:
    sent = operator.post(f"{work(session)}put/", {"title": "Zoë", "text": "Page Zoë.\r\nAt night too."})
    assert (sent.status_code, sent["Location"]) == (303, f"{work(session)}?step=1#done")
    page = operator.get(sent["Location"]).text
    assert "1 passage stored: frame 3." in page
    assert "Page Zoë.\nAt night too." in page
    assert kinds(session) == ["put"]


def test_files_are_stored_and_every_passage_is_a_step(operator: Client, session: Session) -> None:
    files = [
        SimpleUploadedFile("a.txt", b"Alpha."),
        SimpleUploadedFile("b.jsonl", b'{"text": "B"}\n{"text": "C"}'),
    ]
    sent = operator.post(f"{work(session)}upload/", {"file": files})
    assert sent["Location"] == f"{work(session)}?step=3#done"
    assert kinds(session) == ["put", "put", "put"]


def test_more_passages_than_fit_in_a_request_are_handed_to_a_worker(
    operator: Client, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "AT_ONCE_PASSAGES", 2)
    lines = b"\n".join(b'{"text": "%d"}' % number for number in range(3))
    sent = operator.post(f"{work(session)}upload/", {"file": SimpleUploadedFile("many.jsonl", lines)})
    queued = Intake.objects.get()
    assert sent["Location"] == f"/intakes/{queued.id}/"
    assert Frame.objects.count() == len(FACTS)
    put_file(queued.id)
    assert Frame.objects.count() == len(FACTS) + 3
    assert kinds(session) == ["put"] * 3


def test_an_invalid_passage_keeps_its_title_and_opens_its_form(operator: Client, session: Session) -> None:
    page = operator.post(f"{work(session)}put/", {"title": "kept title", "text": ""})
    assert page.status_code == 422
    assert 'value="kept title"' in page.text
    assert "work_passage_text_error" in page.text
    assert re.search(r'<details class="options"\s+open', page.text)


def test_a_session_without_a_collection_asks_which_one(
    operator: Client, project: Project, handbook: Collection
) -> None:
    session = start_session(project, name="bare", by="test")
    assert 'name="collection"' in operator.get(work(session)).text
    missing = operator.post(work(session), work_form("Invoices?", collection=""))
    assert (missing.status_code, "Choose a collection." in missing.text) == (422, True)
    unknown = operator.post(work(session), work_form("Invoices?", collection="nowhere"))
    assert (unknown.status_code, "There is no collection" in unknown.text) == (404, True)
    assert "work_collection_error" in unknown.text
    done = operator.post(work(session), work_form("Invoices?", collection=handbook.name))
    assert "shredded by the archive team" in operator.get(done["Location"]).text
    nameless = operator.post(f"{work(session)}upload/", {"file": SimpleUploadedFile("a.txt", b"Alpha.")})
    assert (nameless.status_code, "Choose a collection." in nameless.text) == (422, True)
    assert (
        operator.post(f"{work(session)}put/", {"text": "new", "collection": "made here"}).status_code == 303
    )
    assert kinds(session) == ["ask", "find", "put"]
    assert Collection.objects.filter(name="made here").exists()


def test_the_workbench_shows_the_last_steps_and_links_to_the_rest(operator: Client, session: Session) -> None:
    append(session.id, [ActionDraft(kind="find", input=f"invoices {number}") for number in range(25)])
    page = operator.get(work(session)).text
    assert "invoices 24" in page
    assert "invoices 5<" in page
    assert "invoices 4<" not in page
    assert "has all 25" in page


def test_the_number_of_queries_does_not_grow_with_the_steps(operator: Client, session: Session) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as seen:
            assert operator.get(work(session), {"step": "1"}).status_code == 200
        return len(seen)

    operator.post(work(session), work_form("invoices", do="find", top_k="1"))
    few = queries()
    for number in range(3):
        operator.post(work(session), work_form(f"invoices {number}", do="find"))
    assert queries() == few


def test_an_unknown_step_is_not_shown(operator: Client, session: Session) -> None:
    append(session.id, [ActionDraft(kind="find", input="invoices")])
    for step in ("0", "99", "x", "-1", "9" * 30):
        page = operator.get(work(session), {"step": step})
        assert page.status_code == 200
        assert 'id="done"' not in page.text, step


def test_the_address_of_a_form_redirects_to_the_workbench(operator: Client, session: Session) -> None:
    for action in ("put", "upload"):
        assert operator.get(f"{work(session)}{action}/")["Location"] == work(session)


def test_an_ended_session_that_was_empty_says_so(viewer: Client, session: Session) -> None:
    end_session(session.id)
    assert "Nothing was recorded." in viewer.get(work(session)).text


def test_steps_of_the_workbench_belong_to_the_agent_of_the_session(project: Project) -> None:
    shelf = get_or_create_collection(project, "c", by="test")
    session = start_session(project, name="Wer", by="test", agent="desk", collection=shelf)
    person = browser_of(project)
    person.post(f"{work(session)}put/", {"text": "Invoices are kept for ten years."})
    for do in ("find", "ask"):
        person.post(work(session), work_form("How long?", do=do))
    assert list(session.actions.values_list("agent", flat=True)) == [None] * 4
    shown = person.get(f"/sessions/{session.id}/", {"step": "3", "filter": "agent:desk"}).text
    assert "@" not in str(re.search(r"<dt>Agent</dt><dd>.*?</dd>", shown))
    assert "4 of 4" in shown
