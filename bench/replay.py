"""How fast the asks of a session are replayed: with the local model, with the engine alone, and with slow calls side by side.

The recorded session has `ASKS` asks over passages of Cranfield's abstracts (`RETRIEVAL_DIR` names the folder that has them).
Baselines in the same run: answering and grounding the same asks with no engine around them; the ideal rate of a model that
takes `CALL_MS` when as many calls as may be are always under way. The slow model is a stub on the loopback, and a replay of
`WARMING` asks goes before it: the first call of a worker imports the vendor's client, which takes about a second.

Two cores with nothing else to do, 22 November 2026: 1,000 asks in 8.4 s (answered with no engine in one process: 4.1 s; checked
against their own context: 4.8 s), 5.7 ms of engine a step in the median (3.7 to 6.1), 83 % of the ideal rate. A call takes about
22 ms of processor over all processes: 8 here, 10 to think beside, 3 in Postgres and 1.5 in the stub.
"""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median

import django
import httpx2

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "timemachine.config.settings")
os.environ.setdefault("OPENAI_API_KEY", "sk-none")
django.setup()

from django.conf import settings  # noqa: E402
from django.core.management import call_command  # noqa: E402

from timemachine.core.accounts.models import Project  # noqa: E402
from timemachine.core.pure.content import sha256_hex  # noqa: E402
from timemachine.llm.pure.catalogue import ModelName  # noqa: E402
from timemachine.llm.queries import usable_model  # noqa: E402
from timemachine.recording.answering.model_asks import CallParameters, ContextPassage, answer  # noqa: E402
from timemachine.recording.sessions.commands import append, start_session  # noqa: E402
from timemachine.recording.sessions.models import Session  # noqa: E402
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft, RetrievalDraft  # noqa: E402
from timemachine.replay.runs.commands import launch  # noqa: E402
from timemachine.replay.runs.models import Replay  # noqa: E402
from timemachine.replay.runs.pure.options import ReplayOptions  # noqa: E402
from timemachine.replay.runs.worker import work  # noqa: E402

FOLDER = Path(os.environ.get("RETRIEVAL_DIR", Path(__file__).parents[1] / ".." / "shared" / "retrieval"))
ASKS = int(os.environ.get("ASKS", "1000"))
PASSAGES, CALL_MS, SLOW_ASKS, WARMING = 8, 200, 800, 16
RUNS, FEW = 5, 90


def main() -> None:
    if not (FOLDER / "cranfield_frames.jsonl").exists():
        sys.exit(f"No cranfield_frames.jsonl in {FOLDER}; RETRIEVAL_DIR names the folder that has it.")
    call_command("migrate", verbosity=0, interactive=False)
    project = Project.objects.create(name="bench")
    local = usable_model(project.id, "local:extractive-3")
    questions = asked(ASKS)
    began = time.perf_counter()
    asks = [answered(project, local, question) for question in questions]
    alone = time.perf_counter() - began
    session = recorded(project, asks)
    replay = launch(session, ReplayOptions(audit=True, reason="bench", use_model=str(local)), by="bench")
    took = timed_work(replay)
    print(
        f"{ASKS:,} asks audited with {local}: {took:.1f} s; baseline, answered with no engine in one process: {alone:.1f} s"
    )
    engine_alone(project, local, questions)
    checked = launch(session, ReplayOptions(audit=True, reason="bench"), by="bench")
    print(f"checked against their own context, no model called: {timed_work(checked):.1f} s")
    side_by_side(project, asks[:SLOW_ASKS])


def engine_alone(project: Project, local: ModelName, questions: Sequence[ActionDraft]) -> None:
    """Print what the engine adds to a step where one thread does all: too few asks to be worth a process beside."""
    overheads = []
    for first in range(0, min(ASKS, RUNS * FEW), FEW):
        began = time.perf_counter()
        asks = [answered(project, local, question) for question in questions[first : first + FEW]]
        alone = time.perf_counter() - began
        options = ReplayOptions(audit=True, reason="bench", use_model=str(local))
        took = timed_work(launch(recorded(project, asks), options, by="bench"))
        overheads.append((took - alone) / len(asks) * 1000)
    print(
        f"{len(overheads)} replays of {FEW} asks by one thread: {median(overheads):.1f} ms of engine a step in the median"
        f" (from {min(overheads):.1f} to {max(overheads):.1f})"
    )


