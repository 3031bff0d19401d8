"""The pages of a finished comparison: the matrix, a cell, the files."""

import csv
import io
import re

import pytest
from django.test import Client

from tests.api.conftest import program
from tests.builders import QUESTIONS, compared, recorded_session
from tests.web.people import browser_of
from timemachine.core.accounts.models import ADMIN, VIEWER, Project
from timemachine.recording.annotations.significance.commands import change
from timemachine.recording.sessions.models import Session
from timemachine.replay.comparison.commands import Plan, create, mark
from timemachine.replay.comparison.models import CellMark, CellOpinion, Comparison
from timemachine.replay.comparison.pure.variants import Variant
from timemachine.replay.runs.models import Replay, ReplayStep
from timemachine.web.comparisons.presenters import matrix

ONE, THREE = "local:extractive-1", "local:extractive-3"


@pytest.fixture(scope="module")
def compared_once(recorded_once: Session) -> tuple[Comparison, Session]:
    """A comparison of two sessions, with three asks and with one, and the second session."""
    other = recorded_session(recorded_once.project, questions=QUESTIONS[:1])
    return compared(recorded_once.project, [recorded_once, other], ONE, THREE), other


@pytest.fixture
def made(compared_once: tuple[Comparison, Session], db: None) -> Comparison:
    return Comparison.objects.get(pk=compared_once[0].pk)


@pytest.fixture
def address(made: Comparison) -> str:
    return f"/comparisons/{made.id}/"


@pytest.fixture
def project(made: Comparison) -> Project:
    return made.project


@pytest.fixture
def browser(project: Project) -> Client:
    return browser_of(project)


def page(browser: Client, address: str) -> str:
    answer = browser.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def words(browser: Client, address: str) -> str:
    """Return the text of a page without its markup."""
    return " ".join(re.sub(r"<[^>]+>", "", page(browser, address)).split())


def test_the_matrix_is_filtered_by_its_address(
    browser: Client, address: str, compared_once: tuple[Comparison, Session]
) -> None:
    session = compared_once[1].id
    all_asks = "4 of 4 asks"
    for query, shown in (
        ("", all_asks),
        ("?show=changed", "2 of 4 asks"),
        ("?verdict=numbers_differ", "1 of 4 asks"),
        (f"?session={session}", "1 of 4 asks"),
        (f"?session={session}&show=changed", "No ask matches"),
        ("?verdict=nonsense&session=x&after=x&against=99", all_asks),
    ):
        assert shown in words(browser, f"{address}{query}"), query


def test_other_columns_are_compared_with_the_column_named_in_the_address(
    browser: Client, address: str
) -> None:
    assert f"A Recording {ONE} B 1 {ONE}" in words(browser, address)
    against = words(browser, f"{address}?against=2")
    assert f"A 2 {THREE} B Recording {ONE}" in against
    assert f"A 2 {THREE} B 1 {ONE}" in against


def test_many_asks_are_paged(browser: Client, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix, "CELLS_OF_A_PAGE", 30)
    session = recorded_session(project, questions=[f"Question {n} of many?" for n in range(11)])
    plan = Plan(sessions=[session], arms=[Variant(model=ONE), Variant(model=THREE)], reason="r")
    address = f"/comparisons/{create(project, plan, by='test').id}/"
    first, second = (words(browser, f"{address}?so_far=1&after={n}") for n in ("", 10))
    assert "Question 9 of many?" in first
    assert "Question 10 of many?" not in first
    assert "Question 10 of many?" in second


def test_repeated_runs_share_a_cell_and_each_has_its_own_page(browser: Client, project: Project) -> None:
    made = compared(project, [recorded_session(project, questions=QUESTIONS[:1])], ONE, THREE, repeats=2)
    shown = page(browser, f"/comparisons/{made.id}/")
    assert shown.count("/cells/") == 2 * 2
    assert "Run 2" in shown


@pytest.fixture
def cell(address: str) -> str:
    """The address of the cell whose answer has different numbers."""
    return f"{address}cells/{ReplayStep.objects.get(verdict='numbers_differ').id}/"


def test_a_cell_shows_both_answers_and_takes_a_mark_with_a_note(
    browser: Client, address: str, cell: str
) -> None:
    assert "<ins" in page(browser, cell)
    sent = browser.post(cell, {"verdict": "worse", "note": "It wanders <b>off</b>."})
    assert (sent.status_code, sent["Location"]) == (303, f"{cell}#marks")
    assert "It wanders &lt;b&gt;off" in page(browser, cell)
    assert "worse" in page(browser, address)
    assert browser.post(cell, {"verdict": "splendid"}).status_code == 422
    assert CellMark.objects.count() == 1


