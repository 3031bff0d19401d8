"""The scope of a link: only what is inside it is shown, whatever is requested."""

import json

import pytest

from tests.governance.sharing.recorded import FROZEN, NEW_PASSAGE, ask, recorded, replayed
from timemachine.core.accounts.models import Project
from timemachine.core.pure.content import content_of, text_sha256
from timemachine.core.pure.errors import NotFound
from timemachine.governance.sharing.commands.links import create_link
from timemachine.governance.sharing.pure.terms import Terms
from timemachine.governance.sharing.recorded_steps import PAGE
from timemachine.governance.sharing.scope import Scope
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft, RetrievalDraft
from timemachine.replay.runs.models import Replay

NOWHERE = [0, 7, 2**31, 2**63, 2**70]


def scope_of(project: Project, target: Session | Replay, through: int | None = None) -> Scope:
    link, _ = create_link(project, target, Terms(through_sequence=through), by="Test")
    return Scope(link=link)


def text_of(scope: Scope, text: str) -> str:
    """Return the payload of that text as the scope gives it."""
    return scope.payload(text_sha256(text)).data.decode()


def shown(scope: Scope, around: int = 1) -> list[int]:
    return [place.step.sequence for place in scope.rows(around).rows]


def test_a_session_link_shows_its_steps_and_their_totals(project: Project, session: Session) -> None:
    scope = scope_of(project, session)
    assert shown(scope) == [1, 2, 3, 4, 5, 6]
    shared_session = scope.session()
    assert (shared_session.name, shared_session.agent, scope.totals().actions, scope.totals().errors) == (
        session.name,
        "Prüferin",
        6,
        1,
    )


def test_steps_after_the_last_one_of_the_link_are_in_no_row_and_no_total(
    project: Project, session: Session
) -> None:
    scope = scope_of(project, session, through=2)
    assert shown(scope) == [1, 2]
    assert (scope.totals().actions, scope.totals().errors) == (2, 0)


def test_a_step_does_not_reveal_children_outside_the_link(project: Project, session: Session) -> None:
    assert [row.sequence for row in scope_of(project, session).step(2).children] == [3, 6]
    assert [row.sequence for row in scope_of(project, session, through=3).step(2).children] == [3]


def test_a_step_does_not_reveal_a_parent_outside_the_link(project: Project, session: Session) -> None:
    append(
        session.id,
        [ActionDraft(kind="tool_call", name="child", parent="late"), ActionDraft(kind="event", id="late")],
    )
    parent = scope_of(project, session).step(7).parent
    assert parent is not None
    assert parent.sequence == 8
    assert scope_of(project, session, through=7).step(7).parent is None


def test_a_step_includes_its_payloads_and_passages(project: Project, session: Session) -> None:
    step = scope_of(project, session).step(2)
    assert step.output is not None
    assert step.output.text == "1894"
    assert [passage.text.text for passage in step.passages if passage.text] == [FROZEN]


@pytest.mark.parametrize("sequence", [*NOWHERE, 3, 6])
def test_a_step_outside_the_link_is_not_found(project: Project, session: Session, sequence: int) -> None:
    scope = scope_of(project, session, through=2)
    for read in (scope.step, scope.document):
        with pytest.raises(NotFound):
            read(sequence)


def test_the_raw_document_is_the_complete_action(project: Project, session: Session) -> None:
    document = scope_of(project, session).document(3)
    assert document["source"] == {"raw": "Quelle der dritten"}
    json.dumps(document)


def test_payloads_are_shown_if_a_visible_step_refers_to_them(project: Project, session: Session) -> None:
    scope = scope_of(project, session)
    texts = ["1894", FROZEN, "Geheim 6"]
    assert [text_of(scope, each) for each in texts] == texts
    assert scope.payload(content_of({"raw": "Quelle der dritten"}).sha256)


def test_payloads_that_only_later_steps_refer_to_are_not_found(project: Project, session: Session) -> None:
    scope = scope_of(project, session, through=2)
    assert text_of(scope, FROZEN) == FROZEN
    for beyond in (
        text_sha256("Geheim 6"),
        text_sha256("Brücke"),
        content_of({"raw": "Quelle der dritten"}).sha256,
    ):
        with pytest.raises(NotFound):
            scope.payload(beyond)


def test_payloads_of_another_session_are_not_found(
    project: Project, other_project: Project, session: Session
) -> None:
    recorded(project, steps=9)
    recorded(other_project, steps=8)
    scope = scope_of(project, session)
    for elsewhere in ("Geheim 9", "Geheim 8", "Schritt 7"):
        with pytest.raises(NotFound):
            scope.payload(text_sha256(elsewhere))
    for not_a_hash in ("", "x", "\u0130", "'"):
        with pytest.raises(NotFound):
            scope.payload(not_a_hash)


def test_a_session_link_never_shows_a_replay(project: Project, session: Session, replay: Replay) -> None:
    scope = scope_of(project, session)
    for read in (scope.replay, scope.replay_steps, lambda: scope.replay_step(2)):
        with pytest.raises(NotFound):
            read()
    for new in ("1901", NEW_PASSAGE):
        with pytest.raises(NotFound):
            scope.payload(text_sha256(new))