def side_by_side(project: Project, asks: Sequence[ActionDraft]) -> None:
    """Print the rate with a model that takes its time, beside the ideal one."""
    with slow_model() as address:
        os.environ["OPENAI_BASE_URL"] = f"{address}/v1"
        options = ReplayOptions(audit=True, reason="bench", use_model="openai:gpt-4o")
        timed_work(launch(recorded(project, asks[:WARMING]), options, by="bench"))
        session = recorded(project, asks)
        took = timed_work(launch(session, options, by="bench"))
    at_once = settings.MODEL_CALLS_AT_ONCE
    ideal = len(asks) * CALL_MS / 1000 / at_once
    print(
        f"{len(asks)} calls of {CALL_MS} ms, {at_once} side by side: {took:.1f} s; baseline, ideal: {ideal:.1f} s;"
        f" {ideal / took:.0%} of the ideal rate"
    )


@contextmanager
def slow_model() -> Iterator[str]:
    """The address of a stub in a process of its own, so that it shares no interpreter with the engine."""
    command = [sys.executable, "-m", "tests.stub_model_server", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            address = (process.stdout or sys.exit("The stub says nothing.")).readline().strip()
            script = {"answer": "The boundary layer is thin.", "mode": "slow", "seconds": CALL_MS / 1000}
            httpx2.post(f"{address}/script", json=script).raise_for_status()
            yield address
        finally:
            process.terminate()


def answered(project: Project, model: ModelName, ask: ActionDraft) -> ActionDraft:
    """The ask with the answer that the model gives."""
    given = answer(project.id, model, ask.input["question"], passages_of(ask), CallParameters())
    return replace(ask, output={"answer": given.text}, model=given.model, grounding=given.grounding)


def timed_work(replay: Replay) -> float:
    began = time.perf_counter()
    work(replay.id, "bench")
    took = time.perf_counter() - began
    statuses = Counter(replay.steps.values_list("status", flat=True))
    if set(statuses) != {"done"}:
        sys.exit(f"Not every step is done: {dict(statuses)}.")
    return took


def recorded(project: Project, asks: Sequence[ActionDraft]) -> Session:
    session = start_session(project, name="bench", by="bench")
    for first in range(0, len(asks), 500):
        append(session.id, asks[first : first + 500])
    session.refresh_from_db()
    return session


def asked(number: int) -> list[ActionDraft]:
    """Asks over changing passages, not answered yet."""
    abstracts = [line for line in lines("cranfield_frames.jsonl") if line["text"].strip()]
    questions = [line["text"] for line in lines("cranfield_queries_1_to_100.jsonl")]
    found = []
    for n in range(number):
        context = [abstracts[(n * 3 + at) % len(abstracts)] for at in range(PASSAGES)]
        retrieval = RetrievalDraft(
            mode="hybrid", top_k=PASSAGES, hits=tuple(map(hit, range(1, PASSAGES + 1), context))
        )
        question = questions[n % len(questions)]
        found.append(ActionDraft(kind="ask", input={"question": question}, retrieval=retrieval))
    return found


def hit(rank: int, line: dict[str, str]) -> HitDraft:
    text = line["text"]
    return HitDraft(
        rank=rank, title=line["title"], text=text, sha256=sha256_hex(text.encode()), frame=text[:20]
    )


def passages_of(ask: ActionDraft) -> list[ContextPassage]:
    hits = ask.retrieval.hits if ask.retrieval else ()
    return [ContextPassage(frame=hit.frame, title=hit.title or "", text=hit.text or "") for hit in hits]


def lines(name: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in (FOLDER / name).read_text().splitlines() if line.strip()]


if __name__ == "__main__":
    main()
