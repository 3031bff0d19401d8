"""Recording by hand in a browser: a session begins, things are put, found and asked in it, it ends, it may be erased."""

import os
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from playwright.sync_api import Browser, Page, sync_playwright
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer

from tests.accounts.people import PASSWORD, member
from tests.api.conftest import program
from tests.chromium import installed
from tests.stub_model_server import Script, StubModelServer
from tests.web.people import browser_of
from timemachine.accounts.models import Membership, Project
from timemachine.intake.models import Intake
from timemachine.intake.working import work as put_file
from timemachine.recording.commands import end_session, start_session
from timemachine.recording.models import Action, Session
from timemachine.retrieval.commands import NewFrame, collection_named, put
from timemachine.retrieval.models import Collection, Frame

FACTS = (
    ("Retention", "Invoices are kept for ten years, then shredded by the archive team."),
    ("Travel", "Train tickets are booked in second class unless the journey takes over four hours."),
    ("Garten", "Im Frühjahr werden die Apfelbäume geschnitten und die Beete umgegraben."),
)


@pytest.fixture
def handbook(project: Project) -> Collection:
    """A collection with three frames."""
    collection = collection_named(project, "Handbuch für Zoë", by="test")
    put(collection, [NewFrame(title=title, text=text) for title, text in FACTS], by="test")
    return collection


@pytest.fixture
def session(project: Project, handbook: Collection) -> Session:
    """An open session over the collection."""
    return start_session(project, name="Fragen 🕰", key="fragen", by="test", collection=handbook)


@pytest.fixture
def operator(project: Project) -> Client:
    """A browser in which an operator of the project is signed in."""
    return browser(member(project, "operator"))


@pytest.fixture
def viewer(project: Project) -> Client:
    """A browser in which somebody is signed in who only reads."""
    return browser(member(project, "viewer"))


@pytest.fixture
def admin(project: Project) -> Client:
    """A browser in which an administrator of the project is signed in."""
    return browser(member(project, "admin"))


def browser(membership: Membership) -> Client:
    client = Client()
    client.force_login(membership.user)
    return client


def work(session: Session) -> str:
    return f"/sessions/{session.id}/work/"


def asked(text: str, **more: Any) -> dict[str, Any]:
    """What the workbench's form sends."""
    return {"do": "ask", "text": text, "mode": "hybrid", "top_k": "3", "model": "", "other_model": "", **more}


def kinds(session: Session) -> list[str]:
    return list(Action.objects.filter(session=session).order_by("sequence").values_list("kind", flat=True))


def test_a_session_is_started_and_its_timeline_leads_to_the_workbench(
    operator: Client, project: Project, handbook: Collection
) -> None:
    form = operator.get("/sessions/new/", {"collection": handbook.name}).text
    assert f'<option value="{handbook.name}" selected>' in form
    sent = operator.post(
        "/sessions/new/", {"name": "Läufe", "collection": handbook.name, "agent": "Zoë", "key": "k:1"}
    )
    session = Session.objects.get(project=project)
    assert (sent.status_code, sent["Location"]) == (303, f"/sessions/{session.id}/")
    assert (session.name, session.collection, session.agent, session.key) == ("Läufe", handbook, "Zoë", "k:1")
    assert (session.created_by, session.status) == ("operator@example.org", "recording")
    assert f'href="{work(session)}"' in operator.get(sent["Location"]).text


def test_what_was_left_empty_is_not_recorded(operator: Client) -> None:
    operator.post("/sessions/new/", {"name": "bare"})
    session = Session.objects.get()
    assert (session.collection, session.agent) == (None, None)
    assert re.fullmatch(r"sess-[0-9a-f]{8}", session.key)


def test_a_new_collection_is_made_with_the_session(operator: Client, project: Project) -> None:
    operator.post("/sessions/new/", {"name": "first", "new_collection": "Grüße"})
    assert Session.objects.get().collection == Collection.objects.get(project=project, name="Grüße")


