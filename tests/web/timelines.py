"""Sessions for the tests of timelines, and what their pages show."""

import re
from collections.abc import Sequence
from decimal import Decimal

from django.test import Client

from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft, RetrievalDraft, Usage

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\x00\u202e\x1b[31m\ud800{{ 7|add:7 }}{% csrf_token %}' \" &"
ANSWER = "The row is lost. Nobody knows why."


def recorded(project: Project, drafts: Sequence[ActionDraft], key: str = "s") -> Session:
    """Record a session of these actions."""
    session = start_session(project, name="A session", by="test", key=key)
    append(session.id, drafts)
    return session


def example_actions() -> list[ActionDraft]:
    """Return a question, an ask with two passages and its find, a call, and its failed result."""
    hits = tuple(
        HitDraft(
            rank=n, score=0.9 / n, frame=60 + n, version=n, title=f"Passage {n}", text=f"The text of {n}."
        )
        for n in (1, 2)
    )
    sentences = [
        {"text": "The row is lost.", "start": 0, "end": 16, "score": 0.9, "grounded": True, "frame": 61},
        {
            "text": "Nobody knows why.",
            "start": 17,
            "end": 34,
            "score": 0.1,
            "grounded": False,
            "reason": "no_support",
        },
    ]
    grounding = {
        "score": 0.5,
        "label": "MEDIUM",
        "sentence_count": 2,
        "grounded_sentences": 1,
        "sentences": sentences,
    }
    retrieval = RetrievalDraft(mode="hybrid", top_k=2, cut_by="cliff", hits=hits)
    return [
        ActionDraft(kind="message", role="user", output="Find out why."),
        ActionDraft(
            kind="ask",
            id="a",
            input="Why is the row lost?",
            output=ANSWER,
            model="acme:m",
            usage=Usage(input_tokens=1_200, output_tokens=34),
            cost_usd=Decimal("0.0213"),
            prices={"source": "list", "per_million_tokens": {"input": 3, "output": 15}},
            grounding=grounding,
            retrieval=retrieval,
        ),
        ActionDraft(kind="find", parent="a", input="Why is the row lost?", retrieval=retrieval),
        ActionDraft(kind="tool_call", id="t", tool="Bash", input={"command": "npm test"}, duration_ms=1_900),
        ActionDraft(
            kind="tool_result",
            parent="t",
            tool="Bash",
            error_type="Exit",
            error_message="npm test exited with 1",
        ),
    ]


def get(browser: Client, address: str, target: str = "") -> str:
    """Return the page at an address, or the part of it that htmx requests."""
    headers = {"HX-Request": "true", "HX-Target": target} if target else {}
    answer = browser.get(address, headers=headers)
    assert answer.status_code == 200, answer
    return str(answer.content.decode())


def rows(page: str) -> list[int]:
    """Return the sequences of the rows on a page."""
    return [int(found) for found in re.findall(r'<li id="s(\d+)"', page)]


def words(page: str) -> str:
    """Return the text of a page without its markup."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))
