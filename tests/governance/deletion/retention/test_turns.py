"""Deleting a turn: its content is removed everywhere, its position stays, and sealed records stay verifiable."""

import io
import json
import re
from pathlib import Path

import pytest

from tests.builders import QUESTIONS, recorded_session, replayed
from tests.governance.deletion.erasure.canary import (
    CANARY,
    SENTENCE,
    checked,
    everywhere,
    full_action,
    sealed,
)
from tests.recording.importing.exports.test_partial_exports import whole_actions
from tests.web.visitors import opened
from timemachine.core.accounts.models import Project
from timemachine.core.payloads.queries import value
from timemachine.core.pure.clock import written
from timemachine.core.pure.errors import Conflict, InvalidInput
from timemachine.evidence.bundles import exporting
from timemachine.evidence.models import LogEntry
from timemachine.governance.deletion.erasure import commands as erasing
from timemachine.governance.sharing.commands.links import create_link
from timemachine.memory.search.indexing import index_new_steps
from timemachine.memory.search.queries import sessions_with_words
from timemachine.memory.search.recall.queries import recall
from timemachine.memory.search.recall.questions import RecallOptions
from timemachine.memory.transcripts.options import turn_filter
from timemachine.memory.transcripts.rendering import as_json, as_messages, as_text
from timemachine.memory.transcripts.transcript import transcript_of
from timemachine.recording.annotations.significance.commands import change
from timemachine.recording.annotations.significance.models import Declined
from timemachine.recording.annotations.significance.queries import in_force
from timemachine.recording.importing.exporting import EXPORTS, export_session
from timemachine.recording.sessions.commands import append, end_session, start_session
from timemachine.recording.sessions.deletions import deletions_of
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.verifier import tm_verify

pytestmark = pytest.mark.django_db
REASON = "the person asked for it"


@pytest.fixture
def session(project: Project) -> Session:
    begun = start_session(project, name="n", by="test", key="s1")
    plain = [
        ActionDraft(kind="message", id=f"m{n}", role="user", output=f"plain words {n}") for n in range(2)
    ]
    append(begun.id, [plain[0], full_action(0), plain[1]])
    ended = end_session(begun.id)
    index_new_steps(project.id)
    return ended


def test_its_content_is_in_no_table(session: Session) -> None:
    sealed(session)
    done = erasing.delete_turn(session.actions.get(sequence=2), reason=REASON, by="Oskar")
    assert (done.status, done.turn, done.result and done.result["steps"]) == ("done", True, 1)
    left = everywhere()
    assert set(left) <= {
        "tm_action",
        "tm_sealed_record",
        "tm_usage",
        "tm_latency",
        "tm_first_use",
        "tm_searched_action",
    }
    assert everywhere(SENTENCE) == {}


def test_its_position_stays_and_the_project_knows_who_deleted_it_when_and_why(session: Session) -> None:
    erasing.delete_turn(session.actions.get(sequence=2), reason=REASON, by="Oskar")
    assert list(session.actions.order_by("sequence").values_list("sequence", flat=True)) == [1, 2, 3]
    deletions = deletions_of(session, [1, 2, 3])
    assert [(at, each.by, each.reason) for at, each in deletions.items()] == [(2, "Oskar", REASON)]
    label = session.actions.get(sequence=2).label
    assert re.fullmatch(r"\[deleted: turn\] 20\d\d-\d\d-\d\d \d\d:\d\d UTC", label)
    with pytest.raises(Conflict, match="already been deleted"):
        erasing.delete_turn(session.actions.get(sequence=2), reason=REASON, by="Oskar")


