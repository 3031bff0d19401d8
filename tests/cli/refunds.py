"""A small recording that terminal tests replay."""

from tests.cli.terminal import Here
from timemachine.knowledge.commands import NewFrame, get_or_create_collection
from timemachine.knowledge.find import Query
from timemachine.recording.answering import commands as answering
from timemachine.recording.sessions.commands import append, end_session, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft

PASSAGES = [
    (
        "Refunds",
        "Refunds are paid within 14 days. They go to the card that paid. Ask for the number of the return.",
    ),
    ("Shipping", "Parcels leave Köln every weekday at noon. They take two days inside Germany."),
    ("Guarantee", "The guarantee covers defects for three years. Batteries are covered for one year."),
]


def refunds(tm: Here) -> Session:
    """A session with an ask, a checkpoint and a find, ended."""
    collection = get_or_create_collection(tm.project, "handbook", by="test")
    answering.put(collection, [NewFrame(title=title, text=text) for title, text in PASSAGES], by="test")
    session = start_session(tm.project, name="Rückgabe", by="test", collection=collection, key="s1")
    query = Query(text="When are refunds paid?")
    answering.ask(tm.project, collection, query, use_model="local:extractive-1", session=session)
    append(session.id, [ActionDraft(kind="checkpoint", name="answered", output={"messages": []})])
    answering.find(collection, Query(text="How long is the guarantee?", top_k=2), session=session)
    return end_session(session.id)
