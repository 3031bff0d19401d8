"""Sweeps of retrieval settings over a session, through the API and the page: settings, results and cancelling."""

import re
from datetime import timedelta
from typing import Any

import pytest

from tests.api.conftest import Program, program
from tests.builders import QUESTIONS, recorded_session
from tests.web.people import browser_of
from timemachine.core.accounts.models import VIEWER, Project
from timemachine.core.leases import MOST_ATTEMPTS, LeaseLost
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.ids import uuid7
from timemachine.jobs.registry import overdue
from timemachine.knowledge.commands import NewFrame, put_frames
from timemachine.knowledge.find import Query, find
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.deletions import erase_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.replay.sweeps.commands import claim, launch, write
from timemachine.replay.sweeps.models import Sweep, SweepRow
from timemachine.replay.sweeps.pure.grid import Grid
from timemachine.replay.sweeps.worker import tallied, work
from timemachine.replay.tasks import run_sweep

GRID = {"modes": ["hybrid", "lexical"], "top_k": [1, 2], "adaptive": [False, True]}


@pytest.fixture(scope="module")
def recorded(shared_rows: None) -> Session:
    """Return a session that is recorded once per test file."""
    return recorded_session(Project.objects.create(name="Prüfung"), key="s1")


@pytest.fixture
def project(recorded: Session, db: None) -> Project:
    return Project.objects.get(pk=recorded.project_id)


@pytest.fixture
def api(project: Project) -> Program:
    return program(project)


@pytest.fixture
def session(recorded: Session, db: None) -> Session:
    return Session.objects.get(pk=recorded.pk)


def swept(api: Program, **grid: Any) -> dict[str, Any]:
    """A sweep that a worker has finished."""
    sent = api.post("/sessions/s1/sweeps", GRID | grid)
    assert sent.status_code == 202, sent.content
    sweep = sent.json()["sweep_id"]
    run_sweep(sweep)
    return dict(api.get(f"/sweeps/{sweep}").json())


def row_of(sweep: dict[str, Any], **setting: Any) -> dict[str, Any]:
    (row,) = [each for each in sweep["rows"] if setting.items() <= each.items()]
    assert row["status"] == "done", row
    return dict(row["result"])


def test_every_setting_is_measured_at_every_find_and_ask(api: Program, session: Session) -> None:
    sweep = swept(api)
    assert (sweep["status"], sweep["steps"], sweep["settings"]) == ("done", 4, {"total": 8, "finished": 8})
    as_recorded = row_of(sweep, mode="hybrid", top_k=2, adaptive=False)
    assert (as_recorded["overlap"], as_recorded["rank_biased_overlap"]) == (1.0, 1.0)
    assert (as_recorded["hits"], as_recorded["grounded_frames"], as_recorded["recall"]) == (8, 3, 1.0)
    fewer = row_of(sweep, mode="hybrid", top_k=1, adaptive=False)
    assert (fewer["hits"], fewer["overlap"]) == (4, 0.5)
    assert 0 < fewer["tokens"] < as_recorded["tokens"]
    assert as_recorded["tokens_per_step"] == as_recorded["tokens"] / 4
    assert "Llama 2" in sweep["tokenizer"]
    adaptive = row_of(sweep, mode="lexical", top_k=2, adaptive=True)
    collection = session.collection
    assert collection is not None
    assert adaptive["hits"] == sum(
        len(find(collection, Query(text=text, mode="lexical", top_k=2, adaptive=True)).hits)
        for text in (QUESTIONS[0], *QUESTIONS)
    )


def test_a_sweep_as_of_the_recording_ignores_later_frames(api: Program, session: Session) -> None:
    before = swept(api)["rows"]
    assert session.collection is not None
    put_frames(session.collection, [NewFrame(text=question) for question in QUESTIONS], by="test")
    assert swept(api)["rows"] == before
    now_ = row_of(swept(api, as_of="now"), mode="hybrid", top_k=2, adaptive=False)
    assert now_["overlap"] < 1


def test_a_sweep_does_not_write_to_the_session(api: Program, session: Session) -> None:
    last = session.actions.count()
    swept(api)
    assert session.actions.count() == last