def test_a_cell_leads_to_the_other_variants_and_to_the_next_answer_of_its_own(
    browser: Client, project: Project
) -> None:
    made = compared(project, [recorded_session(project, questions=QUESTIONS[:2])], ONE, THREE, repeats=2)
    cells = list(ReplayStep.objects.filter(replay__run__comparison=made, kind="ask").order_by("id"))
    first = min(cells, key=lambda each: (each.replay.run.arm, each.replay.run.repeat, each.sequence))
    shown = page(browser, f"/comparisons/{made.id}/cells/{first.id}/")
    beside = re.search(r"<p>The same step by (.*?)</p>", shown, re.DOTALL)
    assert beside is not None
    assert re.findall(r"<bdi>(.*?)</bdi>(.*?)</a>", beside[1]) == [
        ("1 local:extractive-1", ", run 2"),
        ("2 local:extractive-3", ", run 1"),
        ("2 local:extractive-3", ", run 2"),
    ]
    following = re.search(r'rel="next" href="([^"]*)"', shown)
    assert following is not None
    assert 'rel="prev"' not in shown
    assert f'rel="prev" href="/comparisons/{made.id}/cells/{first.id}/"' in page(browser, following[1])


def chosen_mark(page: str) -> str:
    """Return the preselected mark."""
    select = re.search(r'<select name="verdict".*?</select>', page, re.DOTALL)
    assert select is not None
    found = re.findall(r'value="([^"]*)"\s+selected', select[0])
    assert len(found) <= 1
    return found[0] if found else ""


def test_an_empty_mark_is_refused_at_its_field(browser: Client, cell: str) -> None:
    refused = browser.post(cell, {"verdict": "", "note": "Only a note."})
    assert refused.status_code == 422
    assert 'id="id_verdict_error"' in refused.text
    assert "Choose a rating." in refused.text
    assert "Only a note.</textarea>" in refused.text
    assert not CellMark.objects.exists()


def test_the_form_shows_the_users_own_mark_which_can_be_withdrawn_once(
    browser: Client, project: Project, cell: str
) -> None:
    before = page(browser, cell)
    assert (chosen_mark(before), "Remove my rating" in before) == ("", False)
    assert browser.post(cell, {"verdict": "withdrawn"}).status_code == 422
    assert not CellMark.objects.exists()
    browser.post(cell, {"verdict": "worse", "note": "It wanders off."})
    other_user = browser_of(project, ADMIN)
    theirs = page(other_user, cell)
    assert (chosen_mark(theirs), "Remove my rating" in theirs) == ("", False)
    other_user.post(cell, {"verdict": "better", "note": ""})
    mine = page(browser, cell)
    assert (chosen_mark(mine), "Remove my rating" in mine) == ("worse", True)
    assert ">\nIt wanders off.</textarea>" in mine
    withdrawal = {"verdict": "withdrawn", "note": "It wanders off."}
    assert browser.post(cell, withdrawal).status_code == 303
    assert chosen_mark(page(browser, cell)) == ""
    assert list(CellMark.objects.order_by("id").values_list("verdict", "note")) == [
        ("worse", "It wanders off."),
        ("better", ""),
        ("withdrawn", ""),
    ]
    assert browser.post(cell, withdrawal).status_code == 422


def test_a_model_that_cannot_judge_is_refused_at_its_field(browser: Client, address: str, cell: str) -> None:
    of_all, of_cell = ("", address), (cell.split("/")[-2], cell)
    for sent, field, message, (step, back) in (
        ({}, "model", "Choose a judge model", of_all),
        ({"model": THREE}, "model", "is not a language model", of_all),
        ({"model": "nobody:x"}, "model", "no model provider", of_cell),
    ):
        answer = browser.post(f"{address}judge/", sent | {"step": step}, follow=True)
        assert answer.redirect_chain[0][0].startswith(f"{back}?judge=")
        error = re.search(rf'id="judge_{field}_error">(.*?)</div>', answer.text, re.DOTALL)
        assert error is not None
        assert message in error[1]
        if typed := sent.get("model"):
            assert f'value="{typed}"' in answer.text
    assert not CellOpinion.objects.exists()


def test_a_replay_of_a_comparison_links_to_it_and_is_not_listed_with_the_session(
    browser: Client, address: str
) -> None:
    replay = Replay.objects.first()
    assert replay is not None
    assert f'href="{address}"' in page(browser, f"/replays/{replay.id}/")
    assert str(replay.id) not in page(browser, f"/sessions/{replay.session_id}/replay/")


def test_a_comparison_is_exported_as_csv_and_json(browser: Client, made: Comparison, address: str) -> None:
    api = program(made.project)
    files = {}
    for form in ("csv", "json"):
        file = files[form] = browser.get(f"{address}export.{form}")
        taken = api.get(f"{address}export", format=form)
        assert taken.content == file.content
        assert taken["Content-Type"] == file["Content-Type"]
        assert taken["Content-Disposition"] == f'attachment; filename="comparison-{made.id}.{form}"'
    assert files["csv"]["Content-Type"] == "text/csv; charset=utf-8"
    assert len(list(csv.DictReader(io.StringIO(files["csv"].text, newline="")))) == 12
    assert len(files["json"].json()["cells"]) == 4
    assert browser.get(f"{address}export.xml").status_code == 404


def test_a_viewer_sees_no_forms_of_a_comparison(project: Project, address: str, cell: str) -> None:
    viewer = browser_of(project, VIEWER)
    for each in ("/comparisons/", address, cell):
        assert "New comparison" not in page(viewer, each)
    assert viewer.get(f"{address}cells/99999999/").status_code == 404


