"""The triggers that the SQL files create, and what is wrong with those of a database.

Recorded data is append-only, counted and protected by legal holds because of them. Without one, seals still show that something
changed, but nothing prevents it.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

_CREATED: Final = re.compile(
    r"^CREATE TRIGGER (\w+)\s.*?\sON (\w+)\s.*?EXECUTE FUNCTION (\w+)\(", re.MULTILINE | re.DOTALL
)
_FIRES: Final = ("O", "A")
"""The values of `pg_trigger.tgenabled` with which a trigger fires outside a replica."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """A trigger of a table, the function that it calls, and the file with its statement."""

    table: str
    name: str
    function: str
    file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerFacts:
    """The triggers of a database by table and name, each with its function and `tgenabled`, and why none of them would fire.

    `replica` is a statement that ends `session_replication_role = replica`; None if it is not set.
    """

    present: Mapping[tuple[str, str], tuple[str, str]]
    replica: str | None


def triggers_in(files: Mapping[str, str]) -> list[Trigger]:
    """Return the triggers that SQL files create; the files are named and given as text."""
    return [
        Trigger(table=table, name=name, function=function, file=file)
        for file, text in files.items()
        for name, table, function in _CREATED.findall(text)
    ]


def trigger_problem(expected: Iterable[Trigger], facts: TriggerFacts) -> str | None:
    """Return what is wrong, and what to do, in one sentence about the first trigger; None if all of them fire."""
    if facts.replica:
        return (
            "No trigger of the database fires, because `session_replication_role` is `replica`, so recorded data can be "
            f"changed: {facts.replica}."
        )
    wrong = [each for each in expected if not _fires(each, facts)]
    if not wrong:
        return None
    first, others = wrong[0], len(wrong) - 1
    more = f" (and {others} more)" if others else ""
    subject = f"The trigger {first.name} of {first.table}{more}"
    function, enabled = facts.present.get((first.table, first.name), ("", ""))
    if function == first.function:
        how = "is disabled" if enabled == "D" else "fires only in replicas"
        todo = f"run `ALTER TABLE {first.table} ENABLE TRIGGER {first.name}` as the owner of the table"
    else:
        how = f"calls {function}" if function else "is missing"
        todo = f"create it as in timemachine/sql/{first.file}"
    return f"{subject} {how}, so the database does not protect what was recorded: {todo}, and find out who changed it."


def _fires(trigger: Trigger, facts: TriggerFacts) -> bool:
    function, enabled = facts.present.get((trigger.table, trigger.name), ("", ""))
    return function == trigger.function and enabled in _FIRES
