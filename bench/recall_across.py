"""How fast a question is answered from 100,000 turns in 1,000 sessions: all that the server does for one, as a program asks it.

Baseline in the same run: the ten nearest by one exact SELECT over the vectors of all turns, which is what a memory by similarity does; no
words, no session, no text. Ends with an error where the 95th percentile of a kind of question is above `LIMIT` ms. Needs a database:
`python -m tests.embedded_postgres python bench/recall_across.py`.
"""

import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "timemachine.config.settings")
django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402

from timemachine.core.accounts.models import Project  # noqa: E402
from timemachine.core.pure.clock import now  # noqa: E402
from timemachine.knowledge.embedding import table  # noqa: E402
from timemachine.knowledge.ranking import dense  # noqa: E402
from timemachine.memory.recall.conditions import among  # noqa: E402
from timemachine.memory.recall.document import recollection_json  # noqa: E402
from timemachine.memory.recall.queries import recall  # noqa: E402
from timemachine.memory.recall.questions import Wanted  # noqa: E402
from timemachine.memory.recall.retrievers import by_meaning  # noqa: E402
from timemachine.memory.search import indexing  # noqa: E402
from timemachine.recording.sessions.commands import append, start_session  # noqa: E402
from timemachine.recording.sessions.pure.draft import ActionDraft  # noqa: E402
from timemachine.recording.sessions.pure.vocabulary import SIGNIFICANCES  # noqa: E402

SESSIONS, TURNS, QUESTIONS, LIMIT = 1_000, 100, 60, 60.0
VOCABULARY, FUNCTION_WORDS = 5_000, 20
"""The most frequent of the vocabulary stand for words like *the*: turns have them, questions are not asked by them."""
_NEAREST: Final = """
SELECT action_id, vector <=> %(vector)s::halfvec AS distance FROM tm_action_meaning
WHERE project_id = %(project)s AND model = %(model)s ORDER BY distance LIMIT 10
"""


def main() -> None:
    call_command("migrate", verbosity=0)
    chance = random.Random(7)
    words = [_word(chance) for _ in range(VOCABULARY)]
    project = _recorded(chance, words)
    questions = [_question(chance, words) for _ in range(QUESTIONS)]
    bare, _ = _timed(
        "baseline, the ten nearest vectors alone",
        [partial(_nearest, project, question) for question in questions],
    )
    kinds = {
        "a question": Wanted(queries=("{}",)),
        "a question about last week": Wanted(queries=("{} last week",)),
        "a question about the last session": Wanted(queries=("{} in the last session",)),
        "of one agent": Wanted(queries=("{}",), agent="agent-3"),
        "of importance from 0.9": Wanted(queries=("{}",), min_importance=0.9),
        "with the turns around, as a prompt": Wanted(queries=("{}",), around=2, budget=2_000),
    }
    slow = []
    for name, wanted in kinds.items():
        asked = [_of(wanted, question) for question in questions]
        median, high = _timed(name, [partial(_ask, project, one) for one in asked])
        print(f"    at most {LIMIT:g} ms; ratio of the medians to the baseline: {median / bare:.1f}")
        slow += [name] if high > LIMIT else []
    print(f"of the ten nearest, the sketches find {_found(project, questions):.1%}")
    if slow:
        sys.exit(f"Too slow: {', '.join(slow)}.")


def _recorded(chance: random.Random, words: Sequence[str]) -> Project:
    project = Project.objects.create(name="across")
    begun = now() - timedelta(days=60)
    for number in range(SESSIONS):
        session = start_session(
            project, name=f"Run {number}", by="bench", agent=f"agent-{number % 7}", user=f"user-{number % 50}"
        )
        at = begun + timedelta(minutes=80 * number)
        append(session.id, [_draft(chance, words, at + timedelta(seconds=turn)) for turn in range(TURNS)])
    while indexing.work_off(project.id):
        pass
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    return project


def _draft(chance: random.Random, words: Sequence[str], at: datetime) -> ActionDraft:
    said = " ".join(words[_rank(chance)] for _ in range(40))
    weight = chance.choice(SIGNIFICANCES) if chance.random() < 0.2 else None
    return ActionDraft(
        kind="message", role=chance.choice(["user", "agent"]), output=said, significance=weight, started_at=at
    )


def _question(chance: random.Random, words: Sequence[str]) -> str:
    ranks: list[int] = []
    while len(ranks) < 6:
        if (rank := _rank(chance)) >= FUNCTION_WORDS:
            ranks.append(rank)
    return "what did we find out about " + " ".join(words[rank] for rank in ranks)


def _rank(chance: random.Random) -> int:
    """Common words more often than rare ones."""
    return min(VOCABULARY - 1, int(chance.paretovariate(0.6)) - 1)


def _word(chance: random.Random) -> str:
    return "".join(
        chance.choice("bdfgklmnprstv") + chance.choice("aeiou") for _ in range(chance.randint(2, 4))
    )


def _of(wanted: Wanted, question: str) -> Wanted:
    return Wanted(
        queries=(wanted.queries[0].format(question),),
        agent=wanted.agent,
        min_importance=wanted.min_importance,
        around=wanted.around,
        budget=wanted.budget,
    )


def _ask(project: Project, wanted: Wanted) -> None:
    assert recollection_json(recall(project, wanted))["items"]


def _nearest(project: Project, question: str) -> list[int]:
    vector = table.question_vector(indexing.MODEL, question)
    with connection.cursor() as cursor:
        facts: dict[str, Any] = {"vector": dense(vector), "project": project.id, "model": indexing.MODEL.name}
        cursor.execute(_NEAREST, facts)
        return [row for row, _ in cursor.fetchall()]


def _found(project: Project, questions: Sequence[str]) -> float:
    """The share of the ten nearest turns that the leg by meaning brings."""
    shares = []
    for question in questions:
        vector = table.question_vector(indexing.MODEL, question)
        found = {each.action for each in by_meaning(among(project, Wanted(queries=(question,))), vector)}
        shares.append(len(found.intersection(_nearest(project, question))) / 10)
    return statistics.mean(shares)


def _timed(what: str, work: Sequence[Callable[[], object]]) -> tuple[float, float]:
    """The median and the 95th percentile in milliseconds, printed."""
    work[0]()
    took = []
    for each in work:
        began = time.perf_counter()
        each()
        took.append((time.perf_counter() - began) * 1_000)
    median, high = statistics.median(took), sorted(took)[int(len(took) * 0.95)]
    print(f"{SESSIONS * TURNS:,} turns, {what}: p50 {median:.1f} ms, p95 {high:.1f} ms")
    return median, high


if __name__ == "__main__":
    main()
