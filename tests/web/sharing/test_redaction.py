"""A link with a redaction profile: withheld text is in no byte that a visitor can get, and in no log."""

import html
import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client

from tests.builders import compared
from tests.governance.sharing.recorded import replayed
from tests.verifier.bundles import unpacked
from tests.web.timelines import words
from tests.web.visitors import opened, shared
from timemachine.core.accounts.models import Project, User
from timemachine.core.payloads.commands import store
from timemachine.core.pure.content import content_of, text_sha256
from timemachine.core.pure.throttle import Limit
from timemachine.governance.sharing.commands import visits
from timemachine.governance.sharing.models import ShareLink
from timemachine.governance.sharing.pure.terms import Terms
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft, RetrievalDraft, Usage, copy_of
from timemachine.replay.comparison.models import CellMark, CellOpinion, Comparison
from timemachine.replay.runs.models import Replay, ReplayHit, ReplayStep
from timemachine.text.redaction.commands import make_profile, retire_profile
from timemachine.text.redaction.pure.profile import BUILT_IN
from timemachine.text.redaction.pure.rules import read_rules
from timemachine.text.redaction.queries import as_profile, profile_row

pytestmark = pytest.mark.django_db
WORD, EMAIL, SECRET = "Kanari-4711", "kanari.vogel@example.org", "AKIAKANARI0000000000"
CANARY = f"{WORD} {EMAIL} {SECRET}"
NAME = "kanariname in a field"
TRACES = re.compile(rb"kanari|(?<![0-9a-f])4711(?![0-9a-f])|vogel|AKIA", re.IGNORECASE)  # not inside a hash
RULES = {
    "detect": ["secret", "email"],
    "patterns": [{"name": "number", "pattern": "kanari-[0-9]+", "ignore_case": True}],
    "fields": ["session.user", "retrieval.hits[*].metadata.author", "input.hidden", "tags"],
}
ANSWER = f"The bird is {WORD}. Write to {EMAIL}. Nothing else."


def sentences(answer: str) -> dict[str, Any]:
    cuts = [(0, answer.index(". ") + 1), (answer.index("Write"), answer.index(". N") + 1)]
    found = [{"text": answer[a:b], "start": a, "end": b, "score": 0.1, "grounded": False} for a, b in cuts]
    found[0] |= {
        "frame": 1,
        "passage_start": 0,
        "passage_end": 12,
        "reason": "name",
        "missing": ["Kanari", "4711"],
    }
    found[1] |= {"frame": None, "reason": "no_support", "missing": ["vogel"]}
    return {"score": 0.2, "label": "LOW", "sentence_count": 2, "grounded_sentences": 0, "sentences": found}


def recorded(project: Project) -> Session:
    """Record a session with withheld text in every field that can hold text."""
    session = start_session(
        project,
        name=f"Flight of {CANARY}",
        key=f"{EMAIL}:{WORD}",
        by="Test",
        agent=CANARY,
        user=NAME,
        metadata={"m": CANARY},
        tags=[CANARY],
    )
    hits = (
        HitDraft(
            rank=1,
            score=0.9,
            frame=1,
            scores={WORD: 0.5},
            title=CANARY,
            uri=f"https://example.org/{WORD}",
            metadata={"author": NAME, WORD: CANARY},
            text=f"{CANARY} flies",
            matched={"terms": {"kanari": 0.5, "vogel": 0.2}, "identifiers": {WORD: 1.0}},
        ),
        HitDraft(rank=2, score=0.8, frame=2, title="plain", text="Birds fly.", metadata={"author": NAME}),
    )
    everywhere: dict[str, Any] = {
        "agent": CANARY,
        "name": CANARY,
        "tool": CANARY,
        "call_id": CANARY,
        "tags": (NAME,),
        "metadata": {"by": CANARY, WORD: [CANARY]},
        "copied_from": copy_of(CANARY, WORD),
        "model": f"local:{WORD}",
        "parameters": {
            "stop": [CANARY],
            WORD: 1,
            "provider_error": {"message": CANARY},
            "finish_reason": CANARY,
        },
        "prices": {"source": CANARY},
        "source": {"line": CANARY},
    }
    own = everywhere | {"copied_from": None}  # a copied ask is not replayed
    append(
        session.id,
        [
            ActionDraft(
                kind="message", role="user", id=f"m {CANARY}", input="x" * 185 + f" {CANARY}", **everywhere
            ),
            ActionDraft(
                kind="ask",
                id=f"ask {WORD}",
                input={"question": f"What of {CANARY}?", "hidden": NAME},
                output=ANSWER,
                usage=Usage(input_tokens=4, output_tokens=8, total_tokens=12),
                cost_usd=Decimal("0.1"),
                cached=True,
                cached_from={"session": CANARY, "sequence": 1, "at": "2026-11-22T00:00:00Z"},
                grounding=sentences(ANSWER),
                retrieval=RetrievalDraft(
                    mode="hybrid", top_k=4, below={"title": CANARY, "score": 0.1}, hits=hits
                ),
                **own,
            ),
            ActionDraft(
                kind="find",
                parent=f"ask {WORD}",
                input=CANARY,
                retrieval=RetrievalDraft(hits=hits),
                **own,
            ),
            ActionDraft(
                kind="tool_call", input={"to": EMAIL, "password": "kanaripass", WORD: [CANARY]}, **everywhere
            ),
            ActionDraft(kind="tool_result", output="y" * 40_000 + CANARY, parent=f"m {CANARY}", **everywhere),
            ActionDraft(kind="event", error_type=CANARY, error_message=f"failed for {CANARY}", **everywhere),
            ActionDraft(kind="message", role="agent", output="All is well."),
        ],
    )
    session.refresh_from_db()
    return session


