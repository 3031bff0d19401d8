"""The pages of comparisons: the list, the form, the matrix, a cell, the files."""

import csv
import io
import json
import re
from uuid import UUID

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.api.conftest import program
from tests.builders import QUESTIONS, compared, recorded_session, worked_off
from tests.web.people import browser_of
from timemachine.core.accounts.models import ADMIN, VIEWER, Project
from timemachine.core.pure.ids import uuid7
from timemachine.recording.sessions.commands import start_session
from timemachine.recording.sessions.models import Session
from timemachine.replay.comparison.commands import Plan, create
from timemachine.replay.comparison.models import CellMark, CellOpinion, Comparison
from timemachine.replay.comparison.pure.variants import Variant
from timemachine.replay.runs.models import Replay, ReplayStep

ONE, THREE = "local:extractive-1", "local:extractive-3"


@pytest.fixture
def session(recorded_once: Session, db: None) -> Session:
    return Session.objects.get(pk=recorded_once.pk)


@pytest.fixture
def project(session: Session) -> Project:
    return session.project


@pytest.fixture
def browser(project: Project) -> Client:
    return browser_of(project)


def asked(*sessions: Session, **more: str | list[str]) -> dict[str, str | list[str]]:
    form: dict[str, str | list[str]] = {
        "sessions": [str(each.id) for each in sessions],
        "arm1-model": ONE,
        "arm2-other_model": THREE,
        "reason": "Prüfung ☃",
        "repeats": "1",
    }
    return form | more


def page(browser: Client, address: str) -> str:
    answer = browser.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def words(browser: Client, address: str) -> str:
    """What a page says, without its markup."""
    return " ".join(re.sub(r"<[^>]+>", "", page(browser, address)).split())


def test_the_form_launches_and_the_page_says_what_came_of_it(browser: Client, session: Session) -> None:
    launched = browser.post("/comparisons/new/", asked(session, noise_floor="on"))
    made = Comparison.objects.get()
    assert (launched.status_code, launched["Location"]) == (303, f"/comparisons/{made.id}/")
    assert "0 of 12 answered" in words(browser, f"/comparisons/{made.id}/")
    worked_off(made)
    said = words(browser, f"/comparisons/{made.id}/")
    assert "Prüfung ☃" in said
    assert all(question in said for question in QUESTIONS)
    assert "numbers differ" in said
    assert "Grounding: too few" in said
    assert "Noise floor: each variant against itself" in said
    assert "hx-trigger" not in page(browser, f"/comparisons/{made.id}/")
    assert "12 of 12 answered" in said
    assert f"/comparisons/{made.id}/" in page(browser, "/comparisons/")


def test_a_form_sent_twice_launches_one_comparison(browser: Client, session: Session) -> None:
    twice = asked(session, form_id=str(uuid7()))
    first, second = (browser.post("/comparisons/new/", twice)["Location"] for _ in range(2))
    assert first == second
    assert Replay.objects.count() == 2


@pytest.mark.parametrize(
    "more",
    [
        {"arm2-other_model": "local:extractive-5"},
        {"arm1-temperature": "0.5"},
        {"repeats": "2"},
        {"noise_floor": "on"},
        {"reason": "Another one"},
        {"spend_limit_usd": "1"},
    ],
)
def test_a_form_sent_again_with_other_choices_is_refused_and_launches_when_it_is_sent_once_more(
    browser: Client, session: Session, more: dict[str, str]
) -> None:
    form = asked(session, form_id=str(uuid7()))
    browser.post("/comparisons/new/", form)
    refused = browser.post("/comparisons/new/", form | more)
    assert refused.status_code == 409
    assert "already launched a different comparison" in refused.content.decode()
    assert Comparison.objects.count() == 1
    fresh = re.search(r'name="form_id" value="([^"]+)"', refused.content.decode())
    assert fresh is not None
    assert browser.post("/comparisons/new/", form | more | {"form_id": fresh[1]}).status_code == 303
    assert Comparison.objects.count() == 2


