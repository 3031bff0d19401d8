"""The answer cache on the pages of settings, the workbench, a step and a shared step."""

from django.test import Client

from tests.builders import QUESTIONS, recorded_session
from tests.web.people import browser_of
from timemachine.core.accounts.models import Project
from timemachine.governance.sharing.commands.links import create_link
from timemachine.knowledge.find import Query
from timemachine.recording.answering.commands import ask
from timemachine.recording.answering.models import AnswerCacheSwitch, CachedAnswer
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.deletions import erase_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft

QUESTION = "How long are invoices kept?"


def with_cached_answer(session: Session, question: str = QUESTION) -> Session:
    """Start a session with one answer from the cache."""
    collection = session.collection
    assert collection is not None
    later = start_session(session.project, name="Später", by="test", collection=collection)
    done = ask(
        session.project,
        collection,
        Query(text=question, top_k=2),
        use_model="local:extractive-1",
        session=later,
    )
    assert done.answered.cached
    later.refresh_from_db()
    return later


def text_of(client: Client, address: str) -> str:
    return " ".join(client.get(address).text.split())


def test_a_cached_answer_names_the_original_ask(project: Project) -> None:
    first = recorded_session(project, questions=QUESTIONS[:1])
    later = with_cached_answer(first)
    client = browser_of(project)
    shown = text_of(client, f"/sessions/{later.id}/?step=1")
    assert "answered from the cache, asked first at" in shown
    assert f'<a href="/sessions/{first.id}/?step=2">step 2 of <bdi>Läufe 🕰</bdi></a>' in shown
    assert "saved $0 and" in shown
    assert "1 cached answer, saved $0" in shown
    assert "1 cached answer" in text_of(client, f"/sessions/{later.id}/?step=2&tab=state")
    erase_session(first)
    assert "in a session that was deleted" in text_of(client, f"/sessions/{later.id}/?step=1")


def test_cache_details_of_another_program_are_shown_as_far_as_recorded(project: Project) -> None:
    session = start_session(project, name="Imported", by="test")
    drafts = [
        ActionDraft(kind="ask", model="openai:gpt-4o", cached=True, cached_from=origin)
        for origin in (
            {"session": None, "sequence": None, "at": None, "call_ms": None, "usage": None},
            {"session": "elsewhere", "sequence": 3, "at": "2026-11-20T09:00:00Z", "call_ms": 1900.0},
            {},
        )
    ]
    append(session.id, drafts)
    client = browser_of(project)
    pages = [text_of(client, f"/sessions/{session.id}/?step={step}") for step in (1, 2, 3)]
    assert "asked first outside a session; saved an unknown cost" in pages[0]
    assert "in a session that was deleted" in pages[1]
    assert "saved an unknown cost and 1.9 s" in pages[1]
    assert "asked first elsewhere; saved an unknown cost" in pages[2]
    assert "3 cached answers, saved an unknown cost" in pages[0]


def test_a_shared_step_does_not_name_another_session(project: Project) -> None:
    first = recorded_session(project, questions=QUESTIONS[:1])
    later = with_cached_answer(first)
    _, token = create_link(project, later, by="test")
    visitor = Client()
    shared = visitor.post(f"/share/{token}")["Location"]
    action, raw = (visitor.get(shared, {"step": 1, "tab": tab}).text for tab in ("action", "raw"))
    assert "answered from the cache, asked first elsewhere" in " ".join(action.split())
    assert "cached_from" in raw
    assert str(first.id) not in action + raw


def test_a_shared_step_names_a_step_of_its_own_session(project: Project) -> None:
    session = start_session(
        project,
        name="One",
        by="test",
        collection=recorded_session(project, questions=QUESTIONS[:1]).collection,
    )
    for _ in range(2):
        ask(project, session.collection, Query(text="Zoë?", top_k=2), session=session)  # type: ignore[arg-type]
    session.refresh_from_db()
    _, token = create_link(project, session, by="test")
    visitor = Client()
    shared = visitor.post(f"/share/{token}")["Location"]
    assert "at step 1 of this session" in text_of(visitor, f"{shared}?step=3")


def test_the_workbench_bypasses_the_cache_on_request(project: Project) -> None:
    session = with_cached_answer(recorded_session(project, questions=QUESTIONS[:1]))
    client = browser_of(project)
    address = f"/sessions/{session.id}/work/"
    form = {"do": "ask", "text": QUESTION, "mode": "hybrid", "top_k": "2", "model": "local:extractive-1"}
    hit = client.post(address, form, follow=True).text
    assert "Answered from the cache, asked first" in " ".join(hit.split())
    fresh = client.post(address, form | {"no_cache": "on"}, follow=True).text
    assert "Answered from the cache" not in fresh
    assert CachedAnswer.objects.filter(session=session).exists()


def test_an_administrator_switches_and_empties_the_cache(project: Project) -> None:
    recorded_session(project, questions=QUESTIONS[:1])
    client = browser_of(project, "admin")
    assert "It has 1 answer" in text_of(client, "/settings/")
    assert (
        client.post("/settings/answer-cache/switch/", {"switch": "off"})["Location"]
        == "/settings/#answer-cache"
    )
    switch = AnswerCacheSwitch.objects.get(project=project)
    shown = text_of(client, "/settings/")
    assert f"turned off by <bdi>{switch.changed_by}</bdi>" in shown
    assert "Turn on cache" in shown
    client.post("/settings/answer-cache/switch/", {"switch": "on"})
    client.post("/settings/answer-cache/empty/")
    shown = text_of(client, "/settings/")
    assert "It has 0 answers" in shown
    assert "Empty the cache" not in shown


def test_an_operator_sees_no_forms_of_the_cache(project: Project) -> None:
    recorded_session(project, questions=QUESTIONS[:1])
    client = browser_of(project, "operator")
    assert "Turn on cache" not in text_of(client, "/settings/")
