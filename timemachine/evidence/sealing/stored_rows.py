"""What pages show of seals, keys and erasures, compared with what was signed and with the project's log."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from timemachine.core.pure.clock import written
from timemachine.evidence.log import keys
from timemachine.evidence.log.project_log import KEY, Entry, SignedLog, read_state
from timemachine.evidence.models import COMPARISON, EarlierSeal, ErasedField, Seal, SealCheckpoint, SigningKey
from timemachine.recording.sessions.models import ErasedTurn
from timemachine.replay.runs.models import ReplayStep

Report = Callable[[str, str, int | None], object]
"""Takes the code of a problem, its sentence and the record that it is about."""
Erasure = tuple[int, str, int | None, str | None, str, str]
"""The record, what was erased of it, the log entry (None for a whole step), when, by whom and why."""
_SAME_MOMENT: Final = timedelta(seconds=10)
"""How far apart the times of a replaced key and of its log entry are at most: one transaction writes both."""


def compare_states(seal: Seal, states: Sequence[SealCheckpoint], entries: SignedLog, report: Report) -> None:
    """Report each stored state of a seal that is not as it was signed and logged, and a seal that ends with a different record."""
    logged = entries.states_of(seal)
    for each in states:
        where = f"The stored checkpoint of {each.size:,} records"
        state = read_state(each.signed, each.key)
        if state is None or not state.is_signed:
            report("signature", f"{where} is not validly signed.", None)
            continue
        for name, here, right in (
            ("size", each.size, state.size),
            ("root", each.root_hex, state.root.hex()),
            ("time", written(each.at), state.lines.get("at")),
            ("state", each.state, state.lines.get("state")),
            ("key", each.key.fingerprint, keys.fingerprint(bytes(each.key.public_key))),
        ):
            if here != right:
                report("checkpoint", f"{where} has the {name} {here}. It must be {right}.", None)
        entry = logged.get(each.log_index, {})
        if (each.size, each.root_hex) != (entry.get("size"), entry.get("root")):
            says = f"{where} names entry {each.log_index:,} of the log, which is not about these records."
            report("checkpoint", says, None)
    last = max(states, key=lambda each: (each.size, each.id), default=None)
    if last and (seal.signed_size, seal.signed_at) != (last.size, last.at):
        says = (
            f"The seal says that {seal.signed_size:,} records were signed at {written(seal.signed_at)}. "
            f"It must be {last.size:,} records at {written(last.at)}."
        )
        report("checkpoint", says, None)
    _compare_keys({each.key_id: each.key for each in states}.values(), entries, report)


def _compare_keys(used: Iterable[SigningKey], entries: SignedLog, report: Report) -> None:
    for key in used:
        entry = next(
            (each for each in entries.with_text(f'"replaces":"{key.fingerprint}"') if each["entry"] == KEY),
            None,
        )
        logged = datetime.fromisoformat(entry["at"]) if entry else None
        if key.replaced_at is None or logged is None:
            is_same = key.replaced_at is logged
        else:
            is_same = abs(key.replaced_at - logged) <= _SAME_MOMENT
        if not is_same:
            says = (
                f"According to the database, the key {key.fingerprint} {_replaced(key.replaced_at)}. "
                f"According to the log, it {_replaced(logged)}."
            )
            report("key", says, None)


def _replaced(at: datetime | None) -> str:
    return "was not replaced" if at is None else f"was replaced at {written(at)}"


def compare_erasures(seal: Seal, entries: SignedLog, report: Report) -> None:
    """Report each stored erasure of a session or replay that is not in the log, and each in the log that is not stored."""
    if seal.of == COMPARISON:
        return
    found = entries.erasures_of(seal)
    here, right = {*_stored_fields(seal), *_stored_turns(seal)}, set(_logged(found))
    for index, what, entry, at, by, reason in sorted(here - right, key=str):
        named = "The log" if entry is None else f"Log entry {entry:,}"
        says = f"The database says that {what} was erased at {at} by {by} ({reason}). {named} has no such erasure."
        report("tombstone", says, index)
    for index, what, entry, at, by, reason in sorted(right - here, key=str):
        named = "The log" if entry is None else f"Log entry {entry:,}"
        says = (
            f"{named} says that {what} was erased at {at} by {by} ({reason}). The database has no such row."
        )
        report("tombstone", says, index)


def _stored_fields(seal: Seal) -> Iterator[Erasure]:
    of_it = {"replay": seal.replay_id} if seal.replay_id else {"session": seal.session_id, "replay": None}
    steps = ReplayStep.objects.filter(replay=seal.replay_id).order_by("sequence") if seal.replay_id else ()
    sequences = {0: 0, **dict(enumerate((each.sequence for each in steps), start=1))}
    for row in ErasedField.objects.filter(**of_it):
        place = sequences.get(row.index) if seal.replay_id else row.index
        what = row.field if place == row.sequence else f"{row.field} of step {row.sequence}"
        yield row.index, what, row.log_index, written(row.erased_at), row.erased_by, row.reason


def _stored_turns(seal: Seal) -> Iterator[Erasure]:
    for row in ErasedTurn.objects.filter(session=seal.session_id) if seal.session_id else ():
        yield row.sequence, "the step", None, written(row.erased_at), row.erased_by, row.reason


def _logged(entries: dict[int, Entry]) -> Iterator[Erasure]:
    for log_index, entry in entries.items():
        why = entry["at"], entry["by"], entry["reason"]
        for index, names in entry["records"]:
            yield from ((index, name, log_index, *why) for name in names)
        yield from ((index, "the step", None, *why) for index in entry.get("turns", ()))


def compare_earlier_seals(seal: Seal, entries: SignedLog, report: Report) -> None:
    """Report each earlier seal of a comparison that is not as the log has it."""
    for row in EarlierSeal.objects.filter(comparison=seal.comparison_id) if seal.comparison_id else ():
        logged = [
            (entry["size"], entry["root"], entry["at"], index)
            for index, entry in entries.states_of(seal, row.generation).items()
        ]
        stored = [
            tuple(each.get(name) for name in ("size", "root", "at", "log_index")) for each in row.states
        ]
        tombstone: Any = next(iter(entries.entries_at([row.log_index])), {})
        here = (seal.subject_id, row.generation, written(row.replaced_at), row.replaced_by, row.reason)
        right = tuple(tombstone.get(name) for name in ("id", "generation", "at", "by", "reason"))
        if (here, stored) != (right, logged):
            report("log", f"Its earlier seal {row.generation} is not as the project's log has it.", None)