def test_a_form_sent_again_for_other_sessions_is_refused(
    browser: Client, project: Project, session: Session
) -> None:
    form_id = str(uuid7())
    browser.post("/comparisons/new/", asked(session, form_id=form_id))
    refused = browser.post("/comparisons/new/", asked(recorded_session(project), form_id=form_id))
    assert refused.status_code == 409
    assert Comparison.objects.count() == 1


def test_the_id_of_another_projects_form_is_refused(
    browser: Client, other_project: Project, session: Session
) -> None:
    form_id = str(uuid7())
    plan = Plan(
        sessions=[recorded_session(other_project)],
        arms=[Variant(model=ONE), Variant(model=THREE)],
        reason="r",
    )
    create(other_project, plan, by="somebody", comparison_id=UUID(form_id))
    assert browser.post("/comparisons/new/", asked(session, form_id=form_id)).status_code == 409
    assert Comparison.objects.count() == 1


def test_the_form_ticks_the_session_that_the_address_names(browser: Client, session: Session) -> None:
    recorded_session(session.project)
    shown = page(browser, f"/comparisons/new/?session={session.id}")
    assert re.search(rf'value="{session.id}"\s+checked', shown)
    assert len(re.findall(r"\schecked", shown)) == 1


@pytest.mark.parametrize("reason", ["Prüfung ☃", ""])
def test_the_form_estimates_before_anything_is_launched_and_needs_no_reason_for_that(
    browser: Client, session: Session, reason: str
) -> None:
    answer = browser.post("/comparisons/new/", asked(session, estimate="1", repeats="2", reason=reason))
    said = " ".join(re.sub(r"<[^>]+>", "", answer.content.decode()).split())
    assert "local:extractive-3: 6 asks, $0" in said
    assert not Comparison.objects.exists()


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"reason": ""}, "needs a reason"),
        ({"sessions": []}, "at least one session"),
        ({"others": "nobody"}, "no session"),
        ({"arm2-other_model": ""}, "2 to 8 variants"),
        ({"arm2-other_model": "nobody:x"}, "no model provider"),
        ({"arm2-other_model": ONE}, "are the same"),
        ({"arm1-temperature": "9"}, "must be a number from 0 to 2."),
        ({"repeats": "0"}, "must be a whole number from 1 to "),
    ],
)
def test_a_form_that_cannot_be_says_why_and_keeps_what_was_typed(
    browser: Client, session: Session, more: dict[str, str | list[str]], says: str
) -> None:
    answer = browser.post("/comparisons/new/", asked(session) | more)
    assert answer.status_code in {404, 422}
    assert says in answer.content.decode()
    assert str(asked(session, **more)["reason"]) in answer.content.decode()
    assert not Comparison.objects.exists()


def test_the_matrix_is_filtered_by_its_address(browser: Client, project: Project, session: Session) -> None:
    other = recorded_session(project, questions=("How long are invoices kept?",))
    address = f"/comparisons/{compared(project, [session, other], ONE, THREE).id}/"
    rows = "Answers 4 of 4 asks"
    assert rows in words(browser, address)
    assert "2 of 4 asks" in words(browser, f"{address}?show=changed")
    assert "1 of 4 asks" in words(browser, f"{address}?verdict=numbers_differ")
    assert "1 of 4 asks" in words(browser, f"{address}?session={other.id}")
    assert "No ask matches" in words(browser, f"{address}?session={other.id}&show=changed")
    assert rows in words(browser, f"{address}?verdict=nonsense&session=x&after=x&against=99")


def test_the_others_are_set_against_the_column_that_the_address_names(
    browser: Client, project: Project, session: Session
) -> None:
    address = f"/comparisons/{compared(project, [session], ONE, THREE).id}/"
    assert f"A Recording B 1 {ONE}" in words(browser, address)
    against = words(browser, f"{address}?against=2")
    assert f"A 2 {THREE} B Recording" in against
    assert f"A 2 {THREE} B 1 {ONE}" in against


