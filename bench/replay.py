"""How fast the asks of a session are replayed: with the local model, with the engine alone, and with concurrent slow calls.

The recorded session has `ASKS` asks over passages of Cranfield's abstracts.
Baselines in the same run: answering and grounding the same asks without the engine; the ideal rate of a model that
takes `CALL_MS` when the maximum number of calls is always running. The slow model is a stub on the loopback, and a replay of
`WARMING` asks runs before it: the first call of a worker imports the vendor's client, which takes about a second. A call takes about
22 ms of processor time over all processes: 8 here, 10 in the helper process, 3 in Postgres and 1.5 in the stub.
Model calls with recorded requests are compared with sending the same requests without the engine, to a model that takes no time.
The first divergence is looked for in two sessions of `STEPS` steps. Every answer of the second has other words, and only its last
call of a tool has other arguments, so that every pair of steps is compared. That comes first, in a process that holds as little
as one that serves pages.
"""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from statistics import median

import httpx2
from django.conf import settings

from bench.common import cranfield
from bench.common.django_ready import new_project
from bench.common.report import figure, finish
from timemachine.core.accounts.models import Project
from timemachine.core.pure.content import sha256_hex
from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.calling import complete
from timemachine.llm.pure.catalogue import ModelName
from timemachine.llm.pure.completion import ModelRequest, recorded_request
from timemachine.llm.pure.requests.recorded_requests import read_request
from timemachine.llm.queries import connection_of, usable_model
from timemachine.recording.answering.model_asks import CallParameters, answer
from timemachine.recording.answering.pure.prompt import Passage
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft, RetrievalDraft
from timemachine.replay.alignment.divergence import first_divergence
from timemachine.replay.alignment.queries import aligned
from timemachine.replay.alignment.runs import Run
from timemachine.replay.alignment.steps import steps_of
from timemachine.replay.runs.commands import launch
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.runs.worker import work

ASKS = int(os.environ.get("ASKS", "1000"))
PASSAGES, CALL_MS, SLOW_ASKS, WARMING = 8, 200, 800, 16
RUNS, FEW = 5, 90
CALLS, MESSAGES, OTHER_MODEL = 1_000, 20, "openai:gpt-4o"
STEPS, PER_TURN = 10_000, 4
TOOLS = [{"type": "function", "function": {"name": "read_file", "parameters": {"type": "object"}}}]


def main() -> None:
    project = new_project()
    divergence(project)
    questions = unanswered_asks(ASKS)
    local = usable_model(project.id, "local:extractive-3")
    began = time.perf_counter()
    asks = [answered(project, local, question) for question in questions]
    alone = time.perf_counter() - began
    session = recorded(project, asks)
    audit = ReplayOptions(audit=True, reason="bench", use_model=str(local))
    took = timed_work(launch(session, audit, by="bench"))
    without = ("answered without the engine in one process", alone)
    figure(f"{ASKS:,} asks audited with {local}", took, "s", against=without, ratio_most=2.5)
    engine_alone(project, local, questions)
    checked = launch(session, ReplayOptions(audit=True, reason="bench"), by="bench")
    figure("checked against their own context, no model called", timed_work(checked), "s", against=without)
    concurrent_calls(project, asks[:SLOW_ASKS])
    model_calls(project)


def model_calls(project: Project) -> None:
    """Measure what the engine adds to a recorded model call, compared with sending the same requests from as many threads."""
    with model_that_takes(0) as address:
        os.environ |= {"OPENAI_BASE_URL": f"{address}/v1", "OPENAI_API_KEY": "sk-none"}
        calls = [call_of_messages(number) for number in range(CALLS)]
        requests = [sent_again(project, call) for call in calls]
        complete(requests[0])  # imports the vendor's client
        began = time.perf_counter()
        with ThreadPoolExecutor(settings.MODEL_CALLS_AT_ONCE) as threads:
            list(threads.map(complete, requests))
        alone = (time.perf_counter() - began) / CALLS * 1000
        options = ReplayOptions(audit=True, reason="bench", use_model=OTHER_MODEL)
        took = timed_work(launch(recorded(project, calls), options, by="bench")) / CALLS * 1000
    name = f"of the engine a model call of {MESSAGES} messages, {CALLS:,} calls"
    figure(name, took - alone, "ms", against=("sent without the engine", alone), most=8)


def call_of_messages(number: int) -> ActionDraft:
    """Return a recorded model call whose request has `MESSAGES` messages with calls of tools and their results."""
    messages: list[JsonObject] = [{"role": "system", "content": "You read files."}]
    for turn in range((MESSAGES - 2) // 2):
        function = {"name": "read_file", "arguments": json.dumps({"path": f"{number}/{turn}.txt"})}
        call = {"id": f"c{turn}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{turn}", "content": f"Line {turn}. " * 40})
    messages.append({"role": "user", "content": f"What do the files of run {number} say?"})
    request = {"model": "gpt-4o-mini", "messages": messages, "tools": TOOLS}
    return ActionDraft(kind="llm_call", input=request, output="They say little.", model="openai:gpt-4o-mini")


