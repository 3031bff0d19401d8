"""The evidence of a link proves exactly what the link shows, and discloses nothing that the link withholds."""

import base64
import json
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from tests.builders import QUESTIONS, compared, recorded_session
from tests.builders import replayed as audited
from tests.governance.sharing.recorded import ask, recorded
from tests.verifier.bundles import unpacked
from timemachine.core.accounts.models import Project
from timemachine.core.payloads.commands import store
from timemachine.core.pure.clock import now
from timemachine.core.pure.content import content_of
from timemachine.core.pure.errors import NotFound
from timemachine.evidence.sealing import payload_groups
from timemachine.governance.sharing.commands.links import create_link
from timemachine.governance.sharing.pure.terms import Terms
from timemachine.governance.sharing.scope import Scope
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft, RetrievalDraft, copy_of
from timemachine.replay.comparison.commands import mark
from timemachine.replay.comparison.models import CellOpinion, Comparison
from timemachine.replay.runs.commands import launch
from timemachine.replay.runs.models import Replay, ReplayStep
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.text.redaction.commands import make_profile
from timemachine.text.redaction.pure.rules import read_rules
from timemachine.text.redaction.queries import profile_of
from timemachine.verifier import tm_verify

pytestmark = pytest.mark.django_db
CANARY = "canary@example.org"
RULES = {"detect": ["email"], "patterns": [{"name": "number", "pattern": "ACME-[0-9]+"}], "fields": ["tags"]}


def bundle(
    target: Path, project: Project, shown: Any, **terms: Any
) -> tuple[tm_verify.Report, dict[str, bytes]]:
    """Return the verifier's report on a link's evidence, and its files."""
    link, _ = create_link(project, shown, Terms(**terms), by="owner@example.org")
    with target.open("wb") as opened:
        Scope(link=link).write_evidence(opened)
    return tm_verify.verify(str(target)), unpacked(target.read_bytes())


def disclosed(files: dict[str, bytes], name: str = "session") -> dict[int, set[str]]:
    """Return the disclosed fields by record."""
    lines = map(json.loads, files[f"{name}/disclosed.jsonl"].splitlines())
    return {line["index"]: set(line["fields"]) for line in lines}


def assert_no_names(session: Session, files: dict[str, bytes]) -> None:
    """Assert that its statement matches the pages, and that no file contains the session's key or its user."""
    statement = json.loads(base64.b64decode(json.loads(files["statement.json"])["payload"]))
    assert statement["predicate"]["about"]["session"] == {"name": session.name, "agent": "Prüferin"}
    for private in ("Zoë", session.key):
        assert private not in b"".join(files.values()).decode()


def test_it_ends_where_the_link_ends_and_does_not_name_its_creator(project: Project, tmp_path: Path) -> None:
    session = recorded(project, steps=9)
    report, files = bundle(tmp_path / "x.zip", project, session, through_sequence=4)
    assert (report.problems, report.checked["records"]) == ([], 5)
    fields = disclosed(files)
    assert (sorted(fields), fields[0]) == ([0, 1, 2, 3, 4], set())
    assert {"facts", "input", "output", "hit.1", "hit.1.text"} <= fields[2]
    assert b"Geheim 9" not in b"".join(files.values())
    assert_no_names(session, files)


def test_an_evidence_only_link_discloses_numbers_and_no_text(project: Project, tmp_path: Path) -> None:
    session = recorded(project)
    report, files = bundle(tmp_path / "x.zip", project, session, evidence_only=True)
    assert_no_names(session, files)
    assert (report.problems, report.checked["withheld"] > report.checked["fields"]) == ([], True)
    assert all(fields <= {"facts"} for fields in disclosed(files).values())
    assert b'"1894"' not in files["session/disclosed.jsonl"]
    assert files["payloads.jsonl"] == b""


def test_a_replay_s_evidence_is_consistent_without_its_creators(project: Project, tmp_path: Path) -> None:
    session = recorded_session(project, questions=QUESTIONS[:1])
    replay = audited(session, ReplayOptions(audit=True, reason="why", use_model="local:extractive-3"))
    report, files = bundle(tmp_path / "x.zip", project, replay)
    assert (report.problems, report.checked["links"]) == ([], 2)
    assert disclosed(files, "replay")[0] == {"facts"}
    assert "output" in disclosed(files, "replay")[2]
    launched = launch(session, ReplayOptions(audit=True, reason="later"), by="test")
    with pytest.raises(NotFound):
        bundle(tmp_path / "y.zip", project, launched)


