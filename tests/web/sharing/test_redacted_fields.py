"""The column "a redacted field" of the matrix: withheld text is on no route, and its addresses give the same 404."""

from typing import Any

import pytest

from tests.builders import compared, recorded_session
from tests.governance.sharing.recorded import ask, replayed
from tests.verifier.bundles import unpacked
from tests.web.sharing.share_worlds import ONE, PAPERS, THREE, ShareCase, address_formats, cells_of, hashes
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


def redacted_case(
    project: Project, target: Session | Replay | Comparison, session: Session, inside: Any
) -> ShareCase:
    """Create a link with a profile that withholds the questions, and the bird everywhere."""
    make_profile(project, name="No birds", rules=read_rules(RULES), by="test")
    link, path = shared(project, target, Terms(redaction=profile_of(project, "No birds")))
    return ShareCase(
        visitor=opened(path)[0],
        link=link,
        path=path,
        sessions=(session,),
        inside=inside,
        outside={
            "what is withheld": {
                "shared_payload": hashes(QUESTION, ANSWER),
                "shared_image": hashes(QUESTION, ANSWER),
            }
        },
    )


def of_canaries(project: Project) -> Session:
    """Record a session that asks for the bird and finds it."""
    return recorded_session(
        project,
        questions=(QUESTION,),
        facts=(("Vogel", ANSWER), ("Garten", "Die Beete werden umgegraben. Im Beet sitzt ein Vogel.")),
    )


def a_session(project: Project) -> ShareCase:
    session = of_canaries(project)
    steps = [str(each) for each in range(1, session.last_sequence + 1)]
    return redacted_case(
        project,
        session,
        session,
        {"shared": ["", *steps, "?step=2&tab=state"], "shared_evidence": [""], **PAPERS},
    )


def a_replay(project: Project) -> ShareCase:
    session = start_session(project, name="of birds", by="test")
    append(session.id, [ask("Was?", "nichts"), ask(QUESTION, ANSWER)])
    session.refresh_from_db()
    inside = {"shared": [""], "shared_step": ["2"], "shared_evidence": [""], **PAPERS}
    return redacted_case(project, replayed(session), session, inside)


def a_comparison(project: Project) -> ShareCase:
    session = of_canaries(project)
    made = compared(project, [session], ONE, THREE)
    inside = {
        "shared": ["", "?show=changed&against=1"],
        "shared_cell": cells_of(made),
        "shared_evidence": [""],
        **PAPERS,
    }
    return redacted_case(project, made, session, inside)


REDACTED_CASES = [a_session, a_replay, a_comparison]


@pytest.fixture(scope="module")
def cases_once(shared_rows: None) -> list[ShareCase]:
    return [make(Project.objects.create(name=make.__name__)) for make in REDACTED_CASES]


def test_withheld_text_is_on_no_route(cases_once: list[ShareCase]) -> None:
    for share_case in cases_once:
        for address in share_case.addresses(share_case.inside):
            answer = share_case.visitor.get(address)
            assert answer.status_code == 200, address
            received = bytes(repr(answer.headers), "utf-8")
            content = answer.getvalue() if answer.streaming else answer.content
            received += b"".join(unpacked(content).values()) if content.startswith(b"PK") else content
            assert CANARY not in received.lower(), address
        for address in share_case.addresses(share_case.outside["what is withheld"]):
            assert is_the_same_404(share_case.visitor.get(address)), address


def test_every_route_has_a_redacted_case(cases_once: list[ShareCase]) -> None:
    shown = {
        route
        for share_case in cases_once
        for things in (share_case.inside, *share_case.outside.values())
        for route in things
    }
    assert shown == set(address_formats("x"))