@pytest.mark.parametrize(
    ("grid", "code"),
    [
        ({"modes": []}, "invalid_field"),
        ({"top_k": [0]}, "invalid_field"),
        ({"top_k": list(range(1, 52))}, "invalid_request"),
        ({"modes": ["psychic"]}, "invalid_request"),
        ({"embedding_models": ["nobody"]}, "embedding_model_not_there"),
        ({"rest": 1}, "invalid_request"),
    ],
)
def test_an_invalid_grid_is_refused(api: Program, session: Session, grid: dict[str, Any], code: str) -> None:
    refused = api.post("/sessions/s1/sweeps", GRID | grid)
    assert (refused.status_code, refused.json()["code"]) == (422, code)
    assert not Sweep.objects.exists()


def test_a_session_without_collection_or_finds_cannot_be_swept(project: Project, session: Session) -> None:
    bare = start_session(project, name="bare", by="test")
    empty = start_session(project, name="empty", by="test", collection=session.collection)
    for each, code in ((bare, "collection_needed"), (empty, "nothing_to_replay")):
        with pytest.raises(InvalidInput) as refused:
            launch(each, Grid(), by="test")
        assert refused.value.code == code


def test_a_step_without_a_query_is_skipped_and_counted(project: Project, session: Session) -> None:
    half = start_session(project, name="half", by="test", collection=session.collection)
    append(half.id, [ActionDraft(kind="find", input=3), ActionDraft(kind="find", input="Invoices?")])
    sweep = launch(half, Grid(modes=["lexical"], top_k=[1], adaptive=[False]), by="test")
    assert work(sweep.id) == 1
    result = sweep.rows.get().result or {}
    assert (result["steps"], result["left_out"], result["recall"]) == (1, 1, None)


def test_a_cancelled_sweep_keeps_its_measurements_and_adds_none(api: Program, session: Session) -> None:
    sweep = launch(session, Grid(top_k=[1]), by="test")
    lease = claim(sweep.id)
    assert lease is not None
    write(lease, status="done", result=tallied([]).model_dump())
    slow = claim(sweep.id)
    assert slow is not None
    body = api.post(f"/sweeps/{sweep.id}/cancel").json()
    assert body["status"] == "cancelled"
    assert [row["status"] for row in body["rows"]].count("done") == 1
    with pytest.raises(LeaseLost):
        slow.write()
    with pytest.raises(LeaseLost):
        write(slow, status="done", result={})
    assert work(sweep.id) == 0
    assert api.post(f"/sweeps/{sweep.id}/cancel").json()["code"] == "sweep_over"


def test_a_lost_worker_is_replaced_at_most_three_times(session: Session) -> None:
    sweep = launch(session, Grid(modes=["lexical"], top_k=[1], adaptive=[False]), by="test")
    for _ in range(MOST_ATTEMPTS):
        assert claim(sweep.id) is not None
        SweepRow.objects.update(lease_until=now() - timedelta(seconds=1))
    assert work(sweep.id) == 0
    sweep.refresh_from_db()
    assert (sweep.status, sweep.rows.get().status) == ("failed", "failed")
    assert "3 times" in str(sweep.rows.get().error_message)


def test_only_unfinished_sweeps_without_a_worker_are_enqueued_again(session: Session) -> None:
    idle, busy, done = (launch(session, Grid(modes=["lexical"], top_k=[1]), by="test") for _ in range(3))
    claim(busy.id)
    work(done.id)
    assert overdue(run_sweep) == []
    assert overdue(run_sweep, at_start=True) == [idle.id]


def test_erasing_a_session_erases_its_sweeps(session: Session) -> None:
    sweep = launch(session, Grid(top_k=[1]), by="test")
    erase_session(session)
    assert work(sweep.id) == 0
    assert not SweepRow.objects.exists()


def test_only_the_sweeps_of_the_session_are_listed(
    api: Program, session: Session, other_project: Project
) -> None:
    ids = [api.post("/sessions/s1/sweeps", GRID).json()["sweep_id"] for _ in range(3)]
    page = api.get("/sessions/s1/sweeps", limit=2).json()
    rest = api.get("/sessions/s1/sweeps", limit=2, after=page["next"]).json()
    assert [each["id"] for each in [*page["items"], *rest["items"]]] == ids[::-1]
    stranger = program(other_project)
    assert stranger.get(f"/sweeps/{ids[0]}").json()["code"] == "sweep_not_found"
    assert api.get("/sweeps/nonsense").status_code == 404