def cached(project: Project, elsewhere: Session) -> Session:
    """Return a session of two asks with cached answers: from its own first step, and from step 81918191918 of another session."""
    session = start_session(project, name="cached", by="Test", key="cached")
    first = {"sequence": 1, "at": "2026-11-22T00:00:00Z", "call_ms": 7}
    drafts = [
        ActionDraft(kind="message", output="begin"),
        ask("Wann?", "1894", cached=True, cached_from=first | {"session": str(session.id)}),
        ask(
            "Wo?",
            "1894",
            cached=True,
            cached_from=first | {"session": str(elsewhere.id), "sequence": 81918191918},
            copied_from=copy_of("another-session", "another-step"),
        ),
    ]
    append(session.id, drafts)
    session.refresh_from_db()
    return session


@pytest.mark.parametrize(
    ("shown", "redacted"),
    [("session", True), ("replay", False), ("comparison", False), ("comparison", True)],
)
def test_it_never_names_a_session_outside_the_link(
    project: Project, tmp_path: Path, shown: str, redacted: bool
) -> None:
    elsewhere = recorded(project)
    session = cached(project, elsewhere)
    target: Any = session
    if shown == "replay":
        target = audited(session, ReplayOptions(audit=True, reason="why"))
    elif shown == "comparison":
        target = compared(project, [session], "local:extractive-1", "local:extractive-3")
    make_profile(project, name="Auditors", rules=read_rules({"detect": ["email"]}), by="test")
    terms = {"redaction": profile_of(project, "Auditors")} if redacted else {}
    report, files = bundle(tmp_path / "x.zip", project, target, **terms)
    assert report.problems == []
    for canary in (str(elsewhere.id).encode(), b"81918191918", b"another-session", b"another-step"):
        assert canary not in b"".join(files.values())
    fields = disclosed(files, "session-1" if shown == "comparison" else "session")
    assert "words" in fields[2]
    if shown == "session":
        assert "words" not in fields[3]
        assert {"facts", "output"} <= fields[3]
    else:  # a copied ask is not asked again
        assert 3 not in fields


@pytest.fixture(scope="module")
def recorded_comparison(recorded_once: Session) -> Comparison:
    project = recorded_once.project
    made = compared(project, [recorded_once], "local:extractive-1", "local:extractive-3")
    cell = ReplayStep.objects.filter(replay__run__comparison=made).earliest("id")
    mark(made, cell, "worse", note="zu kurz", by="Ada")
    prompt = store(project.id, [content_of("what the judge was sent")])
    CellOpinion.objects.create(
        comparison=made,
        step=cell,
        model="openai:judge",
        state="done",
        relation="different",
        asked=[{"reason": "kürzer"}],
        prompt_id=next(iter(prompt.values())),
        requested_by="ada@example.org",
        finished_at=now(),
    )
    return made


@pytest.fixture
def comparison(recorded_comparison: Comparison, db: None) -> Comparison:
    """Return a comparison with a person's mark and a judge's opinion."""
    return Comparison.objects.get(pk=recorded_comparison.pk)


def test_a_comparison_s_evidence_contains_what_the_link_shows(comparison: Comparison, tmp_path: Path) -> None:
    report, files = bundle(tmp_path / "x.zip", comparison.project, comparison)
    assert (report.problems, report.checked["links"]) == ([], 6)
    fields = disclosed(files, "comparison")
    assert (sorted(fields), fields[0]) == (list(range(10)), {"facts", "arms"})
    assert {"evidence", "output", "grounding"} <= fields[1]
    assert (fields[8], fields[9]) == ({"facts", "words"}, {"facts", "words"})
    assert disclosed(files, "session-1")[0] == set()
    assert b"what the judge was sent" not in b"".join(files.values())
    assert b"Welches Modell?" not in b"".join(files.values())


