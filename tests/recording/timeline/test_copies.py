"""Steps that were copied from an earlier session: where they came from."""

import pytest

from tests.recording.timeline.conftest import Record
from timemachine.recording.sessions.pure.draft import ActionDraft, copy_of
from timemachine.recording.timeline.copies import original_of

pytestmark = pytest.mark.django_db


def test_a_copied_step_leads_to_its_original_by_id_or_sequence(record: Record) -> None:
    parent = record([ActionDraft(kind="event"), ActionDraft(kind="message", id="asked")], key="parent")
    fork = record([ActionDraft(kind="message", copied_from=copy_of("parent", "asked"))])
    for step in ("asked", 2):
        found = original_of(fork, copy_of("parent", step))
        assert found is not None
        assert (found.session, found.sequence) == (parent, 2)


def test_the_original_of_a_copy_is_unknown_without_its_session_or_step(record: Record) -> None:
    fork = record([ActionDraft(kind="event")], key="fork")
    assert original_of(fork, None) is None
    found = [
        original_of(fork, each)
        for each in (copy_of(), copy_of("elsewhere", 1), copy_of("fork", 9), copy_of("fork"))
    ]
    assert [each and (each.key, each.session, each.sequence) for each in found] == [
        (None, None, None),
        ("elsewhere", None, None),
        ("fork", fork, None),
        ("fork", fork, None),
    ]