def test_the_page_opens_with_what_to_use_draws_what_varies_and_folds_what_does_not(
    browser: Client, address: str
) -> None:
    shown, text = page(browser, address), words(browser, address)
    assert "too few to say which variant to use" in text
    assert re.findall(r'role="img" aria-label="(Agreement[^"]*)"', shown) == [
        "Agreement with the recording: 1 local:extractive-1 1.00, 2 local:extractive-3 0.50"
    ]
    assert re.search(r"The same in every column: .*Cost \$0", text)
    assert text.index("Answers") < text.index("What differs") < text.index("Statistics table")


def test_agreeing_with_an_answer_that_is_known_to_be_bad_recommends_no_model(
    browser: Client, made: Comparison, address: str
) -> None:
    ask = ReplayStep.objects.filter(replay__run__comparison=made, kind="ask").order_by("id")[0].action
    change(ask.session, ask.sequence, by="jo@example.com", significance="error")
    said = "Agreement with the recording does not count here: 1 of 4 recorded answers is marked as an error or rated worse than a new one."
    assert said in words(browser, address)
    other = ReplayStep.objects.filter(replay__run__comparison=made, kind="ask").exclude(action=ask)[0]
    for verdict, doubted in (("better", "2 of 4"), ("withdrawn", "1 of 4")):
        mark(made, other, verdict, by="jo@example.com")
        assert f"does not count here: {doubted} recorded answers" in words(browser, address)


def test_a_cost_that_is_unknown_in_one_column_is_not_said_of_all(browser: Client, address: str) -> None:
    assert ReplayStep.objects.filter(replay__model=THREE).update(cost_usd=None)
    assert "Cost $0 (unknown in 1 column)" in words(browser, address)


def test_answers_are_shown_with_their_differences_and_sorted_by_them(browser: Client, address: str) -> None:
    sorted_page = page(browser, f"{address}?sort=different")
    assert "sort=different" in sorted_page
    assert '<p class="excerpt">' in sorted_page
    assert re.search(r'<ins class="added">', sorted_page)
    rows = re.findall(r'<th scope="row"><a href="[^"]*step=(\d+)', sorted_page)
    assert sorted(rows) == sorted(
        re.findall(r'<th scope="row"><a href="[^"]*step=(\d+)', page(browser, address))
    )
    assert rows != re.findall(r'<th scope="row"><a href="[^"]*step=(\d+)', page(browser, address))


def test_a_cell_says_which_numbers_differ(browser: Client, address: str, cell: str) -> None:
    shown = page(browser, address)
    place = shown.index(f'href="{cell}"')
    assert '<bdi class="quiet">adds four hours</bdi>' in shown[place : place + 300]
    assert shown.count('<bdi class="quiet">adds') == 1


def test_low_grounding_is_marked_in_its_cell_and_counted_in_its_column(
    browser: Client, made: Comparison, address: str
) -> None:
    answers = ReplayStep.objects.filter(replay__run__comparison=made, kind="ask")
    answers.update(grounding={"score": 0.9, "label": "HIGH"})
    one = answers.order_by("id")[0]
    answers.filter(id=one.id).update(grounding={"score": 0.2, "label": "LOW"})
    shown = page(browser, address)
    assert shown.count("; LOW grounding in 1 answer</span>") == 1
    assert shown.count('<span>grounding 0.20</span> <span class="verdict low">LOW</span>') == 1


def test_of_equally_different_answers_the_worst_grounded_comes_first(
    browser: Client, made: Comparison, address: str
) -> None:
    answers = ReplayStep.objects.filter(replay__run__comparison=made, kind="ask")
    answers.update(verdict="changed", grounding={"score": 0.9, "label": "HIGH"})
    last, *_ = answers.order_by("-action__session_id", "-sequence")
    answers.filter(sequence=last.sequence, action=last.action).update(
        grounding={"score": 0.2, "label": "LOW"}
    )
    others = answers.exclude(action=last.action)
    others.filter(id__in=others.order_by("action", "id").distinct("action").values("id")).update(
        grounding={"score": 0.0, "label": "LOW"}
    )
    first = re.search(r'<th scope="row"><a href="([^"]*)"', page(browser, f"{address}?sort=different"))
    assert first is not None
    assert first[1].endswith(f"{last.action.session_id}/?step={last.sequence}")


def test_answers_that_only_leave_numbers_out_are_counted_apart(
    browser: Client, made: Comparison, address: str
) -> None:
    answers = ReplayStep.objects.filter(replay__run__comparison=made, kind="ask")
    answers.update(verdict="numbers_differ", evidence={"only_recorded": ["9"], "only_new": []})
    one = answers.order_by("id")[0]
    answers.filter(id=one.id).update(evidence={"only_recorded": [], "only_new": [], "turned": ["not"]})
    shown = page(browser, address)
    assert re.search(r"numbers differ in \d \(1 says the opposite, \d only leaves? some out\)", shown)