def test_other_turns_keep_content_they_share_with_it(project: Project) -> None:
    begun = start_session(project, name="n", by="test", key="shared")
    tags, tool = ("customer:northwind-traders",), "search_knowledge_base"
    conversation = [{"role": "user", "content": "Where is the parcel of Mrs Lindqvist?"}]
    append(
        begun.id,
        [
            ActionDraft(kind="message", role="user", output="Yes.", tags=tags),
            ActionDraft(kind="message", role="user", output="Yes.", tags=tags),
            ActionDraft(kind="tool_call", tool=tool, input={"query": "parcel Lindqvist"}, tags=tags),
            ActionDraft(kind="tool_call", tool=tool, input={"query": "the opening hours"}, tags=tags),
            ActionDraft(
                kind="llm_call", model="acme:m", input=conversation, output="It is at the post office."
            ),
            ActionDraft(kind="llm_call", model="acme:m", input=conversation, output="It will come tomorrow."),
        ],
    )
    session = end_session(begun.id)
    for sequence in (1, 3, 5):
        done = erasing.delete_turn(session.actions.get(sequence=sequence), reason=REASON, by="Oskar")
        assert done.result is not None
        assert done.result["steps"] == 1, sequence
    left = {row.sequence: row for row in session.actions.select_related("input", "output")}
    assert (left[2].tags, value(left[2].output)) == (list(tags), "Yes.")
    assert (left[4].tool, value(left[4].input), left[4].tags) == (
        tool,
        {"query": "the opening hours"},
        list(tags),
    )
    assert (value(left[6].input), value(left[6].output)) == (conversation, "It will come tomorrow.")
    assert (left[3].tool, left[1].tags) != (tool, list(tags))


def test_its_content_is_removed_from_the_prompts_of_other_turns(project: Project) -> None:
    begun = start_session(project, name="n", by="test", key="told")
    card_text = "My card has the number of the spring."
    append(
        begun.id,
        [
            ActionDraft(kind="message", role="user", output=card_text),
            ActionDraft(
                kind="llm_call",
                model="acme:m",
                input=[{"role": "user", "content": card_text}],
                output="Noted.",
            ),
        ],
    )
    session = end_session(begun.id)
    done = erasing.delete_turn(session.actions.get(sequence=1), reason=REASON, by="Oskar")
    assert (done.result or {})["steps"] == 2
    assert everywhere(card_text) == {}


def test_the_same_turn_sent_again_is_recognised_and_not_recorded_again(session: Session) -> None:
    erasing.delete_turn(session.actions.get(sequence=1), reason=REASON, by="Oskar")
    duplicate = ActionDraft(kind="message", id="m0", role="user", output="plain words 0")
    assert append(session.id, [duplicate]) == [1]
    assert session.actions.count() == 3
    assert everywhere("plain words 0") == {}


def test_transcript_and_search_agree(project: Project, session: Session) -> None:
    erasing.delete_turn(session.actions.get(sequence=1), reason=REASON, by="Oskar")
    index_new_steps(project.id)
    text = "".join(as_text(transcript_of(session, turn_filter())))
    assert "plain words 0" not in text
    assert "plain words 1" in text
    assert "3 of 3 turns" in text
    assert re.search(r"\[1\] user: \[deleted 20\d\d-\d\d-\d\d \d\d:\d\d UTC\]", text)
    assert "Oskar" not in text
    assert list(sessions_with_words(project, '"plain words 0"')) == []
    assert list(sessions_with_words(project, '"plain words 1"')) == [session.id]


def test_transcripts_and_exports_state_when_a_turn_was_deleted_and_prompts_do_not_say_by_whom(
    session: Session,
) -> None:
    erasing.delete_turn(session.actions.get(sequence=2), reason=REASON, by="Oskar")
    at = written(deletions_of(session, [2])[2].at)
    found = transcript_of(session, turn_filter())
    document = json.loads("".join(as_json(found)))
    assert [each.get("deleted") for each in document["items"]] == [
        None,
        {"at": at, "by": "Oskar", "reason": REASON},
        None,
    ]
    messages = json.loads("".join(as_messages(found)))["messages"]
    assert [each["role"] for each in messages] == ["user", "user", "user"]
    assert ["[deleted 20" in each["content"] for each in messages] == [False, True, False]
    assert "Oskar" not in str(messages)
    for name in EXPORTS:
        file = b"".join(export_session(session, name).parts)
        actions = whole_actions(file, name)
        assert [each.get("deleted", {}).get("at") for each in actions] == [None, at, None], name


