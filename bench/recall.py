"""How fast a transcript is rendered: 50 turns and 10,000, the complete work of the server for one request, as JSON, text and chat.

Baseline in the same run: the same rows with their payloads by one SELECT with psycopg, every value read. `recall_across.py` measures how fast a question is
answered from many sessions.
"""

import random
import sys
from functools import partial

from django.conf import settings
from django.db import connection
from django.test import Client

from bench.common.django_ready import new_project
from bench.common.report import figure, finish
from bench.common.timing import median_ms
from timemachine.core.accounts.commands.keys import make_api_key
from timemachine.core.accounts.models import Project
from timemachine.memory.search import indexing
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.sessions.pure.vocabulary import SIGNIFICANCES

RUNS = 15
TURNS = {50: 5, 10_000: 200}
WORDS = [
    "lift",
    "drag",
    "error",
    "timeout",
    "connection",
    "refused",
    "parser",
    "stack",
    "trace",
    "line",
    "hypothesis",
    "retry",
    "pool",
    "exhausted",
]
BARE = """
SELECT a.*, i.packed, i.size, i.data, o.packed, o.size, o.data FROM tm_action a LEFT JOIN tm_payload i ON i.id = a.input_id
LEFT JOIN tm_payload o ON o.id = a.output_id WHERE a.session_id = %s ORDER BY a.sequence
"""


def main() -> None:
    settings.ALLOWED_HOSTS = ["testserver"]
    project = new_project()
    _, key = make_api_key(project, name="bench", scopes=("read",))
    browser = Client(headers={"Authorization": f"Bearer {key}"})
    sessions = {turns: recorded(project, turns) for turns in TURNS}
    while indexing.index_new_steps(project.id):
        pass
    for turns, most in TURNS.items():
        bare = ("a plain SELECT", median_ms(partial(rows, sessions[turns]), RUNS))
        address = f"/api/sessions/told-{turns}/transcript"
        for form in ("json", "text", "messages"):
            took = median_ms(partial(read_transcript, browser, f"{address}?as={form}"), RUNS)
            figure(f"{turns:,} turns as {form}", took, "ms", against=bare, most=most)
        part = median_ms(partial(read_transcript, browser, f"{address}?significance=decision,solution"), RUNS)
        figure(f"{turns:,} turns, decisions and solutions only", part, "ms")
        within = median_ms(partial(read_transcript, browser, f"{address}?budget=2000&as=text"), RUNS)
        figure(f"{turns:,} turns, within 2,000 tokens", within, "ms")


def recorded(project: Project, turns: int) -> str:
    """Return a session of this many messages of about forty words."""
    chance = random.Random(turns)
    session = start_session(project, name=f"Told {turns}", key=f"told-{turns}", by="bench")
    drafts = [
        ActionDraft(
            kind="message",
            role=chance.choice(["user", "agent"]),
            output=" ".join(chance.choices(WORDS, k=40)),
            significance=chance.choice(SIGNIFICANCES),
        )
        for _ in range(turns)
    ]
    for begin in range(0, turns, 1_000):
        append(session.id, drafts[begin : begin + 1_000])
    return str(session.id)


def read_transcript(browser: Client, address: str) -> None:
    """Read it to its last byte."""
    answer = browser.get(address)
    assert answer.status_code == 200
    assert answer.getvalue()


def rows(session: str) -> None:
    """Read the plain rows."""
    with connection.cursor() as cursor:
        cursor.execute(BARE, [session])
        assert cursor.fetchall()


if __name__ == "__main__":
    main()
    sys.exit(finish())