def test_a_replay_link_shows_the_replay_and_the_replayed_step(
    project: Project, session: Session, replay: Replay
) -> None:
    scope = scope_of(project, replay)
    assert scope.replay().id == replay.id
    assert [step.sequence for step in scope.replay_steps()] == [2]
    assert scope.replay_step(2).verdict == "numbers differ"
    assert scope.step(2).action.kind == "ask"
    assert scope.step(3).action.kind == "find"  # inside the ask: its passages
    assert [row.sequence for row in scope.step(2).children] == [3]
    for either in ("1894", "1901", FROZEN, NEW_PASSAGE):
        assert text_of(scope, either) == either


def test_a_replay_link_shows_no_other_step_of_the_session(
    project: Project, session: Session, replay: Replay
) -> None:
    scope = scope_of(project, replay)
    with pytest.raises(NotFound):
        scope.rows(1)
    for sequence in (1, 4, 6, *NOWHERE):
        for read in (scope.step, scope.document, scope.replay_step):
            with pytest.raises(NotFound):
                read(sequence)
    assert scope.totals().actions == 2
    with pytest.raises(NotFound):
        scope.payload(text_sha256("Geheim 6"))


def test_a_replay_link_shows_no_other_replay(project: Project, session: Session, replay: Replay) -> None:
    other = replayed(recorded(project, name="Andere"))
    scope = scope_of(project, replay)
    assert scope.replay().id == replay.id
    own = set(replay.steps.values_list("id", flat=True))
    assert own.isdisjoint(other.steps.values_list("id", flat=True))
    assert {step.id for step in scope.replay_steps()} == own


@pytest.mark.parametrize(
    ("around", "first", "last", "earlier", "later"),
    [
        (1, 1, PAGE, None, PAGE + 1),
        (PAGE, 1, PAGE, None, PAGE + 1),
        (PAGE + 1, PAGE + 1, 2 * PAGE, PAGE, 2 * PAGE + 1),
        (2 * PAGE + 3, 2 * PAGE + 1, 2 * PAGE + 5, 2 * PAGE, None),
        (-1, 1, PAGE, None, PAGE + 1),
        (2**70, 2 * PAGE + 1, 2 * PAGE + 5, 2 * PAGE, None),
    ],
)
def test_a_long_session_is_paged(
    project: Project, around: int, first: int, last: int, earlier: int | None, later: int | None
) -> None:
    scope = scope_of(project, recorded(project, steps=2 * PAGE + 20), through=2 * PAGE + 5)
    found = scope.rows(around)
    assert [place.step.sequence for place in found.rows] == list(range(first, last + 1))
    assert (found.earlier, found.later) == (earlier, later)


def test_a_step_whose_parent_is_on_the_previous_page_is_still_nested(project: Project) -> None:
    session = recorded(project, steps=PAGE - 1)
    append(
        session.id,
        [
            ActionDraft(kind="ask", id="across"),
            *(ActionDraft(kind="find", parent="across") for _ in range(3)),
        ],
    )
    places = scope_of(project, session).rows(PAGE + 1).rows
    assert [(place.step.sequence, place.depth) for place in places] == [
        (PAGE + 1, 1),
        (PAGE + 2, 1),
        (PAGE + 3, 1),
    ]


def test_paging_ends_where_the_link_ends(project: Project, session: Session, replay: Replay) -> None:
    scope = scope_of(project, session, through=3)
    assert [scope.neighbours(at) for at in (1, 2, 3)] == [
        {"previous": None, "next": 2},
        {"previous": 1, "next": 3},
        {"previous": 2, "next": None},
    ]
    assert scope_of(project, replay).neighbours(2) == {"previous": None, "next": None}


def test_the_passages_of_an_ask_are_its_own_or_those_of_the_finds_inside_it(project: Project) -> None:
    session = start_session(project, name="Innen", by="Test")
    found = RetrievalDraft(hits=(HitDraft(rank=1, text=FROZEN),))
    append(
        session.id,
        [
            ActionDraft(kind="ask", id="a", input="?"),
            ActionDraft(kind="find", parent="a", input="?", retrieval=found),
            ActionDraft(kind="find", parent="a", input="!", retrieval=found),
            ask("?", "!"),
            ActionDraft(kind="ask", input="?"),
        ],
    )
    session.refresh_from_db()
    scope = scope_of(project, session)
    held = [[step.action.sequence for step in scope.context_steps([at])[at]] for at in (1, 2, 4, 5)]
    assert held == [[2, 3], [2], [4], [5]]


def refused_everywhere(scope: Scope) -> None:
    """Assert that every read of recorded data raises the same `NotFound`."""
    for read in (
        lambda: scope.rows(1),
        scope.first_step,
        lambda: scope.step(2),
        lambda: scope.document(2),
        lambda: scope.context_steps([2]),
        scope.replay_steps,
        lambda: scope.replay_step(2),
        lambda: scope.payload(text_sha256(FROZEN)),
        lambda: scope.payload(text_sha256("1901")),
    ):
        with pytest.raises(NotFound):
            read()


def test_an_evidence_only_link_shows_metadata_but_no_recorded_content(
    project: Project, session: Session, replay: Replay
) -> None:
    for target, actions in ((session, 6), (replay, 2)):
        link, _ = create_link(project, target, Terms(evidence_only=True), by="Test")
        scope = Scope(link=link)
        assert (scope.session().name, scope.totals().actions) == (session.name, actions)
        refused_everywhere(scope)
