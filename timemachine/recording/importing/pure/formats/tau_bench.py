"""Results of tau-bench: a list of `{task_id, trial, reward, info, traj}`, one session per task and trial.

The report counts runs (without their messages) and messages. The run is the final `event` of its session.
"""

from typing import Any, Final

from timemachine.recording.importing.pure.chat import chat_actions
from timemachine.recording.importing.pure.document import records_of
from timemachine.recording.importing.pure.jsonl import Line
from timemachine.recording.importing.pure.mapped_bytes import Contents
from timemachine.recording.importing.pure.opening import Opening
from timemachine.recording.importing.pure.report import Ledger, ParsedFile, SessionDraft, Skipped
from timemachine.recording.importing.pure.session_builder import (
    Ids,
    Keys,
    link_results,
    session_draft,
    unreadable_file,
)
from timemachine.recording.importing.pure.values import list_at, number, record_at, text_at
from timemachine.recording.sessions.pure.draft import ActionDraft

NAME: Final = "tau_bench"
TITLE: Final = "a tau-bench result file (a JSON list of runs, each with task_id, reward and traj)"
_STEM: Final = ActionDraft(kind="event", agent="agent")


def recognises(opening: Opening) -> bool:
    """Return whether one of the first records is a run of a task."""
    return any({"task_id", "traj"} <= record.keys() for record in opening.records)


def read(data: Contents) -> ParsedFile:
    """Return one session per run. Raises `InvalidInput` (`unknown_format`) if there are none."""
    ledger, keys = Ledger(), Keys(NAME)
    sessions = []
    for line in records_of(data, TITLE):
        if isinstance(line, Line) and isinstance(line.record.get("traj"), list):
            sessions.append(_session(line.record, ledger, keys))
        else:
            ledger.skip(
                line.reason if isinstance(line, Skipped) else "It has no `traj`, the messages of a run."
            )
    if not sessions:
        raise unreadable_file(TITLE, "no record in it has a `traj`.")
    return ledger.account(sessions)


def _session(run: dict[str, Any], ledger: Ledger, keys: Keys) -> SessionDraft:
    ids = Ids()
    actions: list[ActionDraft] = []
    for place, message in enumerate(run["traj"], start=1):
        if isinstance(message, dict):
            ledger.use()
            actions += chat_actions(message, _STEM, ids, f"message-{place}")
        else:
            ledger.skip("It is not a message, because it is not an object.")
    ledger.use()
    rest = {name: value for name, value in run.items() if name != "traj"}
    actions.append(
        ActionDraft(
            kind="event", id=ids.claim("result"), layer="sys", role="system", name="result",
            output={name: rest.get(name) for name in ("reward", "info")}, source=rest,
        )
    )  # fmt: skip
    task, trial = run.get("task_id"), run.get("trial")
    info = record_at(run, "info")
    instruction = text_at(record_at(info, "task"), "instruction")
    return session_draft(
        keys.of(None, run),
        link_results(actions),
        name=f"Task {task}, trial {trial}" + (f": {instruction}" if instruction else ""),
        agent="tau-bench",
        metadata={
            "task_id": task,
            "trial": trial,
            "reward": number(run.get("reward")),
            "user_id": text_at(record_at(info, "task"), "user_id"),
            "user_cost": number(info.get("user_cost")),
            "expected_actions": len(list_at(record_at(info, "task"), "actions")) or None,
        },
    )