def sent_again(project: Project, call: ActionDraft) -> ModelRequest:
    request = read_request(call.input, {})
    model = usable_model(project.id, OTHER_MODEL)
    return recorded_request(model, connection_of(project.id, model), request or sys.exit("No request."))


def divergence(project: Project) -> None:
    """Measure finding the first divergence of two long sessions, compared with reading their steps."""
    one, other = (recorded(project, turns(words, path)) for words, path in (("So", "a"), ("Then", "b")))
    began = time.perf_counter()
    for session in (one, other):
        steps_of(Run(session=session), only_replayed=False)
    reading = time.perf_counter() - began
    began = time.perf_counter()
    found = first_divergence(aligned(project, str(one.id), str(other.id)))
    took = time.perf_counter() - began
    if found is None or found.left != STEPS - PER_TURN + 1:
        sys.exit(f"The divergence was not found: {found}.")
    name = f"the first divergence of two sessions of {STEPS:,} steps"
    figure(name, took, "s", against=("reading the steps of both", reading), most=1)


def turns(words: str, last: str) -> list[ActionDraft]:
    """Return the steps of a session in turns of a model call, its answer, a tool call and its result."""
    count = STEPS // PER_TURN
    return [
        step
        for turn in range(count)
        for step in turn_of(turn, words, last if turn == count - 1 else f"{turn}.txt")
    ]


def turn_of(turn: int, words: str, path: str) -> Iterator[ActionDraft]:
    """Yield the steps of a turn in which the model says some words and reads a file."""
    text, arguments = f"{words} file {turn} is next. It holds what was asked for.", {"path": path}
    call = {"type": "tool_use", "id": f"c{turn}", "name": "read_file", "input": arguments}
    output = {"role": "assistant", "content": [{"type": "text", "text": text}, call]}
    yield ActionDraft(kind="llm_call", output=output, model="openai:gpt-4o-mini")
    yield ActionDraft(kind="message", role="agent", output=text)
    yield ActionDraft(kind="tool_call", tool="read_file", call_id=f"c{turn}", input=arguments)
    yield ActionDraft(kind="tool_result", tool="read_file", call_id=f"c{turn}", output=f"Line {turn}. " * 40)


def engine_alone(project: Project, local: ModelName, questions: Sequence[ActionDraft]) -> None:
    """Measure what the engine adds to a step in a single thread: too few asks to be worth a helper process."""
    overheads, alone = [], []
    for first in range(0, min(ASKS, RUNS * FEW), FEW):
        began = time.perf_counter()
        asks = [answered(project, local, question) for question in questions[first : first + FEW]]
        alone.append((time.perf_counter() - began) / len(asks) * 1000)
        options = ReplayOptions(audit=True, reason="bench", use_model=str(local))
        took = timed_work(launch(recorded(project, asks), options, by="bench"))
        overheads.append(took / len(asks) * 1000 - alone[-1])
    name = f"of the engine a step, of {FEW} asks by one thread"
    figure(name, median(overheads), "ms", against=("an answer alone", median(alone)))


def concurrent_calls(project: Project, asks: Sequence[ActionDraft]) -> None:
    """Measure the rate with a slow model, compared with the ideal one."""
    with model_that_takes(CALL_MS) as address:
        os.environ |= {"OPENAI_BASE_URL": f"{address}/v1", "OPENAI_API_KEY": "sk-none"}
        options = ReplayOptions(audit=True, reason="bench", use_model="openai:gpt-4o")
        timed_work(launch(recorded(project, asks[:WARMING]), options, by="bench"))
        session = recorded(project, asks)
        took = timed_work(launch(session, options, by="bench"))
    limit = settings.MODEL_CALLS_AT_ONCE
    ideal = limit * 1000 / CALL_MS
    name = f"{len(asks)} calls of {CALL_MS} ms, {limit} side by side"
    figure(name, len(asks) / took, "/s", against=("the ideal rate", ideal), ratio_least=0.8)


@contextmanager
def model_that_takes(milliseconds: float) -> Iterator[str]:
    """Return the address of a stub in a separate process, so that it shares no interpreter with the engine."""
    command = [sys.executable, "-m", "tests.stub_model_server", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            address = (process.stdout or sys.exit("The stub says nothing.")).readline().strip()
            script = {"answer": "The boundary layer is thin.", "mode": "slow", "seconds": milliseconds / 1000}
            httpx2.post(f"{address}/script", json=script).raise_for_status()
            yield address
        finally:
            process.terminate()


def answered(project: Project, model: ModelName, ask: ActionDraft) -> ActionDraft:
    """Return the ask with the answer that the model gives."""
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


def unanswered_asks(number: int) -> list[ActionDraft]:
    """Return asks over changing passages, not answered yet."""
    abstracts, questions = cranfield.with_text(), cranfield.questions()
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


def passages_of(ask: ActionDraft) -> list[Passage]:
    hits = ask.retrieval.hits if ask.retrieval else ()
    return [Passage(frame=hit.frame, title=hit.title or "", text=hit.text or "") for hit in hits]


if __name__ == "__main__":
    main()
    sys.exit(finish())
