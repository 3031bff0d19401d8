"""How fast steps are found across sessions by words, meaning and both, and how fast a worker indexes them.

Baseline in the same run: the labels of the same steps by ILIKE, as the filter of a timeline searches for words, newest first.
"""

import random
import sys
from collections.abc import Sequence
from functools import partial
from uuid import UUID

from bench.common.django_ready import analyze, new_project
from bench.common.report import figure, finish
from bench.common.timing import milliseconds, quantile, seconds
from timemachine.core.accounts.models import Project
from timemachine.memory.search import indexing
from timemachine.memory.search.filters import SearchOptions
from timemachine.memory.search.queries import search
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Action
from timemachine.recording.sessions.pure.draft import ActionDraft

SESSIONS, STEPS, RUNS = 100, 1_000, 40
VOCABULARY = 5_000


def main() -> None:
    chance = random.Random(7)
    words = [_word(chance) for _ in range(VOCABULARY)]
    project = new_project()
    for number in range(SESSIONS):
        session = start_session(project, name=f"run {number}", by="bench")
        append(session.id, [_draft(chance, words, number, step) for step in range(STEPS)])
    took = seconds(lambda: index(project.id))
    figure("steps indexed", Action.objects.filter(project=project).count() / took, "/s")
    figure("steps left", indexing.count_not_indexed(project), most=0)
    analyze()
    questions = [" ".join(chance.choices(words[50:2_000], k=2)) for _ in range(RUNS)]
    named = [f"run{n % SESSIONS}/module.py:{n % STEPS}" for n in range(RUNS)]
    base = quantile(milliseconds([partial(ilike, project, q) for q in questions]), 0.5)
    for mode in ("text", "semantic", "hybrid"):
        measure(f"{mode}, two words", project, questions, mode, base)
    measure("text, one word that most steps hold", project, [" ".join(words[:1])] * 5, "text", base)
    measure("hybrid, an identifier", project, named, "hybrid", base)


def measure(name: str, project: Project, questions: Sequence[str], mode: str, base: float) -> None:
    """Measure the median and p95 of several questions."""
    took = milliseconds([partial(ask, project, q, mode) for q in questions])
    figure(name, quantile(took, 0.5), "ms", against=("ILIKE over labels", base))
    figure(f"{name}, p95", quantile(took, 0.95), "ms")


def _word(chance: random.Random) -> str:
    return "".join(
        chance.choice("bdfgklmnprstv") + chance.choice("aeiou") for _ in range(chance.randint(2, 4))
    )


def _draft(chance: random.Random, words: Sequence[str], session: int, step: int) -> ActionDraft:
    """Return about fifty words, common ones more often than rare ones, and the name of a line in a file."""
    text = [words[min(VOCABULARY - 1, int(chance.paretovariate(0.6)) - 1)] for _ in range(50)]
    return ActionDraft(
        kind="tool_call",
        layer="tool",
        tool="read",
        input={"path": f"run{session}/module.py:{step}"},
        output=" ".join(text),
    )


def index(project_id: UUID) -> None:
    while indexing.index_new_steps(project_id):
        pass


def ask(project: Project, q: str, mode: str) -> None:
    search(project, SearchOptions(q=q, mode=mode), limit=10)


def ilike(project: Project, q: str) -> None:
    found = Action.objects.filter(project=project)
    for word in q.split():
        found = found.filter(label__icontains=word)
    list(found.order_by("-id")[:50])


if __name__ == "__main__":
    main()
    sys.exit(finish())
