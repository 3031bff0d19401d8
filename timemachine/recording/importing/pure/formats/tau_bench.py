"""Results of tau-bench: a list of `{task_id, trial, reward, info, traj}`, one session per task and trial.

The report counts runs (without their messages) and messages. The run is the final `event` of its session.
"""

from typing import Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.importing.pure.chat import conversation_actions
from timemachine.recording.importing.pure.drafts import Ids, link_results, session_draft, system_event
from timemachine.recording.importing.pure.reader import Opening, Reader
from timemachine.recording.importing.pure.report import ParsedFile, SessionDraft
from timemachine.recording.importing.pure.values import list_at, number, record_at, text_at
from timemachine.recording.sessions.pure.draft import ActionDraft

NAME: Final = "tau_bench"
TITLE: Final = "tau-bench results (JSON list of runs, each with task_id, reward and traj)"


def recognises(opening: Opening) -> bool:
    """Return whether one of the first records is a run of a task."""
    return any({"task_id", "traj"} <= record.keys() for record in opening.records)


def read(reader: Reader) -> ParsedFile:
    """Return one session per run. Raises `InvalidInput` (`unknown_format`) if there are none."""
    runs = reader.records(
        lambda run: isinstance(run.get("traj"), list), "It has no `traj` (the messages of a run)."
    )
    sessions = [_session(run, reader) for run in runs]
    if not sessions:
        raise reader.refusal("no record in it has a `traj`.")
    return reader.parsed(sessions)


def _session(run: JsonObject, reader: Reader) -> SessionDraft:
    ids = Ids()
    actions = conversation_actions(run["traj"], ActionDraft(kind="event", agent="agent"), ids, reader)
    reader.use()
    rest = {name: value for name, value in run.items() if name != "traj"}
    outcome = {name: rest.get(name) for name in ("reward", "info")}
    actions.append(system_event("result", ids.claim("result"), source=rest, output=outcome))
    task, trial = run.get("task_id"), run.get("trial")
    info, about = record_at(run, "info"), record_at(run, "info", "task")
    instruction = text_at(about, "instruction")
    return session_draft(
        reader.key(None, run),
        link_results(actions),
        name=f"Task {task}, trial {trial}" + (f": {instruction}" if instruction else ""),
        agent="tau-bench",
        metadata={
            "task_id": task,
            "trial": trial,
            "reward": number(run.get("reward")),
            "user_id": text_at(about, "user_id"),
            "user_cost": number(info.get("user_cost")),
            "expected_actions": len(list_at(about, "actions")) or None,
        },
    )
