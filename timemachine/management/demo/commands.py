"""Load and remove the demo. It is recorded and replayed when it is loaded, so every value in it is measured."""

from dataclasses import dataclass
from uuid import UUID

from django.db import transaction

from timemachine.core.accounts.models import Project
from timemachine.core.pure.content import text_sha256
from timemachine.evidence.sealing.session_deletion import erase_session
from timemachine.governance.sharing.commands.links import create_link, url_of
from timemachine.governance.sharing.pure.terms import Terms
from timemachine.knowledge.commands import NewFrame, erase_collection, get_or_create_collection
from timemachine.knowledge.find import Query
from timemachine.knowledge.models import Collection, Frame
from timemachine.management.demo import handbook
from timemachine.recording.answering import commands as answering
from timemachine.recording.sessions.commands import append, detach_collection, end_session, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.replay.runs.commands import launch
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.pure.options import ReplayOptions

MODEL = "local:extractive-1"
OTHER_MODEL = "local:extractive-3"
WIDER = 20
DEMO_TAG = "demo"
OWN_REPLAYS, OWN_LINKS = 2, 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """The parts of the demo. `share_url` is known only when it is created; `new` is False if it existed."""

    session: Session
    replays: tuple[UUID, ...]
    share_url: str | None
    new: bool


def load(project: Project, *, by: str) -> Demo:
    """Create the demo in this project, or return the existing one. The caller enqueues its replays."""
    existing = _session_of(project)
    if existing is not None:
        replays = Replay.objects.filter(session=existing).order_by("created_at").values_list("id", flat=True)
        return Demo(session=existing, replays=tuple(replays), share_url=None, new=False)
    with transaction.atomic():
        session = _record(project, by)
        debug = launch(session, ReplayOptions(top_k=WIDER, as_of="recorded"), by=by)
        audit = launch(
            session,
            ReplayOptions(
                audit=True, use_model=OTHER_MODEL, reason="Demo: would a longer answer have helped?"
            ),
            by=by,
        )
        _, token = create_link(project, session, Terms(label="Demo: for the auditor"), by=by)
    return Demo(session=session, replays=(debug.id, audit.id), share_url=url_of(token), new=True)


@transaction.atomic
def remove(project: Project) -> bool:
    """Remove everything that the demo created, including the collection and its history. Returns False if there is no demo."""
    session = _session_of(project)
    if session is not None:
        erase_session(session, by=None, reason="the demo was removed")
    collection = Collection.objects.filter(project=project, name=handbook.COLLECTION).first()
    if collection is not None and _is_ours(collection):
        detach_collection(collection)
        erase_collection(collection)
    return session is not None or collection is not None


def added_to(project: Project) -> dict[str, int]:
    """What people added to the demo and is deleted with it: replays, share links and judgements."""
    session = _session_of(project)
    if session is None:
        return {}
    added = {
        "replay": session.replays.count() - OWN_REPLAYS,
        "judgement": session.judgements.count(),
        "share link": session.share_links.count() - OWN_LINKS,
    }
    return {name: number for name, number in added.items() if number > 0}


def _session_of(project: Project) -> Session | None:
    return Session.objects.filter(
        project=project, key=handbook.SESSION_KEY, tags__contains=[DEMO_TAG]
    ).first()


def _is_ours(collection: Collection) -> bool:
    """Whether the collection contains only the handbook. Otherwise it is not removed."""
    ours = {text_sha256(text) for _, text in handbook.DOCUMENTS}
    return not Frame.objects.filter(collection=collection).exclude(sha256__in=ours).exists()


def _record(project: Project, by: str) -> Session:
    # the demo needs these ranks immediately, and no other model produces them
    collection = get_or_create_collection(project, handbook.COLLECTION, by=by, embedding_model="wordllama")
    frames = [
        NewFrame(title=title, text=text, uri=f"handbook/{number:02}")
        for number, (title, text) in enumerate(handbook.DOCUMENTS, 1)
    ]
    answering.put(collection, frames, by=by)
    session = start_session(
        project,
        name=handbook.SESSION_NAME,
        key=handbook.SESSION_KEY,
        agent=handbook.AGENT,
        collection=collection,
        tags=[DEMO_TAG],
        by=by,
    )
    _say(session, "user", handbook.QUESTION)
    _ask(project, session, handbook.QUESTION)
    _say(session, "user", handbook.COMPLAINT, significance="error")
    answering.find(collection, Query(text=handbook.FOLLOW_UP, top_k=3), session=session)
    _ask(project, session, handbook.FOLLOW_UP)
    _say(session, "agent", handbook.ROOT_CAUSE, significance="solution")
    return end_session(session.id)


def _say(session: Session, role: str, text: str, significance: str | None = None) -> None:
    draft = ActionDraft(kind="message", layer="agent", role=role, output=text, significance=significance)
    append(session.id, [draft])


def _ask(project: Project, session: Session, question: str) -> None:
    collection = session.collection
    if collection is not None:
        answering.ask(
            project, collection, Query(text=question), use_model=MODEL, session=session, no_cache=True
        )
