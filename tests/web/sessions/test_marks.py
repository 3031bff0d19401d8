"""Marks for withheld or erased text: a mark is one unit that is never cut, compared in part or shown unstyled."""

import re
from typing import Any

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import QUESTIONS, compared, recorded_session, replayed
from tests.web.people import browser_of
from tests.web.visitors import opened, shared
from timemachine.core.accounts.models import ADMIN, Project
from timemachine.governance.deletion.erasure import commands as erasing
from timemachine.governance.sharing.preview import preview_of
from timemachine.governance.sharing.pure.terms import Terms
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft, RetrievalDraft
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.text.pure.difference.text import text_diff
from timemachine.text.redaction.commands import make_profile
from timemachine.text.redaction.pure.marks import after_mark
from timemachine.text.redaction.pure.profile import BUILT_IN
from timemachine.text.redaction.pure.rules import read_rules
from timemachine.text.redaction.queries import as_profile
from timemachine.web.redaction_marks import hatched
from timemachine.web.sessions.presenters.sentences import sentences
from timemachine.web.sessions.presenters.supporting_passages import Source, evidence

MARK = "[erased: field]"
BARE = re.compile(r"\[(?:withheld|erased): ")
AUDIT = ReplayOptions(audit=True, reason="a test", use_model="local:extractive-3")


@pytest.mark.parametrize(
    ("text", "place", "moved"),
    [
        (f"a {MARK} b", 2, 2),
        (f"a {MARK} b", 3, 17),
        (f"a {MARK} b", 16, 17),
        (f"a {MARK} b", 17, 17),
        (f"a {MARK} b", 18, 18),
        ("a [b] c", 4, 4),
        ("plain", 3, 3),
        ("[erased: never closed", 4, 4),
    ],
)
def test_a_position_inside_a_mark_moves_to_its_end(text: str, place: int, moved: int) -> None:
    assert after_mark(text, place) == moved


def words_of(side: str) -> list[tuple[str, str]]:
    other = "The bridge was built in 1894. It is [erased: repeated text] today."
    rows = text_diff(f"The bridge was built in 1894. It is {MARK} today.", other).rows
    return [(span.mark, span.text) for row in rows for span in getattr(row, side)]


def test_a_mark_replaces_another_as_one_unit() -> None:
    assert ("removed", MARK) in words_of("left")
    assert ("added", "[erased: repeated text]") in words_of("right")


PIECES = st.lists(
    st.sampled_from([MARK, "[withheld: e-mail]", "a word", " ", "Another sentence. "]), max_size=9
)


@given(PIECES, PIECES)
def test_no_edit_cuts_a_mark(old: list[str], new: list[str]) -> None:
    diff = text_diff("".join(old), "".join(new))
    for side, text in (("left", "".join(old)), ("right", "".join(new))):
        spans = [span.text for row in diff.rows for span in getattr(row, side)]
        assert "".join(spans) == text
        assert sum(len(BARE.findall(each)) for each in spans) == len(BARE.findall(text))
        assert all(each.count("]") == len(BARE.findall(each)) for each in spans)


def test_a_sentence_and_its_evidence_never_end_inside_a_mark() -> None:
    answer = f"It is {MARK} today. Really."
    grounding: dict[str, Any] = {"sentences": [{"start": 0, "end": 12, "grounded": True, "frame": 1}]}
    grounding["sentences"][0] |= {"passage_start": 9, "passage_end": 14}
    found = sentences(answer, grounding)
    assert [each.text for each in found] == [f"It is {MARK}", " today. Really."]
    (rests,) = evidence(found, [Source(frame=1, text=f"Built {MARK} here.")])
    assert all(piece.text.count("[") == piece.text.count("]") for piece in rests.pieces)


def test_a_mark_truncated_in_a_list_is_a_block_as_well() -> None:
    assert hatched("what of [erased: repea…") == (
        'what of <span class="redacted"><span>erased: repea…</span></span>'
    )