def test_marks_and_opinions_added_after_the_link_are_not_in_the_evidence(
    comparison: Comparison, tmp_path: Path
) -> None:
    link, _ = create_link(comparison.project, comparison, by="owner@example.org")
    cells = ReplayStep.objects.filter(replay__run__comparison=comparison).order_by("replay_id", "sequence")
    mark(comparison, cells[1], "better", note="später", by="ada@example.org")
    ReplayStep.objects.filter(id=cells[0].id).update(finished_at=now())
    with (tmp_path / "x.zip").open("wb") as opened:
        Scope(link=link).write_evidence(opened)
    report = tm_verify.verify(str(tmp_path / "x.zip"))
    files = unpacked((tmp_path / "x.zip").read_bytes())
    assert report.problems == []
    assert sorted(disclosed(files, "comparison")) == [0, 2, 3, 4, 5, 6]
    assert "später".encode() not in b"".join(files.values())
    Replay.objects.filter(run__comparison=comparison).update(finished_at=None)
    with pytest.raises(NotFound):
        Scope(link=link).write_evidence(BytesIO())


def test_evidence_only_for_a_comparison_discloses_numbers_and_no_text(
    comparison: Comparison, tmp_path: Path
) -> None:
    report, files = bundle(tmp_path / "x.zip", comparison.project, comparison, evidence_only=True)
    assert report.problems == []
    assert all(
        fields <= {"facts"}
        for name in ("comparison", "session-1")
        for fields in disclosed(files, name).values()
    )
    assert files["payloads.jsonl"] == b""


def test_under_a_profile_derived_quotes_of_an_answer_are_not_disclosed(
    comparison: Comparison, tmp_path: Path
) -> None:
    project = comparison.project
    make_profile(project, name="Auditors", rules=read_rules(RULES | {"fields": ["output"]}), by="test")
    profile = profile_of(project, "Auditors")
    report, files = bundle(tmp_path / "x.zip", project, comparison, redaction=profile)
    fields = disclosed(files, "comparison")
    assert report.problems == []
    assert {"facts", "words"} <= fields[1]
    assert not {"evidence", "output", "grounding"} & fields[1]
    assert (fields[8], fields[9]) == ({"facts", "words"}, {"facts"})
    session = recorded_session(project, key="r", questions=QUESTIONS[:1])
    replay = audited(session, ReplayOptions(audit=True, reason="why"))
    report, files = bundle(tmp_path / "y.zip", project, replay, redaction=profile)
    assert (report.problems, disclosed(files, "replay")[2]) == ([], {"facts", "attempts"})


@pytest.mark.parametrize("long", [False, True])
def test_under_a_profile_the_number_of_queries_does_not_grow_with_the_records(
    project: Project, django_assert_max_num_queries: Any, monkeypatch: pytest.MonkeyPatch, long: bool
) -> None:
    make_profile(project, name="Auditors", rules=read_rules(RULES), by="test")
    session = start_session(project, name="long", by="test")
    texts = [f"turn {n} {'x' * (20_000 if long else 1)}" for n in range(20)]
    append(session.id, [ActionDraft(kind="message", input=text, output=text + CANARY) for text in texts])
    query_counts = []
    for through in (2, 20):
        terms = Terms(redaction=profile_of(project, "Auditors"), through_sequence=through)
        link, _ = create_link(project, session, terms, by="owner@example.org")
        Scope(link=link).write_evidence(BytesIO())  # a state of that size is signed only once
        with django_assert_max_num_queries(100) as found:
            Scope(link=link).write_evidence(BytesIO())
        query_counts.append(len(found))
    assert query_counts[1] == query_counts[0]
    if long:  # records that do not fit in memory are read in equally few batches
        monkeypatch.setattr(payload_groups, "GROUP_BYTES", 4 * 40_100)
        with django_assert_max_num_queries(query_counts[0] + 3 * 5):
            Scope(link=link).write_evidence(BytesIO())


