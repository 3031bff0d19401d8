"""What a bundle's report shows of a tree, counted from what is disclosed while it is written. Pure."""

import json
import re
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from timemachine.core.pure.numbers import counted, spaced
from timemachine.core.pure.verdicts import OTHER_TOOL, verdict_in_words

FIRST: Final = 100  # records that are shown at either end, and of those in between that went wrong
_HIT: Final = re.compile(r"^hit\.\d+")
_LINE: Final = 160
_TEXTS: Final = ("input", "output")
NOT_RECORDED: Final = "not recorded"
_ERROR: Final = '"error":{'
Disclosed = Mapping[str, Sequence[str | None]]
"""The disclosed fields of a record: salt and text, or salt, None and the SHA-256 of a payload."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A record as a line of a table: the first lines of its texts by field, its result, if it went wrong.

    `about` names a cell's model and run, `repeats` the session and step of its question. `undisclosed` names
    the texts that are not disclosed, and why.
    """

    index: int
    kind: str
    at: str
    lines: tuple[tuple[str, str], ...]
    result: str
    wrong: bool
    about: tuple[tuple[str, str], ...] = ()
    repeats: tuple[str, int] | None = None
    undisclosed: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True, kw_only=True)
class Rows:
    """The records of a tree: their number, those that are shown, and counts of fields by name."""

    of: str
    count: int = 0
    sealed: Counter[str] = field(default_factory=Counter)
    disclosed: Counter[str] = field(default_factory=Counter)
    erased: Counter[str] = field(default_factory=Counter)
    erased_last: str | None = None
    statuses: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    first: list[Row] = field(default_factory=list)
    wrong: list[Row] = field(default_factory=list)
    last: deque[Row] = field(default_factory=deque)
    omitted: int = 0
    wrong_omitted: int = 0
    _marks: deque[tuple[str, str, frozenset[str]]] = field(default_factory=deque)
    _erased: dict[int, frozenset[str]] = field(default_factory=dict)

    def envelope(self, data: bytes) -> None:
        """Count the sealed fields of a record. Call it in the order in which `disclose` is called later."""
        text = data.decode("ascii")
        names = text.partition('"fields":{')[2].partition("}")[0].split('"')[1::4]
        self.sealed.update(map(group, names))
        kind = text.partition('"kind":"')[2].partition('"')[0]
        at = text.partition('"at":"')[2].partition('"')[0]
        self._marks.append((kind, at, frozenset(names).intersection(_TEXTS)))

    def erase(self, index: int, names: Mapping[str, str]) -> None:
        """Count the erased fields of a record, each with its time. Call it before `disclose`."""
        self._erased[index] = frozenset(names)
        self.erased.update(map(group, names))
        self.erased_last = max([*names.values(), self.erased_last or ""]) or None

    def disclose(self, index: int, disclosed: Disclosed) -> None:
        """Count the disclosed fields of the next record, and keep its row if it will be shown."""
        kind, at, texts = self._marks.popleft()
        erased = self._erased.pop(index, frozenset[str]())
        self.count += 1
        self.disclosed.update(map(group, disclosed))
        facts = _document(disclosed, "facts") if self.of != "session" else {}
        self._count(facts)
        undisclosed = tuple(
            (name, "erased" if name in erased else "not disclosed")
            for name in sorted(texts - disclosed.keys())
        )
        row = replace(_row(index, kind, at, disclosed, facts), undisclosed=undisclosed)
        if len(self.first) < FIRST:
            self.first.append(row)
            return
        self.last.append(row)
        if len(self.last) > FIRST:
            self._omit(self.last.popleft())

    def _count(self, facts: Mapping[str, Any]) -> None:
        if "status" in facts and "sequence" in facts:
            self.statuses[str(facts["status"])] += 1
            self.verdicts.update([str(facts["verdict"])] if "verdict" in facts else [])

    def _omit(self, row: Row) -> None:
        if row.wrong and len(self.wrong) < FIRST:
            self.wrong.append(row)
            return
        self.omitted += 1
        self.wrong_omitted += row.wrong

    @property
    def withheld(self) -> dict[str, int]:
        """Return how many fields of each name are sealed but neither disclosed nor erased."""
        left = self.sealed - self.disclosed - self.erased
        return dict(sorted(left.items()))


def group(name: str) -> str:
    """Return the name of a field without the number of its passage."""
    return _HIT.sub("hit.N", name)


def first_line(text: str) -> str:
    """Return the first non-empty line of a text, shortened if it is long."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= _LINE else f"{line[:_LINE]}…"


def _row(index: int, kind: str, at: str, disclosed: Disclosed, facts: Mapping[str, Any]) -> Row:
    has_error = "words" in disclosed and _ERROR in (disclosed["words"][1] or "")
    words = _document(disclosed, "words") if has_error else {}
    error = words.get("error")
    wrong = isinstance(error, dict) or facts.get("status") == "failed"
    found = [*_status(facts), *_verdict(disclosed, facts)]
    if isinstance(error, dict):
        found.append(": ".join(str(error[name]) for name in ("type", "message") if error.get(name)))
    return Row(
        index=index,
        kind=kind,
        at=at,
        lines=tuple((name, _first(disclosed[name])) for name in ("input", "output") if name in disclosed),
        result=first_line(", ".join(found)),
        wrong=wrong,
        about=tuple(_about(facts)),
        repeats=_repeats(facts),
    )


def _status(facts: Mapping[str, Any]) -> Iterator[str]:
    if facts.get("status") is not None:
        yield spaced(str(facts["status"]))


def _verdict(disclosed: Disclosed, facts: Mapping[str, Any]) -> Iterator[str]:
    verdict = facts.get("verdict")
    if verdict == OTHER_TOOL:  # the only one whose words need its evidence
        yield verdict_in_words(verdict, _evidence(disclosed))
    elif verdict is not None:
        yield verdict_in_words(str(verdict))


def _evidence(disclosed: Disclosed) -> Mapping[str, Any]:
    """Return the evidence of a verdict: a comparison's answer has it in a field of its own, a replay's step in its words."""
    found = {**_document(disclosed, "words"), **_document(disclosed, "evidence")}.get("evidence")
    return found if isinstance(found, dict) else {}


def _about(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the model and run of a cell, and the size of results."""
    if "arm" in facts:
        yield "model", str(facts.get("model") or NOT_RECORDED)
        yield "run", str(facts.get("run"))
    if isinstance(columns := facts.get("columns"), list):
        pairs = facts.get("pairs")
        number = len(pairs) if isinstance(pairs, list) else 0
        yield "figures", f"{counted(len(columns), 'column')}, {counted(number, 'pair')}"


def _repeats(facts: Mapping[str, Any]) -> tuple[str, int] | None:
    session, sequence = facts.get("session"), facts.get("sequence")
    return (session, sequence) if isinstance(session, str) and isinstance(sequence, int) else None


def _first(each: Sequence[str | None]) -> str:
    return f"in payloads.jsonl, {each[2]}" if each[1] is None else first_line(each[1])


def _document(disclosed: Disclosed, name: str) -> Mapping[str, Any]:
    if name not in disclosed:
        return {}
    found = json.loads(disclosed[name][1] or "{}")
    return found if isinstance(found, dict) else {}
