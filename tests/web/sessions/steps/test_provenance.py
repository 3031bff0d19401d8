"""The origin and the use of passages, over HTTP: links in both directions between a put and the steps that used it."""

import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.builders import tamper
from tests.recording.intake.files import now_put
from tests.web.timelines import HOSTILE, example_actions, get, recorded, words
from timemachine.core.accounts.models import Project
from timemachine.knowledge.commands import NewFrame, get_or_create_collection, put_frames
from timemachine.knowledge.find import Query
from timemachine.knowledge.models import Collection, Frame
from timemachine.recording.answering import commands as answering
from timemachine.recording.intake.preparing import HandedIn
from timemachine.recording.sessions.commands import append, end_session, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft, RetrievalDraft

pytestmark = pytest.mark.django_db
QUESTION = Query(text="How long are invoices kept?", top_k=2)
MODEL = "local:extractive-1"


@pytest.fixture
def shelf(project: Project) -> Collection:
    """A collection with one passage that was stored outside any session."""
    collection = get_or_create_collection(project, "shelf", by="test")
    put_frames(
        collection,
        [NewFrame(title="Travel", text="Trains are booked in second class.")],
        by="anna@example.org",
    )
    return collection


@pytest.fixture
def session(project: Project, shelf: Collection) -> Session:
    """A session on the shelf: 1 a put, 2 a find, 3 an ask with its find 4."""
    session = start_session(project, name="Told", by="test", collection=shelf, key="told")
    invoices = NewFrame(title="Retention", text="Invoices are kept for ten years.")
    answering.put(shelf, [invoices], by="test", session=session)
    answering.find(shelf, QUESTION, session=session)
    answering.ask(project, shelf, QUESTION, use_model=MODEL, session=session)
    session.refresh_from_db()
    return session


def test_every_hit_names_the_step_or_the_user_that_stored_it(operator: Client, session: Session) -> None:
    for step in (2, 3, 4):
        for tab in ("action", "context"):
            page = get(operator, f"/sessions/told/?step={step}&tab={tab}")
            assert re.search(r'stored by\s+<a href="\?step=1#s1">step 1</a>', page), (step, tab)
            assert re.search(r"stored by anna@example.org , .* outside a session", words(page)), (step, tab)
            assert "/collections/shelf/frames/1/?version=1" in page


def test_a_put_in_another_session_of_the_project_is_named_and_linked(
    operator: Client, project: Project, session: Session, shelf: Collection
) -> None:
    later = start_session(project, name="Later", by="test", collection=shelf, key="later")
    answering.find(shelf, QUESTION, session=later)
    page = get(operator, "/sessions/later/?step=1")
    assert f'href="/sessions/{session.id}/?step=1">step 1 of <bdi>Told</bdi></a>' in page


def test_a_version_links_to_the_step_that_stored_it(
    operator: Client, project: Project, session: Session, shelf: Collection
) -> None:
    corrected = NewFrame(number=1, title="Retention", text="Invoices are kept for eleven years.")
    answering.put(shelf, [corrected], by="test", session=session)
    answering.find(shelf, QUESTION, session=session)
    page = get(operator, "/sessions/told/?step=6")
    assert re.search(r'stored by\s+<a href="\?step=5#s5">step 5</a>', page)


def test_a_passage_of_a_file_links_to_the_step_that_stored_it(
    operator: Client, project: Project, shelf: Collection
) -> None:
    session = start_session(project, name="Files", by="test", collection=shelf, key="files")
    now_put(shelf, HandedIn(name="rules.md", data=b"Invoices are kept for ten years.\n"), session=session)
    session.refresh_from_db()
    last = session.last_sequence
    answering.find(shelf, QUESTION, session=session)
    page = get(operator, f"/sessions/files/?step={last + 1}")
    assert re.search(rf'stored by\s+<a href="\?step={last}#s{last}">step {last}</a>', page)


def test_hits_of_another_program_and_of_an_erased_frame_are_labelled(
    operator: Client, project: Project, session: Session
) -> None:
    recorded(project, example_actions())
    assert "origin not recorded" in words(get(operator, "/sessions/s/?step=2"))
    tamper("UPDATE tm_hit SET stored_frame_id = %s", [2**40])
    assert "its frame was deleted" in words(get(operator, "/sessions/told/?step=2"))


def test_a_put_lists_the_later_steps_that_used_it_and_the_sentences_it_supports(
    operator: Client, session: Session
) -> None:
    page = get(operator, "/sessions/told/?step=1")
    assert "3 later steps of this session" in words(page)
    assert re.findall(r'<li><a class="step-name" href="\?step=(\d+)"', page) == ["2", "3", "4"]
    assert "supports 1 sentence: 1" in words(page)
    assert 'href="?step=3#said-1"' in page
    assert "No other session used it." in words(page)