def test_findings_of_a_profile_are_in_no_byte_of_it(project: Project, tmp_path: Path) -> None:
    session = start_session(project, name=f"of {CANARY}", by=CANARY, user=CANARY, agent="ACME-1", key="k")
    hit = HitDraft(rank=1, title="clean", text=f"write to {CANARY}", uri="clean", metadata={"by": CANARY})
    clean = HitDraft(rank=2, title="clean", text="a clean passage")
    append(
        session.id,
        [
            ActionDraft(kind="message", output="nothing in here", tags=("secret-tag",)),
            ActionDraft(kind="message", output=f"mail {CANARY}", name="clean", source={"raw": "again"}),
            ActionDraft(kind="find", input="q", retrieval=RetrievalDraft(hits=(hit, clean))),
            ActionDraft(
                kind="event",
                output={"deep": [{"to": CANARY}]},
                error_message="ACME-77 failed",
                model="ACME-9:x",
            ),
            ActionDraft(
                kind="llm_call", input="x" * 40_000 + CANARY, output="clean", parameters={"user": CANARY}
            ),
        ],
    )
    session.refresh_from_db()
    make_profile(project, name="Auditors", rules=read_rules(RULES), by="test")
    report, files = bundle(tmp_path / "x.zip", project, session, redaction=profile_of(project, "Auditors"))
    contents = b"".join(files.values())
    assert report.problems == []
    for canary in (CANARY.encode(), b"ACME-", b"secret-tag"):
        assert canary not in contents
    fields = disclosed(files)
    assert {"facts", "output"} <= fields[1]
    assert fields[2] == {"facts"}
    assert {"input", "hit.2", "hit.2.text"} <= fields[3]
    assert not {"hit.1", "hit.1.text"} & fields[3]
    assert not {"facts", "output", "words"} & fields[4]
    assert "output" in fields[5]
    assert "input" not in fields[5]


@pytest.mark.parametrize("shown", ["replay", "comparison"])
def test_the_words_of_a_withheld_question_are_not_disclosed_by_the_matched_terms(
    project: Project, tmp_path: Path, shown: str
) -> None:
    session = recorded_session(project, questions=QUESTIONS[:1])
    target: Any = (
        audited(session, ReplayOptions(top_k=2))
        if shown == "replay"
        else compared(project, [session], "local:extractive-1", "local:extractive-3")
    )
    make_profile(project, name="No questions", rules=read_rules({"fields": ["input"]}), by="test")
    make_profile(project, name="No letters", rules=read_rules({"detect": ["email"]}), by="test")
    report, files = bundle(tmp_path / "x.zip", project, target, redaction=profile_of(project, "No questions"))
    assert report.problems == []
    assert b'"matched' not in b"".join(files.values()).replace(b"\\", b"")
    name = "session-1" if shown == "comparison" else "session"
    found = {index: fields for index, fields in disclosed(files, name).items() if "hit.1.text" in fields}
    assert found
    assert not any({"input", "hit.1"} & fields for fields in found.values())
    _, files = bundle(tmp_path / "y.zip", project, target, redaction=profile_of(project, "No letters"))
    assert all({"input", "hit.1"} <= disclosed(files, name)[index] for index in found)


def test_a_measured_number_that_passes_as_a_card_number_withholds_nothing(
    project: Project, tmp_path: Path
) -> None:
    score = 5.791798114776611
    session = start_session(project, name="Fees", by="test")
    hit = HitDraft(
        rank=1, score=score, scores={"lexical": score}, text="12 francs.", matched={"terms": {"fee": score}}
    )
    sentence = {"start": 0, "end": 10, "text": "12 francs.", "score": score, "frame": 1}
    append(
        session.id,
        [
            ActionDraft(
                kind="ask",
                input="What is the fee?",
                output="12 francs.",
                retrieval=RetrievalDraft(mode="hybrid", top_k=4, curve={"scores": [score]}, hits=(hit,)),
                grounding={"score": score, "label": "HIGH", "sentences": [sentence]},
            )
        ],
    )
    session.refresh_from_db()
    profile = profile_of(project, "built-in")
    report, files = bundle(tmp_path / "x.zip", project, session, redaction=profile)
    assert report.problems == []
    assert {"hit.1", "hit.1.text", "grounding", "retrieval"} <= disclosed(files)[1]
    link, _ = create_link(project, session, Terms(redaction=profile), by="test")
    shown = Scope(link=link).step(1)
    assert "[withheld" not in str(shown)
