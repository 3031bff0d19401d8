"""How fast a question is answered from 100,000 turns in 1,000 sessions: the complete work of the server for an API request.

Baseline in the same run: the ten nearest by one exact SELECT over the vectors of all turns, which is what a memory by similarity does; no
words, no session, no text.
"""

import random
import statistics
import sys
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from django.db import connection

from bench.common.django_ready import analyze, new_project
from bench.common.report import figure, finish
from bench.common.timing import milliseconds, quantile
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.knowledge.embedding import table
from timemachine.knowledge.ranking import dense
from timemachine.memory.search import indexing
from timemachine.memory.search.recall.conditions import step_scope
from timemachine.memory.search.recall.queries import recall
from timemachine.memory.search.recall.questions import RecallOptions
from timemachine.memory.search.recall.retrievers import by_meaning
from timemachine.memory.search.recall.schemas import RecallOut
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.sessions.pure.vocabulary import SIGNIFICANCES

SESSIONS, TURNS, QUESTIONS = 1_000, 100, 60
VOCABULARY, FUNCTION_WORDS = 5_000, 20
"""The most frequent words of the vocabulary represent words like *the*: turns contain them, questions do not."""
_NEAREST: Final = """
SELECT action_id, vector <=> %(vector)s::halfvec AS distance FROM tm_action_meaning
WHERE project_id = %(project)s AND model = %(model)s ORDER BY distance LIMIT 10
"""


def main() -> None:
    chance = random.Random(7)
    words = [_word(chance) for _ in range(VOCABULARY)]
    project = _recorded(chance, words)
    questions = [_question(chance, words) for _ in range(QUESTIONS)]
    nearest = milliseconds([partial(_nearest, project, question) for question in questions])
    bare = ("the ten nearest vectors alone", quantile(nearest, 0.5))
    kinds = {
        "a question": RecallOptions(queries=("{}",)),
        "a question about last week": RecallOptions(queries=("{} last week",)),
        "a question about the last session": RecallOptions(queries=("{} in the last session",)),
        "of one agent": RecallOptions(queries=("{}",), agent="agent-3"),
        "of importance from 0.9": RecallOptions(queries=("{}",), min_importance=0.9),
        "with the turns around, as a prompt": RecallOptions(queries=("{}",), around=2, budget=2_000),
    }
    for name, options in kinds.items():
        took = milliseconds([partial(_ask, project, _of(options, question)) for question in questions])
        figure(name, quantile(took, 0.5), "ms", against=bare)
        figure(f"{name}, p95", quantile(took, 0.95), "ms", most=60)
    figure("of the ten nearest, the share that the index rows find", _found(project, questions))


def _recorded(chance: random.Random, words: Sequence[str]) -> Project:
    project = new_project()
    begun = now() - timedelta(days=60)
    for number in range(SESSIONS):
        session = start_session(
            project, name=f"Run {number}", by="bench", agent=f"agent-{number % 7}", user=f"user-{number % 50}"
        )
        at = begun + timedelta(minutes=80 * number)
        append(session.id, [_draft(chance, words, at + timedelta(seconds=turn)) for turn in range(TURNS)])
    while indexing.index_new_steps(project.id):
        pass
    analyze("VACUUM ANALYZE")
    return project


def _draft(chance: random.Random, words: Sequence[str], at: datetime) -> ActionDraft:
    text = " ".join(words[_rank(chance)] for _ in range(40))
    weight = chance.choice(SIGNIFICANCES) if chance.random() < 0.2 else None
    return ActionDraft(
        kind="message", role=chance.choice(["user", "agent"]), output=text, significance=weight, started_at=at
    )


def _question(chance: random.Random, words: Sequence[str]) -> str:
    ranks: list[int] = []
    while len(ranks) < 6:
        if (rank := _rank(chance)) >= FUNCTION_WORDS:
            ranks.append(rank)
    return "what did we find out about " + " ".join(words[rank] for rank in ranks)


def _rank(chance: random.Random) -> int:
    """Return common words more often than rare ones."""
    return min(VOCABULARY - 1, int(chance.paretovariate(0.6)) - 1)


def _word(chance: random.Random) -> str:
    return "".join(
        chance.choice("bdfgklmnprstv") + chance.choice("aeiou") for _ in range(chance.randint(2, 4))
    )


def _of(options: RecallOptions, question: str) -> RecallOptions:
    return RecallOptions(
        queries=(options.queries[0].format(question),),
        agent=options.agent,
        min_importance=options.min_importance,
        around=options.around,
        budget=options.budget,
    )


def _ask(project: Project, options: RecallOptions) -> None:
    assert RecallOut.of(recall(project, options)).items


def _nearest(project: Project, question: str) -> list[int]:
    vector = table.query_vector(indexing.MODEL, question)
    with connection.cursor() as cursor:
        facts: dict[str, Any] = {"vector": dense(vector), "project": project.id, "model": indexing.MODEL.name}
        cursor.execute(_NEAREST, facts)
        return [row for row, _ in cursor.fetchall()]


def _found(project: Project, questions: Sequence[str]) -> float:
    """Return the share of the ten nearest turns that the semantic retriever finds."""
    shares = []
    for question in questions:
        vector = table.query_vector(indexing.MODEL, question)
        found = {
            each.action
            for each in by_meaning(step_scope(project, RecallOptions(queries=(question,))), vector)
        }
        shares.append(len(found.intersection(_nearest(project, question))) / 10)
    return statistics.mean(shares)


if __name__ == "__main__":
    main()
    sys.exit(finish())