def test_a_put_lists_the_other_sessions_that_used_it(
    operator: Client, project: Project, session: Session, shelf: Collection
) -> None:
    for number in range(12):
        other = start_session(project, name=f"Other {number}", by="test", collection=shelf)
        answering.find(shelf, QUESTION, session=other)
    page = words(get(operator, "/sessions/told/?step=1"))
    assert "Other sessions that used it 12" in page
    assert "Other 11" in page
    assert "Other 1 " not in page
    assert "The latest 10" in page


def test_a_put_of_an_existing_passage_says_so_and_counts_only_later_uses(
    operator: Client, project: Project, session: Session, shelf: Collection
) -> None:
    answering.put(
        shelf,
        [NewFrame(title="Retention", text="Invoices are kept for ten years.")],
        by="test",
        session=session,
    )
    page = words(get(operator, "/sessions/told/?step=5"))
    assert "where it had already been stored" in page
    assert "No later step of this session used it." in page


def test_frames_link_to_the_sentences_that_rest_on_them(operator: Client, session: Session) -> None:
    of_ask = get(operator, "/sessions/told/?step=3&tab=context")
    assert 'href="?step=3#said-1"' in of_ask
    of_find = get(operator, "/sessions/told/?step=4&tab=context")
    assert 'href="?step=3#said-1"' in of_find
    on_the_page_itself = get(operator, "/sessions/told/?step=3")
    assert 'href="#said-1"' in on_the_page_itself
    assert 'id="said-1"' in on_the_page_itself
    assert "supports 1 sentence" not in words(get(operator, "/sessions/told/?step=2&tab=context"))


def test_another_projects_put_is_never_named(
    operator: Client, project: Project, other_project: Project, session: Session
) -> None:
    theirs = get_or_create_collection(other_project, "shelf", by="test")
    secret = start_session(other_project, name="Secret", by="test", collection=theirs)
    answering.put(
        theirs, [NewFrame(title="Travel", text="Trains are booked in second class.")], by="x", session=secret
    )
    assert "Secret" not in get(operator, "/sessions/told/?step=2")
    append(
        session.id,
        [ActionDraft(kind="put", input="i", output={"collection": "theirs", "frame": 0, "version": 1})],
    )
    assert "Where it was used" not in get(operator, "/sessions/told/?step=5")


def test_a_malformed_grounding_is_harmless(operator: Client, project: Project, shelf: Collection) -> None:
    frame = Frame.objects.get(collection=shelf)
    hits = (HitDraft(rank=1, frame=HOSTILE, title=HOSTILE, stored_frame=frame.id),)
    groundings: list[dict[str, Any]] = [
        {"sentences": "x"},
        {"sentences": ["x", None]},
        {"sentences": [{"grounded": True, "frame": {"odd": HOSTILE}}]},
        {"sentences": [{"grounded": True, "frame": HOSTILE}]},
    ]
    drafts = [
        ActionDraft(kind="ask", input="q", output="a", grounding=each, retrieval=RetrievalDraft(hits=hits))
        for each in groundings
    ]
    recorded(project, drafts)
    for number in range(1, len(drafts) + 1):
        page = get(operator, f"/sessions/s/?step={number}&tab=context")
        assert "<script>alert(1)" not in page


def test_the_number_of_queries_does_not_grow_with_passages_or_uses(
    operator: Client, project: Project, shelf: Collection
) -> None:
    session = start_session(project, name="Many", by="test", collection=shelf, key="many")
    news = [NewFrame(title=f"T{n}", text=f"Text number {n}.") for n in range(30)]
    answering.put(shelf, news, by="test", session=session)
    frames = list(Frame.objects.filter(collection=shelf).order_by("-number"))

    def find(number: int) -> ActionDraft:
        hits = tuple(
            HitDraft(rank=rank, frame=each.number, version=1, title=each.title, stored_frame=each.id)
            for rank, each in enumerate(frames[:number], 1)
        )
        return ActionDraft(kind="find", input="q", retrieval=RetrievalDraft(hits=hits))

    append(session.id, [find(1), find(30)])
    assert count_queries(operator, "/sessions/many/?step=31") == count_queries(
        operator, "/sessions/many/?step=32"
    )
    few = count_queries(operator, "/sessions/many/?step=30")
    append(session.id, [find(1) for _ in range(200)])
    assert count_queries(operator, "/sessions/many/?step=30") == few
    assert "202 later steps of this session" in words(get(operator, "/sessions/many/?step=30"))
    assert "The first 20 of 202." in words(get(operator, "/sessions/many/?step=30"))
    assert "The first 20 are listed. Show all" in words(get(operator, "/sessions/many/?step=32"))
    end_session(session.id)


def count_queries(browser: Client, address: str) -> int:
    """Return the number of queries that the part of the page needs."""
    get(browser, address, target="step")
    with CaptureQueriesContext(connection) as found:
        get(browser, address, target="step")
    return len(found)