def replay_of(session: Session) -> Replay:
    """Replay the session's ask with another answer, and put withheld text into everything around it."""
    made = replayed(session)
    options = {**made.options, "question": CANARY, "system_prompt": CANARY, "reason": CANARY}
    Replay.objects.filter(id=made.id).update(
        kind="debug", model=f"local:{WORD}", options=options, reason=CANARY, requested_by=EMAIL
    )
    answer, passage = content_of(f"Now {WORD} and 99 others. Ask {EMAIL}."), content_of(f"{CANARY} again")
    payload_ids = store(session.project_id, [answer, passage])
    frames = [
        {
            "rank": 1,
            "frame": 1,
            "version": None,
            "sha256": text_sha256(f"{CANARY} flies"),
            "verdict": "verified",
            "since": None,
        }
    ]
    steps = ReplayStep.objects.filter(replay=made)
    steps.update(
        evidence={
            "only_recorded": ["Kanari", "4711"],
            "only_new": [EMAIL],
            "same_prompt": True,
            "new": CANARY,
        },
        output_id=payload_ids[answer],
        model=f"local:{WORD}",
        parameters={"stop": CANARY},
        grounding=sentences(f"Now {WORD} says. Write to {EMAIL}. N"),
        frames=frames,
        retrieval={
            "mode": "hybrid",
            "verdict": "changed",
            "gained": [passage.sha256],
            "lost": [1],
            "moved": [],
            "below": {"title": CANARY},
        },
        error_message=None,
        waits_because=CANARY,
        verdict="numbers_differ",
    )
    ReplayHit.objects.filter(step__replay=made).delete()
    ReplayHit.objects.create(
        step=steps.get(),
        rank=1,
        title=CANARY,
        metadata={"x": CANARY},
        sha256=passage.sha256,
        payload_id=payload_ids[passage],
    )
    failed = ReplayStep.objects.create(
        replay=made,
        action=Action.objects.get(session=session, sequence=3),
        sequence=3,
        kind="find",
        status="failed",
        error_type=CANARY,
        error_message=f"refused: {CANARY}",
    )
    failed.attempts.create(number=1, lease_token=made.id, worker="w", outcome="failed", error_message=CANARY)
    return Replay.objects.get(id=made.id)


def comparison_of(project: Project, session: Session) -> Comparison:
    made = compared(project, [session], "local:extractive-1", "local:extractive-3")
    Comparison.objects.filter(id=made.id).update(
        reason=CANARY, requested_by=EMAIL, arms=[{**each, "system_prompt": CANARY} for each in made.arms]
    )
    for cell in ReplayStep.objects.filter(replay__run__comparison=made):
        CellMark.objects.create(comparison=made, step=cell, verdict="worse", note=CANARY, marked_by=EMAIL)
        CellOpinion.objects.create(
            comparison=made,
            step=cell,
            model=f"judge:{WORD}",
            state="done",
            relation="different",
            preference="better",
            asked=[
                {"order": "recorded_first", "relation": "different", "preference": "better", "reason": CANARY}
            ],
            requested_by=EMAIL,
            finished_at=made.created_at,
        )
    return Comparison.objects.get(id=made.id)


