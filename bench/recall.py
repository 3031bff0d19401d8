"""How fast a session is told again: 50 turns and 10,000, at the server, all that it does for one request, as JSON, words and chat.

Baseline in the same run: the same rows with their payloads by one SELECT with psycopg, every value read. Ends with an error where 50 turns
take more than `SHORT` ms, or 10,000 more than `LONG`; medians of `RUNS`. How fast a question is answered from many sessions measures
`recall_across.py`. Needs a database:
`python -m tests.embedded_postgres python bench/recall.py`.
"""

import os
import random
import statistics
import sys
import time
from collections.abc import Callable

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "timemachine.config.settings")
django.setup()

from django.conf import settings  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402
from django.test import Client  # noqa: E402

from timemachine.core.accounts.commands import make_api_key  # noqa: E402
from timemachine.core.accounts.models import Project  # noqa: E402
from timemachine.memory.search import indexing  # noqa: E402
from timemachine.recording.sessions.commands import append, start_session  # noqa: E402
from timemachine.recording.sessions.pure.draft import ActionDraft  # noqa: E402
from timemachine.recording.sessions.pure.vocabulary import SIGNIFICANCES  # noqa: E402

SHORT, LONG = 5.0, 200.0
RUNS = 15
TURNS = {50: SHORT, 10_000: LONG}
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
SELECT a.*, i.data, o.data FROM tm_action a LEFT JOIN tm_payload i ON i.id = a.input_id
LEFT JOIN tm_payload o ON o.id = a.output_id WHERE a.session_id = %s ORDER BY a.sequence
"""


def main() -> None:
    call_command("migrate", verbosity=0)
    settings.ALLOWED_HOSTS = ["testserver"]
    project = Project.objects.create(name="bench")
    _, key = make_api_key(project, name="bench", scopes=("read",))
    browser = Client(headers={"Authorization": f"Bearer {key}"})
    sessions = {turns: recorded(project, turns) for turns in TURNS}
    while indexing.work_off(project.id):
        pass
    slow = []
    for turns, limit in TURNS.items():
        address = f"/api/sessions/told-{turns}/transcript"
        bare = median(lambda turns=turns: rows(sessions[turns]))  # type: ignore[misc]
        for form in ("json", "text", "messages"):
            took = median(lambda form=form, address=address: told(browser, f"{address}?as={form}"))  # type: ignore[misc]
            print(
                f"{turns:6,} turns as {form:9} {took:7.1f} ms (at most {limit:g})   baseline, a plain SELECT: {bare:6.1f} ms   ratio {took / bare:.1f}"
            )
            slow += [f"{turns:,} turns as {form}"] if took > limit else []
        part = median(lambda address=address: told(browser, f"{address}?significance=decision,solution"))  # type: ignore[misc]
        budget = median(lambda address=address: told(browser, f"{address}?budget=2000&as=text"))  # type: ignore[misc]
        print(
            f"{turns:6,} turns, decisions and solutions only {part:.1f} ms, within 2,000 tokens {budget:.1f} ms"
        )
    if slow:
        sys.exit(f"Too slow: {', '.join(slow)}.")


def recorded(project: Project, turns: int) -> str:
    """A session of so many messages of about forty words."""
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


def told(browser: Client, address: str) -> None:
    """Read to its last byte."""
    answer = browser.get(address)
    assert answer.status_code == 200
    assert answer.getvalue()


def rows(session: str) -> None:
    """The plain rows."""
    with connection.cursor() as cursor:
        cursor.execute(BARE, [session])
        assert cursor.fetchall()


def median(work: Callable[[], None]) -> float:
    """Milliseconds."""
    work()
    took = []
    for _ in range(RUNS):
        began = time.perf_counter()
        work()
        took.append((time.perf_counter() - began) * 1_000)
    return statistics.median(took)


if __name__ == "__main__":
    main()
