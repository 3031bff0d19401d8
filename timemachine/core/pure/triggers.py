"""The triggers and functions that the SQL files create, and what is wrong with those of a database.

Recorded data is append-only, counted and protected by legal holds because of them. Without one, seals still show that something
changed, but nothing prevents it.

Versions of PostgreSQL write the definition of a trigger in slightly different ways, so the words in it are compared, and
bodies of functions without comments and line breaks.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import batched
from typing import Final

_TRIGGER: Final = re.compile(
    r"^CREATE TRIGGER (\w+)\s.*?\sON (\w+)\s.*?EXECUTE FUNCTION (\w+)\([^)]*\)", re.MULTILINE | re.DOTALL
)
_FUNCTION: Final = re.compile(r"^CREATE (?:OR REPLACE )?FUNCTION (?:public\.)?(\w+)\(", re.MULTILINE)
_BODY: Final = re.compile(r"\sAS \$\$(.*?)\$\$", re.DOTALL)
_COMMENT: Final = re.compile(r"--.*")
_WORD: Final = re.compile(r"'[^']*'|\w+")
_NOT_COMPARED: Final = frozenset(
    ("public", "row", "in", "any", "array", "or", "as", "jsonb", "text", "character", "varying")
)
"""Words that PostgreSQL adds to the definition of a trigger or leaves out of it."""
_HARMLESS_SETTING: Final = "search_path="
_FIRES: Final = ("O", "A")
"""The values of `pg_trigger.tgenabled` with which a trigger fires outside a replica."""
_CONSEQUENCE: Final = "so the database does not protect what was recorded"
_AFTERWARDS: Final = "and find out who changed it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """A trigger of a table, the function that it calls, the words of its definition, and the file with its statement."""

    table: str
    name: str
    function: str
    words: frozenset[str]
    file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A function with a body in quotes, and the file with its statement."""

    name: str
    body: str
    file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """The triggers and functions that the SQL files create."""

    triggers: Sequence[Trigger]
    functions: Sequence[Function]


@dataclass(frozen=True, slots=True, kw_only=True)
class PresentTrigger:
    """What a database says about a trigger: the function that it calls, `tgenabled`, and its definition."""

    function: str
    enabled: str
    definition: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PresentFunction:
    """What a database says about a function: its body, and the settings that it makes while it runs."""

    body: str
    settings: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerFacts:
    """The triggers of a database by table and name, its functions by name, and why none of the triggers would fire.

    `replica` is a statement that ends `session_replication_role = replica`; None if it is not set.
    With `is_newer`, a newer version has migrated this database, so its definitions may differ.
    """

    triggers: Mapping[tuple[str, str], PresentTrigger]
    functions: Mapping[str, Sequence[PresentFunction]]
    replica: str | None
    is_newer: bool


def schema_in(files: Mapping[str, str]) -> Schema:
    """Return what SQL files create; the files are named and given as text."""
    return Schema(
        triggers=[
            Trigger(table=found[2], name=found[1], function=found[3], words=_words(found[0]), file=file)
            for file, text in files.items()
            for found in _TRIGGER.finditer(text)
        ],
        functions=[each for file, text in files.items() for each in _functions(file, text)],
    )


def _functions(file: str, text: str) -> Iterator[Function]:
    """Yield the functions of a file. Those with `BEGIN ATOMIC` have no text that could be compared; no trigger calls them."""
    _, *parts = _FUNCTION.split(text)
    for name, rest in batched(parts, 2, strict=True):
        body = _BODY.search(rest)
        if body:
            yield Function(name=name, body=body[1], file=file)


def trigger_problem(expected: Schema, facts: TriggerFacts) -> str | None:
    """Return what is wrong, and what to do, in one sentence about the first trigger or function; None if all are as expected."""
    if facts.replica:
        return (
            "No trigger of the database fires, because `session_replication_role` is `replica`, so recorded data can be "
            f"changed: {facts.replica}."
        )
    wrong = [problem for each in expected.triggers if (problem := _trigger_problem(each, facts))]
    if wrong:
        subject, how, todo = wrong[0]
    else:
        replaced = (
            [] if facts.is_newer else [each for each in expected.functions if not _is_same(each, facts)]
        )
        if not replaced:
            return None
        subject, how = f"The function {replaced[0].name}", "is not the one that Time Machine created"
        todo = f"create it as in timemachine/sql/{replaced[0].file}"
        wrong = [(each.name, how, todo) for each in replaced]
    more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
    return f"{subject}{more} {how}, {_CONSEQUENCE}: {todo}, {_AFTERWARDS}."


def _trigger_problem(trigger: Trigger, facts: TriggerFacts) -> tuple[str, str, str] | None:
    """Return subject, predicate and what to do; None if the trigger fires as it should."""
    present = facts.triggers.get((trigger.table, trigger.name))
    subject = f"The trigger {trigger.name} of {trigger.table}"
    create = f"create it as in timemachine/sql/{trigger.file}"
    if present is None:
        return subject, "is missing", create
    if present.function != trigger.function:
        return subject, f"calls {present.function}", create
    if present.enabled not in _FIRES:
        how = "is disabled" if present.enabled == "D" else "fires only in replicas"
        enable = f"ALTER TABLE {trigger.table} ENABLE TRIGGER {trigger.name}"
        return subject, how, f"run `{enable}` as the owner of the table"
    if not facts.is_newer and _words(present.definition) != trigger.words:
        return subject, "is not the one that Time Machine created", create
    return None


def _is_same(function: Function, facts: TriggerFacts) -> bool:
    """Return whether the database has exactly this function, which sets nothing that the body does not."""
    present = facts.functions.get(function.name, ())
    return [_plain(each.body) for each in present] == [_plain(function.body)] and all(
        setting.startswith(_HARMLESS_SETTING) for each in present for setting in each.settings
    )


def _words(definition: str) -> frozenset[str]:
    return frozenset(map(str.lower, _WORD.findall(_COMMENT.sub("", definition)))) - _NOT_COMPARED


def _plain(body: str) -> str:
    return " ".join(_COMMENT.sub("", body).split())