@pytest.fixture
def session(project: Project) -> Session:
    return recorded(project)


@pytest.fixture(autouse=True)
def no_rate_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lift the rate limit: a crawl reads faster than people do."""
    monkeypatch.setattr(visits, "VIEWS", Limit(most=100_000, window=visits.VIEWS.window))


def redacted_link(project: Project, target: Any) -> tuple[ShareLink, Client, str]:
    """Return a link with the redaction profile, a visitor who has opened it, and the path of its page."""
    profile = as_profile(make_profile(project, "No birds", read_rules(RULES), by="test"))
    link, path = shared(project, target, Terms(redaction=profile))
    return link, *opened(path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """An answer to a visitor; of a zip file, everything in it."""

    status_code: int
    text: str
    content: bytes

    @classmethod
    def at(cls, visitor: Client, path: str, **headers: str) -> "Received":
        answer: Any = visitor.get(path, headers=headers)
        body = answer.getvalue()
        for close in answer._resource_closers if answer.streaming else ():
            close()  # not the answer itself: that would close the test's connection
        files = unpacked(body) if body.startswith(b"PK") else {}
        header_lines = "\n".join(f"{name}: {value}" for name, value in answer.items()).encode()
        page = body.decode() if "html" in answer["Content-Type"] else ""
        content = b"\n".join(
            [
                body if not files else b"",
                header_lines,
                *(name.encode() + data for name, data in files.items()),
            ]
        )
        return cls(status_code=answer.status_code, text=page, content=content)


def crawled(visitor: Client, start: str, *queries: str) -> dict[str, Received]:
    """Fetch every page that can be reached under the link, its downloads, and the parts that htmx requests."""
    seen: dict[str, Received] = {}
    pending = [start, *(f"{start}{query}" for query in queries)]
    known = set(map(with_sorted_query, pending))
    while pending:
        path = pending.pop()
        seen[path] = Received.at(visitor, path)
        for each in map(html.unescape, re.findall(r'(?:href|hx-get|action)="([^"#]*)', seen[path].text)):
            address = path.split("?")[0] + each if each.startswith("?") else each
            if address.startswith("/share/") and with_sorted_query(address) not in known:
                known.add(with_sorted_query(address))
                pending.append(address)
    htmx = {"HX-Request": "true", "HX-Target": "article#step"}
    parts = {re.sub(r"=\d+", "=", path): path for path in seen if "?" in path}  # one of each form of address
    return seen | {f"{path} part": Received.at(visitor, path, **htmx) for path in parts.values()}


def with_sorted_query(path: str) -> str:
    """Return an address with its query parameters in order."""
    before, _, query = path.partition("?")
    return "?".join([before, *filter(None, sorted(query.split("&")))])


def traces(seen: Mapping[str, Received]) -> dict[str, bytes]:
    """Return where withheld text is found in a body, a file of a bundle or a header."""
    found = ((path, answer.content, TRACES.search(answer.content)) for path, answer in seen.items())
    return {path: content[max(hit.start() - 120, 0) : hit.end() + 60] for path, content, hit in found if hit}


def test_no_withheld_text_is_in_any_byte_of_a_shared_session(
    project: Project, session: Session, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    _, visitor, path = redacted_link(project, session)
    seen = crawled(visitor, path, "?step=5&more=1", "?step=5&tab=raw&more=1")
    assert traces(seen) == {}
    assert {answer.status_code for answer in seen.values()} == {200}
    assert len(seen) > 35
    assert not TRACES.search(caplog.text.encode())
    text = "".join(answer.text for answer in seen.values())
    assert '<span class="redacted"><span>withheld: number</span></span>' in text
    assert "matches of the profile No birds , version 1 (" in words(text)
    assert "All is well." in text


def test_no_withheld_text_is_in_any_byte_of_a_shared_replay(
    project: Project, session: Session, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    _, visitor, path = redacted_link(project, replay_of(session))
    seen = crawled(visitor, path) | {
        each: Received.at(visitor, f"{path}{each}") for each in ("steps/2/", "steps/2/?all=1", "steps/3/")
    }
    assert traces(seen) == {}
    assert {answer.status_code for answer in seen.values()} == {200}
    step = seen["steps/2/"].text
    assert "99 others" in step
    assert "Identical." not in step
    assert not TRACES.search(caplog.text.encode())


def test_no_withheld_text_is_in_any_byte_of_a_shared_comparison(project: Project, session: Session) -> None:
    made = comparison_of(project, session)
    _, visitor, path = redacted_link(project, made)
    seen = crawled(visitor, path)
    assert traces(seen) == {}
    assert f"{path}evidence.zip" in seen
    assert len(seen) > 3
    assert {answer.status_code for answer in seen.values()} == {200}


def test_who_shares_is_named_without_the_address_that_the_profile_withholds(
    project: Project, session: Session
) -> None:
    User.objects.create(email="anna@example.org", name="Anna Bauer")
    for terms, named in (
        (Terms(), "anna@example.org"),
        (Terms(redaction=BUILT_IN), "Anna Bauer"),
        (Terms(redaction=BUILT_IN, evidence_only=True), "Anna Bauer"),
    ):
        visitor, path = opened(shared(project, session, terms)[1])
        for page in (path, f"{path}certificate/"):
            assert f"Shared by {named}, project" in words(visitor.get(page).text).replace(" ,", ",")
    User.objects.update(name="anna@example.org")
    visitor, path = opened(shared(project, session, Terms(redaction=BUILT_IN))[1])
    page = visitor.get(path).text
    assert "anna@example.org" not in page
    assert "Shared by withheld: e-mail , project" in words(page)


def test_a_long_name_of_who_shares_is_cut_and_shows_no_markup(project: Project, session: Session) -> None:
    User.objects.create(email="anna@example.org", name=f"Anna b@example.org {'Bauer ' * 20}")
    visitor, path = opened(shared(project, session, Terms(redaction=BUILT_IN))[1])
    page = visitor.get(path).text
    assert re.search("Shared by Anna withheld: e-mail (Bauer )+B?a?u?e?r?… , project", words(page))
    assert "&lt;span" not in page


def test_an_evidence_only_link_withholds_names_too(project: Project, session: Session) -> None:
    profile = as_profile(make_profile(project, "No birds", read_rules(RULES), by="test"))
    for target in (session, comparison_of(project, session)):
        _, path = shared(project, target, Terms(redaction=profile, evidence_only=True))
        visitor, page = opened(path)
        seen = crawled(visitor, page)
        assert traces(seen) == {}
        assert f"{page}evidence.zip" in seen


def test_payloads_with_withheld_text_are_not_found(project: Project, session: Session) -> None:
    _, visitor, path = redacted_link(project, session)
    hidden = [ANSWER, CANARY, f"{CANARY} flies", "x" * 185 + f" {CANARY}"]
    input_payload = Action.objects.get(session=session, sequence=2).input
    assert input_payload is not None
    shown = "".join(
        visitor.get(f"{path}?step={step}&tab={tab}").text for step in (1, 2) for tab in ("action", "context")
    )
    unknown = visitor.get(f"{path}payloads/{'0' * 64}/").content
    for sha256 in [*map(text_sha256, hidden), input_payload.sha256]:
        answer = visitor.get(f"{path}payloads/{sha256}/")
        assert (answer.status_code, answer.content) == (404, unknown)
        assert sha256 not in shown
    plain = visitor.get(f"{path}payloads/{text_sha256('All is well.')}/")
    assert plain.content == b"All is well."


def test_a_link_without_a_profile_shows_everything(project: Project, session: Session) -> None:
    _, path = shared(project, session)
    visitor, address = opened(path)
    page = visitor.get(f"{address}?step=2").text
    assert EMAIL in page
    assert "nothing; the evidence leaves out" in page
    assert "redacted" not in page


def test_a_link_keeps_the_profile_version_it_was_created_with(
    project: Project, session: Session, operator: Client
) -> None:
    link, visitor, path = redacted_link(project, session)
    retire_profile(profile_row(project, "No birds"), by="x")
    assert traces({"": Received.at(visitor, path)}) == {}
    page = operator.get(f"/shares/{link.id}/").text
    assert "by No birds , version 1" in words(page)
    assert "kanari-[0-9]+" in page
    with pytest.raises(Exception, match="fixed when it is created"):
        ShareLink.objects.filter(id=link.id).update(redaction=None)
