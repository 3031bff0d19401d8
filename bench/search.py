"""How fast steps are found across sessions by words, meaning and both, and how fast a worker indexes them.

Baseline in the same run: the labels of the same steps by ILIKE, as the filter of a timeline looks for words, with the newest first.
"""

import os
import random
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from uuid import UUID

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "timemachine.config.settings")
django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402

from timemachine.core.accounts.models import Project  # noqa: E402
from timemachine.memory.search import indexing  # noqa: E402
from timemachine.memory.search.filters import Wanted  # noqa: E402
from timemachine.memory.search.queries import search  # noqa: E402
from timemachine.recording.sessions.commands import append, start_session  # noqa: E402
from timemachine.recording.sessions.models import Action  # noqa: E402
from timemachine.recording.sessions.pure.draft import ActionDraft  # noqa: E402

SESSIONS, STEPS, RUNS = 100, 1_000, 40
VOCABULARY = 5_000


def main() -> None:
    call_command("migrate", verbosity=0, interactive=False)
    chance = random.Random(7)
    words = [_word(chance) for _ in range(VOCABULARY)]
    project = Project.objects.create(name="bench")
    for number in range(SESSIONS):
        session = start_session(project, name=f"run {number}", by="bench")
        append(session.id, [_draft(chance, words, number, step) for step in range(STEPS)])
    took = timed(lambda: index(project.id))
    steps = indexing.not_indexed(project), Action.objects.filter(project=project).count()
    print(f"indexed: {steps[1]:,} steps in {took:.0f} s, {steps[1] / took:,.0f}/s; {steps[0]:,} left")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    questions = [" ".join(chance.choices(words[50:2_000], k=2)) for _ in range(RUNS)]
    common = [" ".join(words[:1])] * 5
    base = report("baseline, ILIKE over labels", [partial(ilike, project, q) for q in questions])
    for mode in ("text", "semantic", "hybrid"):
        own = report(f"{mode}, two words", [partial(ask, project, q, mode) for q in questions])
        print(f"  ratio to the baseline: {own / base:.2f}")
    report("text, one word that most steps hold", [partial(ask, project, q, "text") for q in common])
    named = [f"run{n % SESSIONS}/module.py:{n % STEPS}" for n in range(RUNS)]
    report("hybrid, an identifier", [partial(ask, project, q, "hybrid") for q in named])


def _word(chance: random.Random) -> str:
    return "".join(
        chance.choice("bdfgklmnprstv") + chance.choice("aeiou") for _ in range(chance.randint(2, 4))
    )


def _draft(chance: random.Random, words: Sequence[str], session: int, step: int) -> ActionDraft:
    """About fifty words, common ones more often than rare ones, and the name of a place in a file."""
    said = [words[min(VOCABULARY - 1, int(chance.paretovariate(0.6)) - 1)] for _ in range(50)]
    return ActionDraft(
        kind="tool_call",
        layer="tool",
        tool="read",
        input={"path": f"run{session}/module.py:{step}"},
        output=" ".join(said),
    )


def index(project_id: UUID) -> None:
    while indexing.work_off(project_id):
        pass


def ask(project: Project, q: str, mode: str) -> None:
    search(project, Wanted(q=q, mode=mode), limit=10)


def ilike(project: Project, q: str) -> None:
    found = Action.objects.filter(project=project)
    for word in q.split():
        found = found.filter(label__icontains=word)
    list(found.order_by("-id")[:50])


def report(what: str, work: Sequence[Callable[[], None]]) -> float:
    """The median, in milliseconds, printed with the 95th percentile."""
    work[0]()
    took = sorted(timed(each) * 1000 for each in work)
    median = statistics.median(took)
    print(f"{what}: p50 {median:.1f} ms, p95 {took[int(len(took) * 0.95) - 1]:.1f} ms")
    return median


def timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
