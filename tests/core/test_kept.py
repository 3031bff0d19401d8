"""In-memory caches of recorded texts."""

import sys
from collections.abc import Callable
from typing import Any

import pytest

from timemachine.core.accounts.models import Project
from timemachine.core.pure.text_caches import clear_text_caches
from timemachine.evidence.sealing.session_deletion import erase_session
from timemachine.governance.deletion.erasure.commands import delete_turn
from timemachine.knowledge.pure.identifiers import identifiers
from timemachine.recording.sessions.commands import append, end_session, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.text.pure.language.identifiers import chunk_key, identifier_spans
from timemachine.text.pure.language.words import folded, stem

TEXT = "ticket-4711/zebulon.py:42"


def text_caches() -> list[Any]:
    """Return every cached function that stores results for a text."""
    rooms = (
        "timemachine.text.pure.language",
        "timemachine.knowledge.pure.identifiers",
        "timemachine.text.pure.grounding",
    )
    modules = [module for name, module in list(sys.modules.items()) if name.startswith(rooms)]
    found = {
        id(each): each for module in modules for each in vars(module).values() if hasattr(each, "cache_info")
    }
    return list(found.values())


def test_all_text_caches_are_cleared_together() -> None:
    list(identifier_spans(TEXT))
    identifiers(TEXT)
    chunk_key(TEXT)
    stem(folded("Zebulon"))
    assert sum(each.cache_info().currsize for each in text_caches()) > 4
    clear_text_caches()
    assert [each for each in text_caches() if each.cache_info().currsize] == []


def test_long_texts_are_not_cached() -> None:
    clear_text_caches()
    identifiers(f"see secrets/{'x' * 60}/{'y' * 60}/report-2026.txt")
    entries = sum(each.cache_info().currsize for each in text_caches() if "retrieval" in each.__module__)
    assert entries <= 1  # the word before it


@pytest.fixture
def session(project: Project) -> Session:
    begun = start_session(project, name="n", by="test", key="kept")
    append(begun.id, [ActionDraft(kind="message", role="user", output=TEXT) for _ in range(2)])
    return end_session(begun.id)


@pytest.mark.parametrize(
    "erase",
    [
        lambda session: delete_turn(session.actions.get(sequence=1), reason="asked for", by="ada"),
        lambda session: erase_session(session, by="ada"),
    ],
    ids=["a turn", "a session"],
)
@pytest.mark.django_db
def test_an_erasure_clears_the_caches(session: Session, erase: Callable[[Session], Any]) -> None:
    identifiers("zebulon-9999.py:17")
    known = next(each for each in text_caches() if each.__name__ == "_forms")
    assert known.cache_info().currsize > 0
    erase(session)
    assert known.cache_info().currsize == 0