@pytest.mark.parametrize(
    ("form", "status", "field", "sentence"),
    [
        ({"name": " "}, 422, "name", "Give the session a name."),
        ({"name": "n", "key": "two words"}, 422, "key", "has a form that keys may not have"),
        ({"name": "n", "key": "fragen"}, 409, "key", "exists already"),
        ({"name": "n", "key": "fragen", "new_collection": "new"}, 409, "key", "exists already"),
        ({"name": "n", "collection": "gone"}, 422, "collection", "There is no such collection"),
        ({"name": "n", "new_collection": "a/b"}, 422, "new_collection", "cannot name a collection"),
        (
            {"name": "n", "collection": "Handbuch für Zoë", "new_collection": "other"},
            422,
            "new_collection",
            "not both",
        ),
    ],
)
def test_a_session_that_cannot_start_says_why_at_the_field_and_keeps_the_form(
    operator: Client, session: Session, form: dict[str, str], status: int, field: str | None, sentence: str
) -> None:
    page = operator.post("/sessions/new/", form | {"agent": "kept agent"})
    assert page.status_code == status
    assert sentence in page.text
    assert 'value="kept agent"' in page.text
    assert field is None or f"new_session_{field}_error" in page.text
    assert Session.objects.count() == 1
    assert Collection.objects.count() == 1


def test_an_empty_workbench_says_what_to_do(operator: Client, session: Session) -> None:
    page = operator.get(work(session)).text
    assert "Ask" in page
    assert "The first question that you ask becomes step 1" in page
    assert "End session" in page


