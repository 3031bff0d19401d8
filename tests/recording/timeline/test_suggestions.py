"""Filter suggestions: values that occur in the session, with their number of steps."""

import pytest
from pytest_django import DjangoAssertNumQueries

from tests.recording.timeline.conftest import Record
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.timeline import suggestions as module
from timemachine.recording.timeline.suggestions import MOST, suggestions

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(record: Record) -> Session:
    calls = [
        ActionDraft(kind="tool_call", tool=tool, agent="coder") for tool in ("Bash", "Bash", "two words")
    ]
    more = [
        ActionDraft(kind="llm_call", model="acme:m", tags=("noise", "slow"), error_type="E"),
        ActionDraft(kind="event", name="started", tags=("noise",)),
    ]
    return record([*calls, *more], agent="planner")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("to", [("tool:", None), ("took:", None), ("tokens:", None)]),
        ("tool:", [("Bash", 2), ("two words", 1)]),
        ("tool:WO", [("two words", 1)]),
        ("tool:Bash,tw", [("two words", 1)]),
        ("model:", [("acme:m", 1)]),
        ("agent:", [("coder", 3), ("planner", 2)]),
        ("kind:", [("tool_call", 3), ("event", 1), ("llm_call", 1)]),
        ("-kind:tool", [("tool_call", 3)]),
        ("status:", [("ok", 4), ("error", 1)]),
        ("tag:", [("noise", 2), ("slow", 1)]),
        ("name:STA", [("started", 1)]),
        ("role:us", [("user", None)]),
        ("took:", []),
        ("nonsense:", []),
        ("text:x", []),
        ("tool:%", []),
    ],
)
def test_fields_and_then_values_are_suggested(
    session: Session, text: str, expected: list[tuple[str, int | None]]
) -> None:
    assert [(each.words, each.number) for each in suggestions(session, text, len(text))] == expected


def test_a_suggestion_has_the_resulting_filter(session: Session) -> None:
    (one,) = suggestions(session, "kind:event tool:tw", 18)
    assert (one.filter, one.at) == ('kind:event tool:"two words" ', 28)


def test_before_anything_is_typed_it_is_suggested_how_to_search_a_phrase_and_how_to_leave_something_out(
    session: Session,
) -> None:
    phrase, minus, *_ = suggestions(session, "kind:event ", 11)
    assert (phrase.words, phrase.filter, phrase.at) == ('""', 'kind:event ""', 12)
    assert (minus.words, minus.filter, minus.at) == ("-", "kind:event -", 12)
    assert "-" not in [each.words for each in suggestions(session, "-", 1)]
    assert suggestions(session, "timeout", 0)[0].words == "kind:"


def test_suggestions_are_few_and_take_at_most_one_query(
    record: Record, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    session = record([ActionDraft(kind="tool_call", tool=f"tool {n}", tags=(f"tag {n}",)) for n in range(40)])
    for text in ("", "kind:", "tool:", "agent:", "tag:", "name:", "status:", "role:", "cost:"):
        with django_assert_max_num_queries(1):
            assert len(suggestions(session, text, len(text))) <= MOST + 2


def test_the_tags_suggested_in_a_long_session_are_from_its_latest_steps(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LATEST", 1)
    (one,) = suggestions(session, "tag:", 4)
    assert (one.words, one.number, one.of_latest) == ("noise", 1, 1)
    assert suggestions(session, "tool:", 5)[0].of_latest is None