def test_many_asks_come_page_by_page(browser: Client, project: Project) -> None:
    session = recorded_session(project, questions=tuple(f"Question {n} of many?" for n in range(40)))
    address = f"/comparisons/{compared(project, [session], ONE, THREE).id}/"
    first, second = words(browser, address), words(browser, f"{address}?after=24")
    assert "Question 23 of many?" in first
    assert "Question 24 of many?" not in first
    assert "Question 24 of many?" in second


def test_a_page_that_polls_hears_nothing_where_there_is_nothing_new(
    browser: Client, session: Session
) -> None:
    browser.post("/comparisons/new/", asked(session))
    made = Comparison.objects.get()
    rev = re.search(r"rev=([\w.-]+)", page(browser, f"/comparisons/{made.id}/"))
    assert rev is not None
    address = f"/comparisons/{made.id}/?rev={rev[1]}"
    assert browser.get(address, headers={"HX-Request": "true"}).status_code == 204
    worked_off(made)
    news = browser.get(address, headers={"HX-Request": "true", "HX-Target": "div#comparison"})
    assert (news.status_code, b"<html" in news.content) == (200, False)


def test_runs_of_one_ask_stand_in_one_cell_each_with_its_own_page(
    browser: Client, project: Project, session: Session
) -> None:
    made = compared(project, [session], ONE, THREE, repeats=2)
    shown = page(browser, f"/comparisons/{made.id}/")
    assert shown.count("/cells/") == 2 * 2 * 3
    assert "Run 2" in shown


def test_a_cell_shows_both_answers_and_takes_a_mark_with_a_note(
    browser: Client, project: Project, session: Session
) -> None:
    made = compared(project, [session], ONE, THREE)
    step = ReplayStep.objects.get(verdict="numbers_differ")
    address = f"/comparisons/{made.id}/cells/{step.id}/"
    assert "<ins" in page(browser, address)
    sent = browser.post(address, {"verdict": "worse", "note": "It wanders <b>off</b>."})
    assert (sent.status_code, sent["Location"]) == (303, f"{address}#marks")
    assert "It wanders &lt;b&gt;off" in page(browser, address)
    assert "worse" in page(browser, f"/comparisons/{made.id}/")
    assert browser.post(address, {"verdict": "splendid"}).status_code == 422
    assert CellMark.objects.count() == 1


def cell_of(made: Comparison) -> str:
    """The address of the cell of whose answer the numbers differ."""
    return f"/comparisons/{made.id}/cells/{ReplayStep.objects.get(verdict='numbers_differ').id}/"


def chosen_mark(browser: Client, address: str) -> str:
    """The value that the select of marks begins with."""
    select = re.search(r'<select name="verdict".*?</select>', page(browser, address), re.DOTALL)
    assert select is not None
    found = re.findall(r'value="([^"]*)"\s+selected', select[0])
    assert len(found) <= 1
    return found[0] if found else ""


def test_the_form_begins_with_my_own_mark_so_that_a_change_of_its_note_keeps_it(
    browser: Client, project: Project, session: Session
) -> None:
    address = cell_of(compared(project, [session], ONE, THREE))
    assert chosen_mark(browser, address) == ""
    browser.post(address, {"verdict": "worse", "note": "It wanders off."})
    assert chosen_mark(browser, address) == "worse"
    assert ">\nIt wanders off.</textarea>" in page(browser, address)
    somebody_else = browser_of(project, ADMIN)
    assert chosen_mark(somebody_else, address) == ""
    somebody_else.post(address, {"verdict": "better", "note": ""})
    assert chosen_mark(browser, address) == "worse"