def test_its_later_significance_is_deleted_with_it(project: Project, session: Session) -> None:
    change(session, 1, significance="breakthrough", by="Oskar")
    step = session.actions.get(sequence=1)
    Declined.objects.create(action=step, session=session, rule="decision", by="Oskar")
    erasing.delete_turn(step, reason=REASON, by="Oskar")
    assert in_force(session, [1]) == {}
    assert not Declined.objects.exists()


def test_a_deleted_turn_is_not_selected_by_its_recorded_significance(project: Project) -> None:
    begun = start_session(project, name="n", by="test", key="weighed")
    drafts = [
        ActionDraft(kind="message", role="agent", output=f"words {n}", significance=given)
        for n, given in enumerate(("breakthrough", "decision"))
    ]
    append(begun.id, drafts)
    session = end_session(begun.id)
    filters = [turn_filter(significance="breakthrough,decision"), turn_filter(budget=1_000)]
    options = RecallOptions(queries=("yesterday or today",))
    assert [transcript_of(session, each).sequences for each in filters] == [[1, 2], [1, 2]]
    assert recalled(project, options) == [1, 2]
    erasing.delete_turn(session.actions.get(sequence=1), reason=REASON, by="Oskar")
    assert [transcript_of(session, each).sequences for each in filters] == [[2], [2]]
    assert recalled(project, options) == [2]


def recalled(project: Project, options: RecallOptions) -> list[int]:
    return [each.hit.action.sequence for each in recall(project, options).answers[0].results]


def test_a_share_link_shows_that_and_when_a_turn_was_deleted_but_not_by_whom_or_why(session: Session) -> None:
    erasing.delete_turn(session.actions.get(sequence=2), reason=REASON, by="ada@example.org")
    _, token = create_link(session.project, session, by="eve@example.org")
    visitor, page = opened(f"/share/{token}")
    for parameters in ({}, {"step": "2"}):
        shown = visitor.get(page, parameters).content.decode()
        assert "deleted: turn" in shown
        assert "ada@" not in shown
        assert REASON not in shown


def test_the_verifier_verifies_the_bundle_and_names_the_turn(session: Session, tmp_path: Path) -> None:
    sealed(session)
    erasing.delete_turn(session.actions.get(sequence=2), reason=REASON, by="Oskar")
    assert [each.problems for each in checked(session)] == [[]]
    written = io.BytesIO()
    exporting.write_session(written, session)
    bundle = tmp_path / "evidence.zip"
    bundle.write_bytes(written.getvalue())
    report = tm_verify.verify(str(bundle))
    report_text = "\n".join(tm_verify.report_lines(report))
    assert report.problems == []
    assert "turn 2 deleted completely (" in report_text
    assert f"by Oskar, because: {REASON}" in report_text


def test_a_deleted_ask_is_not_replayed(project: Project) -> None:
    session = recorded_session(project, questions=QUESTIONS[:1])
    ask = session.actions.filter(kind="ask").order_by("sequence").first()
    assert ask is not None
    erasing.delete_turn(ask, reason=REASON, by="Oskar")
    done = replayed(session, ReplayOptions(audit=True, reason="a look", use_model="local:extractive-1"))
    step = done.steps.filter(sequence=ask.sequence).first()
    assert step is None or step.status == "skipped"


def test_deleting_a_turn_requires_a_reason(session: Session) -> None:
    for reason in ("", "  ", "write to zoe@example.org", SENTENCE):
        with pytest.raises(InvalidInput):
            erasing.delete_turn(session.actions.get(sequence=2), reason=reason, by="Oskar")
    assert CANARY in str(session.actions.get(sequence=2).name)
    assert not LogEntry.objects.exists()
