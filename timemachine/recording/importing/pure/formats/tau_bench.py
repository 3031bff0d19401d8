"""Results of tau-bench: a list of `{task_id, trial, reward, info, traj}`, one session for each task and trial. Pure.

A record of the report is a run without its messages, or one of its messages. The run is an `event` at the end of its session.
"""

from typing import Any, Final

from timemachine.recording.importing.pure.chat import chat_actions
from timemachine.recording.importing.pure.document import records_of
from timemachine.recording.importing.pure.jsonl import Line
from timemachine.recording.importing.pure.mapped_bytes import Contents
from timemachine.recording.importing.pure.opening import Opening
from timemachine.recording.importing.pure.report import Imported, Ledger, SessionDraft, Skipped
from timemachine.recording.importing.pure.session_builder import Ids, Keys, hopeless, linked, session_of
from timemachine.recording.importing.pure.values import list_at, number, record_at, text_at
from timemachine.recording.sessions.pure.draft import ActionDraft

NAME: Final = "tau_bench"
TITLE: Final = "a tau-bench result file (a JSON list of runs, each with task_id, reward and traj)"
_STEM: Final = ActionDraft(kind="event", agent="agent")


def recognises(opening: Opening) -> bool:
    """Whether one of the first records is a run of a task."""
    return any({"task_id", "traj"} <= record.keys() for record in opening.records)


def read(data: Contents) -> Imported:
    """A session for each run. Raises `InvalidInput` (`unknown_format`) where there is none."""
    ledger, keys = Ledger(), Keys(NAME)
    sessions = []
    for line in records_of(data, TITLE):
        if isinstance(line, Line) and isinstance(line.record.get("traj"), list):
            sessions.append(_session(line.record, ledger, keys))
        else:
            ledger.skip(line.reason if isinstance(line, Skipped) else "It has no `traj`, a run's messages.")
    if not sessions:
        raise hopeless(TITLE, "no record in it has a `traj`.")
    return ledger.account(sessions)


def _session(run: dict[str, Any], ledger: Ledger, keys: Keys) -> SessionDraft:
    ids = Ids()
    actions: list[ActionDraft] = []
    for place, message in enumerate(run["traj"], start=1):
        if isinstance(message, dict):
            ledger.use()
            actions += chat_actions(message, _STEM, ids, f"message-{place}")
        else:
            ledger.skip("It is no message: no object.")
    ledger.use()
    rest = {name: value for name, value in run.items() if name != "traj"}
    actions.append(
        ActionDraft(
            kind="event", id=ids.claim("result"), layer="sys", role="system", name="result",
            output={name: rest.get(name) for name in ("reward", "info")}, source=rest,
        )
    )  # fmt: skip
    task, trial = run.get("task_id"), run.get("trial")
    told = record_at(run, "info")
    instruction = text_at(record_at(told, "task"), "instruction")
    return session_of(
        keys.of(None, run),
        linked(actions),
        name=f"Task {task}, trial {trial}" + (f": {instruction}" if instruction else ""),
        agent="tau-bench",
        metadata={
            "task_id": task,
            "trial": trial,
            "reward": number(run.get("reward")),
            "user_id": text_at(record_at(told, "task"), "user_id"),
            "user_cost": number(told.get("user_cost")),
            "expected_actions": len(list_at(record_at(told, "task"), "actions")) or None,
        },
    )