@pytest.fixture
def erased(project: Project) -> Session:
    """A session with a replay and a comparison, in which the question and answer of an ask were erased."""
    session = recorded_session(project, questions=QUESTIONS[:1])
    replayed(session, AUDIT)
    compared(project, [session], "local:extractive-1", "local:extractive-3")
    found = erasing.prepare(session, by="ada", fields=["input", "output"], steps=[2])
    erasing.work(found.id)
    found.refresh_from_db()
    erasing.confirm(found, reason="asked for", by="ada")
    erasing.work(found.id)
    return session


def test_after_an_erasure_every_page_has_blocks_for_its_marks(project: Project, erased: Session) -> None:
    browser = browser_of(project, ADMIN)
    replay = erased.replays.exclude(run__isnull=False).get()
    run = erased.replays.filter(run__isnull=False).first()
    assert run is not None
    comparison = run.run.comparison_id
    cell = run.steps.get(sequence=2)
    for address in (
        f"/sessions/{erased.id}/?step=5",
        f"/sessions/{erased.id}/?step=2",
        f"/replays/{replay.id}/steps/2/",
        f"/comparisons/{comparison}/",
        f"/comparisons/{comparison}/cells/{cell.id}/",
    ):
        page = browser.get(address)
        assert page.status_code == 200, address
        main = page.text[page.text.index("<main") :]
        shown = re.sub(r'(?:title|value|aria-label|data-[a-z]+)="[^"]*"', "", main)
        assert not BARE.search(shown), (address, BARE.search(shown))
        assert 'class="redacted"' in main, address


def test_a_visitor_sees_that_the_matched_words_of_a_passage_are_withheld(project: Project) -> None:
    session = start_session(project, name="found", by="test")
    hit = HitDraft(rank=1, title="t", text="write to jo@example.org", matched={"terms": {"write": 1.0}})
    append(session.id, [ActionDraft(kind="find", input="q", retrieval=RetrievalDraft(hits=(hit,)))])
    profile = as_profile(make_profile(project, "Quiet", read_rules({"detect": ["email"]}), by="test"))
    visitor, address = opened(shared(project, session, Terms(redaction=profile))[1])
    page = " ".join(visitor.get(f"{address}?step=1&tab=context").text.split())
    assert (
        '<span class="quiet">matched</span> <span class="redacted"><span>withheld: repeats what is withheld</span></span>'
        in page
    )


def test_marks_are_blocks_in_every_field_of_a_step_and_plain_words_in_the_title(project: Project) -> None:
    session = start_session(project, name="Call of jo@example.org", by="test")
    named = {"user": "jo@example.org", "password": "hunter2-hunter2"}
    append(session.id, [ActionDraft(kind="llm_call", agent="jo@example.org", input="q", parameters=named)])
    visitor, address = opened(shared(project, session, Terms(redaction=BUILT_IN))[1])
    page = visitor.get(address).text
    assert "Call of (e-mail withheld)" in page.split("</title>")[0]
    assert page.count("<span>withheld: e-mail</span>") >= 3
    assert not BARE.search(page)


def test_erased_text_is_neither_called_withheld_nor_counted_as_such(project: Project) -> None:
    session = start_session(project, name="plain", by="test")
    secrets = {"api_key": "hunter2-hunter2", "password": "Kieler Sprotte", "token": 48151623}
    append(session.id, [ActionDraft(kind="tool_call", name="sign in", input=secrets)])
    found = erasing.prepare(session, by="ada", profile=BUILT_IN)
    erasing.work(found.id)
    found.refresh_from_db()
    erasing.confirm(found, reason="asked for", by="ada")
    erasing.work(found.id)
    session.refresh_from_db()
    link, path = shared(project, session, Terms(redaction=BUILT_IN))
    visitor, address = opened(path)
    page = visitor.get(address).text
    assert page.count("[erased: secret]") + page.count("<span>erased: secret</span>") >= 3
    assert "withheld: secret" not in page
    assert preview_of(link).tally == {}


def test_a_text_that_only_looks_like_a_mark_is_shown_as_text(project: Project, operator: Client) -> None:
    session = start_session(project, name="plain", by="test")
    append(session.id, [ActionDraft(kind="message", output=f"I say {MARK}")])
    assert f"I say {MARK}" in operator.get(f"/sessions/{session.id}/?step=1").text