def test_a_find_is_recorded_with_its_hits_and_shown(operator: Client, session: Session) -> None:
    sent = operator.post(
        work(session), asked("how long are invoices kept", do="find", top_k="2", mode="lexical")
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


def test_an_ask_is_recorded_with_its_find_and_shown_with_its_answer(
    operator: Client, session: Session
) -> None:
    sent = operator.post(work(session), asked("How long are invoices kept?"))
    assert sent["Location"] == f"{work(session)}?step=1&top_k=3#done"
    page = operator.get(sent["Location"]).text
    assert "How long are invoices kept?" in page
    assert "ten years" in page
    assert "local:extractive-3" in page
    assert "HIGH" in page
    assert kinds(session) == ["ask", "find"]


def test_the_form_remembers_how_it_was_used(operator: Client, session: Session) -> None:
    sent = operator.post(work(session), asked("Invoices?", model="local:extractive-3", adaptive="on"))
    page = operator.get(sent["Location"]).text
    assert '<option value="local:extractive-3" selected>' in page
    assert re.search(r'name="adaptive"[^>]* checked', page)
    assert re.search(r'<details class="options"\s+open', page)


def test_a_model_that_cannot_be_used_stands_there_with_its_reason(
    operator: Client, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    page = operator.get(work(session)).text
    option = re.search(r'<option value="openai:[^"]*"([^>]*)>([^<]*)<', page)
    assert option is not None
    assert "disabled" in option[1]
    assert "OPENAI_API_KEY is not set," in option[2]


@pytest.mark.parametrize(
    ("form", "status", "field", "sentence"),
    [
        (asked(" \n"), 422, "text", "Write a question, or what to look for."),
        (asked("q", top_k="0"), 422, "top_k", "Top k is a whole number from 1 to 1,000."),
        (asked("q", mode="psychic"), 422, "mode", "The mode is hybrid, semantic or lexical."),
        (asked("q", do="dance"), 422, None, "Choose Find or Ask."),
        (asked("q", other_model="nonsense:7b"), 422, "other_model", "There is no model provider"),
        (asked("q", model="nonsense:7b"), 422, "model", "There is no model provider"),
        (asked("q", model="openai:gpt-4o"), 503, "model", "OPENAI_API_KEY is not set,"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_with_the_input_kept_and_nothing_recorded(
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


def test_a_model_that_fails_is_told_in_its_own_words_and_recorded_as_an_error(
    operator: Client, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    with StubModelServer() as stub:
        stub.script(Script(mode="error", status=400, body='{"error": {"message": "no such deployment"}}'))
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{stub.url}/v1")
        page = operator.post(work(session), asked("How long?", model="openai:gpt-4o"))
    assert page.status_code == 502
    assert "no such deployment" in page.text
    assert "How long?" in page.context["work_form"]["text"].value()
    assert kinds(session) == ["ask", "find"]
    assert '<span class="mark">error</span>' in page.text
    assert "no such deployment" in operator.get(work(session), {"step": "1"}).text


def test_a_passage_is_put_and_recorded(operator: Client, session: Session) -> None:
    sent = operator.post(f"{work(session)}put/", {"title": "Zoë", "text": "Page Zoë.\r\nAt night too."})
    assert (sent.status_code, sent["Location"]) == (303, f"{work(session)}?step=1#done")
    page = operator.get(sent["Location"]).text
    assert "1 passage put: frame 3." in page
    assert "Page Zoë.\nAt night too." in page
    assert kinds(session) == ["put"]


def test_files_are_put_and_every_passage_is_a_step(operator: Client, session: Session) -> None:
    files = [
        SimpleUploadedFile("a.txt", b"Alpha."),
        SimpleUploadedFile("b.jsonl", b'{"text": "B"}\n{"text": "C"}'),
    ]
    sent = operator.post(f"{work(session)}upload/", {"file": files})
    assert sent["Location"] == f"{work(session)}?step=3#done"
    assert kinds(session) == ["put", "put", "put"]


def test_more_passages_than_go_at_once_are_handed_to_a_worker(operator: Client, session: Session) -> None:
    lines = b"\n".join(b'{"text": "%d"}' % number for number in range(1_001))
    sent = operator.post(f"{work(session)}upload/", {"file": SimpleUploadedFile("many.jsonl", lines)})
    intake = Intake.objects.get()
    assert sent["Location"] == f"/intakes/{intake.id}/"
    assert Frame.objects.count() == len(FACTS)
    put_file(intake.id)
    assert Frame.objects.count() == len(FACTS) + 1_001
    assert len(kinds(session)) == 1_001


def test_a_passage_that_cannot_be_put_keeps_its_title_and_opens_its_form(
    operator: Client, session: Session
) -> None:
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
    missing = operator.post(work(session), asked("Invoices?", collection=""))
    assert (missing.status_code, "Name the collection." in missing.text) == (422, True)
    unknown = operator.post(work(session), asked("Invoices?", collection="nowhere"))
    assert (unknown.status_code, "There is no collection" in unknown.text) == (404, True)
    assert "work_collection_error" in unknown.text
    done = operator.post(work(session), asked("Invoices?", collection=handbook.name))
    assert "shredded by the archive team" in operator.get(done["Location"]).text
    nameless = operator.post(f"{work(session)}upload/", {"file": SimpleUploadedFile("a.txt", b"Alpha.")})
    assert (nameless.status_code, "Name the collection." in nameless.text) == (422, True)
    assert (
        operator.post(f"{work(session)}put/", {"text": "new", "collection": "made here"}).status_code == 303
    )
    assert kinds(session) == ["ask", "find", "put"]
    assert Collection.objects.filter(name="made here").exists()


def test_the_workbench_shows_the_last_steps_and_leads_to_the_rest(operator: Client, session: Session) -> None:
    for number in range(25):
        operator.post(work(session), asked(f"invoices {number}", do="find"))
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

    operator.post(work(session), asked("invoices", do="find", top_k="1"))
    few = queries()
    for number in range(10):
        operator.post(work(session), asked(f"invoices {number}", do="find"))
    assert queries() == few


@pytest.mark.parametrize("step", ["0", "99", "x", "-1", "9" * 30])
def test_a_step_that_there_is_not_shows_none(operator: Client, session: Session, step: str) -> None:
    operator.post(work(session), asked("invoices", do="find"))
    page = operator.get(work(session), {"step": step})
    assert page.status_code == 200
    assert 'id="done"' not in page.text


def test_ending_a_session_leads_to_its_timeline_and_closes_the_workbench(
    operator: Client, session: Session
) -> None:
    operator.post(work(session), asked("invoices", do="find"))
    ended = operator.post(f"/sessions/{session.id}/end/")
    assert (ended.status_code, ended["Location"]) == (303, f"/sessions/{session.id}/")
    assert "The session has ended with 1 action." in operator.get(ended["Location"]).text
    page = operator.get(work(session)).text
    assert "This session has ended" in page
    assert 'name="text"' not in page
    late = operator.post(work(session), asked("one more"))
    assert (late.status_code, "has ended" in late.text) == (409, True)
    assert operator.post(f"{work(session)}put/", {"text": "late"}).status_code == 409
    assert Frame.objects.count() == len(FACTS)
    assert kinds(session) == ["find"]
    assert operator.post(f"/sessions/{session.id}/end/").status_code == 303


def test_an_administrator_erases_a_session_once_its_name_is_written(admin: Client, session: Session) -> None:
    admin.post(work(session), asked("invoices"))
    address = f"/sessions/{session.id}/delete/"
    assert "Fragen 🕰" in admin.get(address).text
    for wrong in ("", "Fragen"):
        page = admin.post(address, {"name": wrong})
        assert page.status_code == 422
        assert 'aria-describedby="erase_name_error"' in page.text
    assert kinds(session) == ["ask", "find"]
    gone = admin.post(address, {"name": " Fragen 🕰 "})
    assert (gone.status_code, gone["Location"]) == (303, "/")
    assert "The session Fragen 🕰 and its 2 actions are erased." in admin.get("/").text
    assert not Session.objects.exists()
    assert not Action.objects.exists()


def test_the_key_names_a_session_as_well_as_its_name(admin: Client, session: Session) -> None:
    assert admin.post("/sessions/fragen/delete/", {"name": "fragen"}).status_code == 303
    assert not Session.objects.exists()


def test_an_operator_does_not_erase(operator: Client, session: Session) -> None:
    assert operator.get(f"/sessions/{session.id}/delete/").status_code == 403
    assert operator.post(f"/sessions/{session.id}/delete/", {"name": session.name}).status_code == 403
    assert Session.objects.exists()


@pytest.mark.parametrize("action", ["work/", "work/put/", "work/upload/", "end/"])
def test_somebody_who_only_reads_records_nothing(viewer: Client, session: Session, action: str) -> None:
    address = f"/sessions/{session.id}/{action}"
    assert viewer.post(address, asked("invoices")).status_code == 403
    session.refresh_from_db()
    assert (session.last_sequence, session.status) == (0, "recording")


def test_who_only_reads_sees_the_steps_and_no_form(viewer: Client, session: Session) -> None:
    page = viewer.get(work(session)).text
    assert 'name="text"' not in page
    assert "End session" not in page
    assert viewer.get("/sessions/new/").status_code == 403
    assert viewer.post("/sessions/new/", {"name": "mine"}).status_code == 403


@pytest.mark.parametrize("action", ["work/", "work/put/", "work/upload/", "end/", "delete/"])
def test_another_projects_session_is_not_there(other_project: Project, session: Session, action: str) -> None:
    stranger = browser(member(other_project, "admin", "stranger@example.org"))
    address = f"/sessions/{session.id}/{action}"
    assert stranger.post(address, asked("x") | {"name": session.name}).status_code == 404
    session.refresh_from_db()
    assert (session.last_sequence, session.status) == (0, "recording")


@pytest.mark.parametrize(
    "action", ["new/", "{id}/work/", "{id}/work/put/", "{id}/work/upload/", "{id}/end/", "{id}/delete/"]
)
def test_a_form_without_its_token_is_refused(project: Project, session: Session, action: str) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(member(project, "admin").user)
    address = f"/sessions/{action.format(id=session.id)}"
    assert client.post(address, asked("x") | {"name": session.name}).status_code == 403
    assert kinds(session) == []
    assert Session.objects.count() == 1


def test_the_address_of_a_form_leads_back_to_the_workbench(operator: Client, session: Session) -> None:
    for action in ("put", "upload"):
        assert operator.get(f"{work(session)}{action}/")["Location"] == work(session)


def test_an_ended_session_that_was_empty_says_so(viewer: Client, session: Session) -> None:
    end_session(session.id)
    assert "Nothing was recorded." in viewer.get(work(session)).text


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A Chromium, where there is one."""
    path = installed()
    if path is None:
        pytest.skip("no Chromium")
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = (
        "1"  # playwright's loop runs in this thread, our queries are no part of it
    )
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
        browser = playwright.chromium.launch(executable_path=str(path), args=flags)
        yield browser
        browser.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("scripts", [True, False], ids=["with_scripts", "without"])
def test_a_newcomer_comes_from_nothing_to_a_timeline(
    chromium: Browser, live_server: LiveServer, project: Project, settings: Settings, scripts: bool
) -> None:
    settings.ALLOWED_HOSTS = ["localhost"]
    member(project, "operator", "new@example.org")
    context = chromium.new_context(java_script_enabled=scripts)
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    _sign_in(page, live_server.url)
    _put_three(page, live_server.url)
    page.get_by_role("link", name="Start a session").click()
    page.get_by_label("Name", exact=True).fill("My first session")
    page.get_by_role("button", name="Start session").click()
    page.get_by_role("link", name="Find, ask and put").click()
    _record(page, "Find", "how long are invoices kept", "shredded by the archive team")
    _record(page, "Ask", "In which class are train tickets booked?", "second class")
    page.get_by_role("button", name="End session").click()
    assert page.get_by_role("heading", name="My first session").is_visible()
    assert "ended" in page.locator("main").inner_text()
    context.close()
    assert complaints == []
    session = Session.objects.get()
    assert (kinds(session), session.status) == (["find", "ask", "find"], "ended")


def _sign_in(page: Page, url: str) -> None:
    page.goto(f"{url}/collections/")
    page.get_by_label("E-mail").fill("new@example.org")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


def _put_three(page: Page, url: str) -> None:
    page.get_by_label("Name", exact=True).fill("Handbuch für alle")
    page.get_by_role("button", name="Make collection").click()
    for title, text in FACTS:
        page.get_by_label("Title").fill(title)
        page.get_by_label("Text", exact=True).fill(text)
        page.get_by_role("button", name="Put passage").click()
        page.get_by_role("link", name=title).wait_for()


def _record(page: Page, what: str, text: str, expected: str) -> None:
    page.get_by_label(what, exact=True).check()
    page.get_by_label("Question or query").fill(text)
    page.get_by_role("button", name="Record").click()
    page.locator("#done").get_by_text(expected).first.wait_for()


def test_the_form_of_a_session_says_how_a_program_records(operator: Client) -> None:
    page = operator.get("/sessions/new/").text
    assert "with <b>Record</b> on the session" in page
    assert "/api/sessions -H" in page


def test_a_step_says_who_asked_found_and_put(project: Project) -> None:
    session = start_session(
        project, name="Wer", by="test", collection=collection_named(project, "c", by="test")
    )
    person, key = browser_of(project), program(project)
    key.post(f"/sessions/{session.id}/put", {"text": "Invoices are kept for ten years."})
    key.post(f"/sessions/{session.id}/ask", {"question": "How long are invoices kept?"})
    for do in ("find", "ask"):
        form = {"do": do, "text": "How long?", "mode": "hybrid", "top_k": "8"}
        person.post(f"/sessions/{session.id}/work/", form)
    recorded = list(session.actions.order_by("sequence").values_list("kind", "agent"))
    somebody = recorded[3][1]
    assert recorded[:3] == [("put", "key test"), ("ask", "key test"), ("find", "key test")]
    assert recorded[3:] == [("find", somebody), ("ask", somebody), ("find", somebody)]
    assert "@" in str(somebody)
    shown = person.get(f"/sessions/{session.id}/?step=5").text
    assert f'<span class="quiet">by</span> <bdi>{somebody}</bdi>' in shown