def test_a_mark_that_nobody_chose_is_refused_at_its_field(
    browser: Client, project: Project, session: Session
) -> None:
    address = cell_of(compared(project, [session], ONE, THREE))
    refused = browser.post(address, {"verdict": "", "note": "Only a note."})
    assert refused.status_code == 422
    said = refused.content.decode()
    assert 'id="id_verdict_error"' in said
    assert "Choose a rating." in said
    assert "Only a note.</textarea>" in said
    assert not CellMark.objects.exists()


def test_only_a_mark_that_is_there_can_be_taken_back(
    browser: Client, project: Project, session: Session
) -> None:
    address = cell_of(compared(project, [session], ONE, THREE))
    assert "Remove my rating" not in page(browser, address)
    assert browser.post(address, {"verdict": "withdrawn"}).status_code == 422
    assert not CellMark.objects.exists()
    browser.post(address, {"verdict": "worse", "note": "It wanders off."})
    assert "Remove my rating" in page(browser, address)
    assert "Remove my rating" not in page(browser_of(project, ADMIN), address)
    taken_back = {"verdict": "withdrawn", "note": "It wanders off."}
    assert browser.post(address, taken_back).status_code == 303
    assert chosen_mark(browser, address) == ""
    assert list(CellMark.objects.order_by("id").values_list("verdict", "note")) == [
        ("worse", "It wanders off."),
        ("withdrawn", ""),
    ]
    assert browser.post(address, taken_back).status_code == 422


@pytest.mark.parametrize(
    ("sent", "field", "says"),
    [
        ({}, "model", "Choose a judge model"),
        ({"other_model": THREE}, "other_model", "is not a language model"),
        ({"other_model": "nobody:x"}, "other_model", "no model provider"),
    ],
)
def test_a_model_that_cannot_judge_is_refused_at_its_field(
    browser: Client, project: Project, session: Session, sent: dict[str, str], field: str, says: str
) -> None:
    made = compared(project, [session], ONE, THREE)
    cell = cell_of(made)
    for step, back in (("", f"/comparisons/{made.id}/"), (cell.split("/")[-2], cell)):
        answer = browser.post(f"/comparisons/{made.id}/judge/", sent | {"step": step}, follow=True)
        assert answer.redirect_chain[0][0].startswith(f"{back}?judge=")
        said = answer.content.decode()
        error = re.search(rf'id="judge_{field}_error">(.*?)</div>', said, re.DOTALL)
        assert error is not None
        assert says in error[1]
        if typed := sent.get("other_model"):
            assert f'value="{typed}"' in said
    assert not CellOpinion.objects.exists()


def test_a_comparison_is_cancelled_and_tried_again_from_its_page(browser: Client, session: Session) -> None:
    browser.post("/comparisons/new/", asked(session))
    made = Comparison.objects.get()
    assert "Cancel comparison" in page(browser, f"/comparisons/{made.id}/")
    assert browser.post(f"/comparisons/{made.id}/cancel/").status_code == 303
    said = words(browser, f"/comparisons/{made.id}/")
    assert "0 of 6 answered, 6 cancelled" in said
    assert re.search(r"Cancelled ?\d.+ by operator@example.org", said)
    assert "Retry cancelled answers" in said
    assert "Retry failed answers" not in said
    assert "cancelled 3 " in said
    assert "3 of 3 asks" in words(browser, f"/comparisons/{made.id}/?lacking=cancelled")
    assert "0 of 6, 6 cancelled" in words(browser, "/comparisons/")
    assert browser.post(f"/comparisons/{made.id}/cancel/").status_code == 409
    assert browser.post(f"/comparisons/{made.id}/retry/").status_code == 303
    worked_off(made)
    assert "6 of 6 answered" in words(browser, f"/comparisons/{made.id}/")
    assert "Cancelled" not in words(browser, f"/comparisons/{made.id}/")


def test_a_replay_of_a_comparison_leads_to_it_and_does_not_crowd_the_sessions_own(
    browser: Client, project: Project, session: Session
) -> None:
    made = compared(project, [session], ONE, THREE)
    replay = Replay.objects.first()
    assert replay is not None
    assert f'href="/comparisons/{made.id}/"' in page(browser, f"/replays/{replay.id}/")
    assert str(replay.id) not in page(browser, f"/sessions/{session.id}/replay/")