def test_a_person_launches_a_sweep_and_sees_its_results(project: Project, session: Session) -> None:
    browser = browser_of(project)
    form = f"/sessions/{session.id}/sweep/"
    assert "Launch sweep" in browser.get(form).text
    chosen = {"modes": ["hybrid", "lexical"], "top_k": "1, 2", "adaptive": ["no"], "as_of": "recorded"}
    for wrong, says in (
        ({"top_k": "few"}, "whole numbers"),
        ({"top_k": "0"}, "between 1 and 1,000"),
        ({"modes": []}, "required"),
    ):
        refused = browser.post(form, chosen | wrong)
        assert refused.status_code == 422
        assert says in refused.text
    sent = browser.post(form, chosen)
    assert sent.status_code == 302
    waiting = browser.get(sent["Location"]).text
    assert "0 of 4 settings" in waiting
    assert "Cancel sweep" in waiting
    sweep = Sweep.objects.get()
    polled = browser.get(sent["Location"], {"rev": sweep.revision}, headers={"HX-Request": "true"})
    assert polled.status_code == 204
    run_sweep(str(sweep.id))
    done = browser.get(sent["Location"]).text
    assert "Recall of the frames" in done
    assert 'class="finding"' not in waiting
    assert done.index('<p class="finding">') < done.index("<svg") < done.index("<table")
    assert done.count("<circle") == 2
    assert "3 of 3" in done
    assert sent["Location"] in browser.get(form).text


def test_a_reused_form_with_another_grid_is_refused_once_and_then_accepted(
    project: Project, session: Session
) -> None:
    browser, form = browser_of(project), f"/sessions/{session.id}/sweep/"
    chosen = {"modes": ["lexical"], "top_k": "1", "adaptive": ["no"], "as_of": "recorded"}
    used = chosen | {"form_id": str(uuid7())}
    assert {browser.post(form, used)["Location"] for _ in range(2)} == {f"/sweeps/{used['form_id']}/"}
    other = f"/sessions/{recorded_session(project, questions=QUESTIONS[:1]).id}/sweep/"
    for address, sent in ((form, used | {"top_k": "2"}), (other, used)):
        refused = browser.post(address, sent)
        assert refused.status_code == 409
        assert "already launched a different sweep" in refused.text
    assert Sweep.objects.count() == 1
    fresh = re.search(r'name="form_id" value="([^"]+)"', refused.text)
    assert fresh is not None
    assert browser.post(other, chosen | {"form_id": fresh[1]}).status_code == 302


def test_operators_cancel_a_sweep_on_its_page(project: Project, session: Session) -> None:
    sweep = launch(session, Grid(), by="test")
    viewer = browser_of(project, VIEWER)
    assert "Cancel sweep" not in viewer.get(f"/sweeps/{sweep.id}/").text
    assert browser_of(project, "operator").post(f"/sweeps/{sweep.id}/cancel/").status_code == 302
    sweep.refresh_from_db()
    assert sweep.status == "cancelled"


def test_the_rate_of_a_sweep_leaves_out_the_time_in_the_queue(project: Project, session: Session) -> None:
    sweep = launch(
        session, Grid(modes=["hybrid", "lexical"], top_k=[1, 2], adaptive=[False], as_of="now"), by="test"
    )
    Sweep.objects.filter(id=sweep.id).update(created_at=now() - timedelta(days=1))
    browser = browser_of(project)
    assert 'class="quiet pace"' not in browser.get(f"/sweeps/{sweep.id}/").text
    lease = claim(sweep.id)
    assert lease is not None
    write(lease, status="failed", error_message="of a test")
    Sweep.objects.filter(id=sweep.id).update(began_at=now() - timedelta(seconds=10))
    assert claim(sweep.id) is not None  # a later setting changes nothing
    assert re.search(
        r'class="quiet pace">[1-6]\.\d per minute',
        browser.get(f"/sweeps/{sweep.id}/").text,
    )
