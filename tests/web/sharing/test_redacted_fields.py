"""The column "a redacted field" of the matrix: whatever is withheld is in no byte of any route, and an address that would give its text is the same 404."""

from typing import Any

import pytest

from tests.builders import compared, recorded_session
from tests.governance.sharing.recorded import ask, replayed
from tests.verifier.bundles import unpacked
from tests.web.sharing.share_worlds import ONE, THREE, World, cells_of, hashes, written
from tests.web.sharing.test_scope import is_the_same_404
from tests.web.visitors import opened, shared
from timemachine.core.accounts.models import Project
from timemachine.governance.sharing.pure.terms import Terms
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.runs.models import Replay
from timemachine.text.redaction.commands import make_profile
from timemachine.text.redaction.pure.rules import read_rules
from timemachine.text.redaction.queries import profile_of

pytestmark = pytest.mark.django_db
CANARY = b"kanari"
QUESTION, ANSWER = "Heißt der Vogel Kanari-4711?", "Der Vogel heißt Kanari-4711."
RULES = {
    "patterns": [{"name": "bird", "pattern": "kanari(-[0-9]+)?", "ignore_case": True}],
    "fields": ["input"],
}


def veiled(project: Project, target: Session | Replay | Comparison, session: Session, inside: Any) -> World:
    """A link under a profile that withholds the questions, and the bird wherever it stands."""
    make_profile(project, name="No birds", rules=read_rules(RULES), by="test")
    link, path = shared(project, target, Terms(redaction=profile_of(project, "No birds")))
    return World(
        visitor=opened(path)[0],
        link=link,
        path=path,
        sessions=(session,),
        inside=inside,
        outside={"what is withheld": {"shared_payload": hashes(QUESTION, ANSWER)}},
    )


def of_canaries(project: Project) -> Session:
    """A session that asks for the bird, and finds it."""
    return recorded_session(
        project,
        questions=(QUESTION,),
        facts=(("Vogel", ANSWER), ("Garten", "Die Beete werden umgegraben. Im Beet sitzt ein Vogel.")),
    )


def a_session(project: Project) -> World:
    session = of_canaries(project)
    steps = [str(each) for each in range(1, session.last_sequence + 1)]
    return veiled(project, session, session, {"shared": ["", *steps], "shared_evidence": [""]})


def a_replay(project: Project) -> World:
    session = start_session(project, name="of birds", by="test")
    append(session.id, [ask("Was?", "nichts"), ask(QUESTION, ANSWER)])
    session.refresh_from_db()
    inside = {"shared": [""], "shared_step": ["2"], "shared_evidence": [""]}
    return veiled(project, replayed(session), session, inside)


def a_comparison(project: Project) -> World:
    session = of_canaries(project)
    made = compared(project, [session], ONE, THREE)
    inside = {
        "shared": ["", "?show=changed&against=1"],
        "shared_cell": cells_of(made),
        "shared_evidence": [""],
    }
    return veiled(project, made, session, inside)


VEILED = [a_session, a_replay, a_comparison]


@pytest.fixture(scope="module")
def worlds_once(shared_rows: None) -> list[World]:
    return [make(Project.objects.create(name=make.__name__)) for make in VEILED]


def test_what_is_withheld_is_on_no_route(worlds_once: list[World]) -> None:
    for world in worlds_once:
        for address in world.addresses(world.inside):
            answer = world.visitor.get(address)
            assert answer.status_code == 200, address
            told = bytes(repr(answer.headers), "utf-8")
            told += b"".join(unpacked(answer.getvalue()).values()) if answer.streaming else answer.content
            assert CANARY not in told.lower(), address
        for address in world.addresses(world.outside["what is withheld"]):
            assert is_the_same_404(world.visitor.get(address)), address


def test_every_route_has_its_veiled_case(worlds_once: list[World]) -> None:
    shown = {
        route
        for world in worlds_once
        for things in (world.inside, *world.outside.values())
        for route in things
    }
    assert shown == set(written("x"))