def test_all_of_it_is_a_file(browser: Client, project: Project, session: Session) -> None:
    made = compared(project, [session], ONE, THREE)
    answer = browser.get(f"/comparisons/{made.id}/export.csv")
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert len(list(csv.DictReader(io.StringIO(answer.content.decode(), newline="")))) == 9
    whole = json.loads(browser.get(f"/comparisons/{made.id}/export.json").content)
    assert len(whole["cells"]) == 3
    for form in ("csv", "json"):
        file = browser.get(f"/comparisons/{made.id}/export.{form}")
        taken = program(project).get(f"/comparisons/{made.id}/export", format=form)
        assert taken.content == file.content
        assert taken["Content-Type"] == file["Content-Type"]
        assert taken["Content-Disposition"] == f'attachment; filename="comparison-{made.id}.{form}"'
    assert browser.get(f"/comparisons/{made.id}/export.xml").status_code == 404


def test_a_viewer_reads_and_changes_nothing(project: Project, session: Session) -> None:
    made = compared(project, [session], ONE, THREE)
    step = ReplayStep.objects.order_by("id").last()
    assert step is not None
    viewer = browser_of(project, VIEWER)
    for address in ("/comparisons/", f"/comparisons/{made.id}/", f"/comparisons/{made.id}/cells/{step.id}/"):
        assert "New comparison" not in page(viewer, address)
    assert viewer.get("/comparisons/new/").status_code == 403
    for address in ("cancel/", "retry/", f"cells/{step.id}/"):
        sent = viewer.post(f"/comparisons/{made.id}/{address}", {"verdict": "better"})
        assert sent.status_code == 403


def test_another_projects_comparison_is_not_there(
    other_project: Project, project: Project, session: Session
) -> None:
    made = compared(project, [session], ONE, THREE)
    step = ReplayStep.objects.first()
    assert step is not None
    stranger = browser_of(other_project)
    for address in ("", f"cells/{step.id}/", "export.csv", "export.json"):
        assert stranger.get(f"/comparisons/{made.id}/{address}").status_code == 404
    assert str(made.id) not in page(stranger, "/comparisons/")
    assert browser_of(project, VIEWER).get(f"/comparisons/{made.id}/cells/99999999/").status_code == 404
    sent = stranger.post("/comparisons/new/", asked(session))
    assert sent.status_code == 422
    assert Comparison.objects.count() == 1


def test_the_empty_pages_say_what_to_do(other_project: Project) -> None:
    browser = browser_of(other_project)
    assert "No comparisons yet" in page(browser, "/comparisons/")
    start_session(other_project, name="without an ask", by="test")
    assert "Nothing to compare yet" in page(browser, "/comparisons/new/")


def test_a_page_takes_as_many_queries_whatever_its_length(browser: Client, project: Project) -> None:
    short = compared(project, [recorded_session(project, questions=("a b c?",))], ONE, THREE)
    long = compared(project, [recorded_session(project, questions=("a b c?",) * 12)], ONE, THREE)
    counts = []
    for made in (short, long):
        with CaptureQueriesContext(connection) as queries:
            page(browser, f"/comparisons/{made.id}/")
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_a_chart_says_every_value_so_that_nothing_and_unknown_are_told_apart(
    browser: Client, project: Project, session: Session
) -> None:
    shown = page(browser, f"/comparisons/{compared(project, [session], ONE, THREE).id}/")
    agreement, _, cost, _ = re.findall(r"<svg viewBox=\"0 0 280.*?</svg>", shown, re.DOTALL)
    assert re.findall(r"<text x=\"205\"[^>]*>([^<]+)", agreement) == ["–", "1.00", "0.33"]
    assert re.findall(r"<text x=\"205\"[^>]*>([^<]+)", cost) == ["$0", "$0", "$0"]
