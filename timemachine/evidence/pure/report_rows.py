"""What the report of a bundle shows of a tree: counted while the bundle is written, of what the bundle tells and nothing else. Pure."""

import json
import re
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from timemachine.core.pure.numbers import counted, spaced

FIRST: Final = 100  # records at either end that are shown; and of those between them, as many in which something went wrong
_HIT: Final = re.compile(r"^hit\.\d+")
_LINE: Final = 160
_TEXTS: Final = ("input", "output")
NOT_RECORDED: Final = "not recorded"
_ERROR: Final = '"error":{'
Told = Mapping[str, Sequence[str | None]]
"""The fields of a record as the bundle tells them: salt and text, or salt, nothing and the SHA-256 of a payload."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A record as a line of a table: its first lines by the name of their field, what was found of it, and whether it went wrong.

    `about` says of a cell which model answered, `repeats` of which session and step the question was; `untold` is which of its texts are not
    told, and why.
    """

    index: int
    kind: str
    at: str
    lines: tuple[tuple[str, str], ...]
    found: str
    wrong: bool
    about: tuple[tuple[str, str], ...] = ()
    repeats: tuple[str, int] | None = None
    untold: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True, kw_only=True)
class Rows:
    """The records of a tree: how many there are, the lines that are shown, and how many fields of which name are sealed, told, and
    erased for good, the last of them when.
    """

    of: str
    count: int = 0
    sealed: Counter[str] = field(default_factory=Counter)
    told: Counter[str] = field(default_factory=Counter)
    erased: Counter[str] = field(default_factory=Counter)
    erased_last: str | None = None
    statuses: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    first: list[Row] = field(default_factory=list)
    wrong: list[Row] = field(default_factory=list)
    last: deque[Row] = field(default_factory=deque)
    left_out: int = 0
    wrong_left_out: int = 0
    _marks: deque[tuple[str, str, frozenset[str]]] = field(default_factory=deque)
    _erased: dict[int, frozenset[str]] = field(default_factory=dict)

    def envelope(self, data: bytes) -> None:
        """Count what is sealed of a record, from its envelope; in the order in which the records are told of later."""
        text = data.decode("ascii")
        names = text.partition('"fields":{')[2].partition("}")[0].split('"')[1::4]
        self.sealed.update(map(group, names))
        kind = text.partition('"kind":"')[2].partition('"')[0]
        at = text.partition('"at":"')[2].partition('"')[0]
        self._marks.append((kind, at, frozenset(names).intersection(_TEXTS)))

    def erase(self, index: int, names: Mapping[str, str]) -> None:
        """Count the fields of a record that are erased for good, by when they were; before the record is told of."""
        self._erased[index] = frozenset(names)
        self.erased.update(map(group, names))
        self.erased_last = max([*names.values(), self.erased_last or ""]) or None

    def tell(self, index: int, told: Told) -> None:
        """Count what is told of the next record, and keep its line where it will be shown."""
        kind, at, texts = self._marks.popleft()
        erased = self._erased.pop(index, frozenset[str]())
        self.count += 1
        self.told.update(map(group, told))
        facts = _document(told, "facts") if self.of != "session" else {}
        self._count(facts)
        untold = tuple(
            (name, "erased" if name in erased else "not told") for name in sorted(texts - told.keys())
        )
        row = replace(_row(index, kind, at, told, facts), untold=untold)
        if len(self.first) < FIRST:
            self.first.append(row)
            return
        self.last.append(row)
        if len(self.last) > FIRST:
            self._left_out(self.last.popleft())

    def _count(self, facts: Mapping[str, Any]) -> None:
        if "status" in facts and "sequence" in facts:
            self.statuses[str(facts["status"])] += 1
            self.verdicts.update([str(facts["verdict"])] if "verdict" in facts else [])

    def _left_out(self, row: Row) -> None:
        if row.wrong and len(self.wrong) < FIRST:
            self.wrong.append(row)
            return
        self.left_out += 1
        self.wrong_left_out += row.wrong

    @property
    def withheld(self) -> dict[str, int]:
        """How many fields of each name are sealed and not told, but for those that are erased."""
        left = self.sealed - self.told - self.erased
        return dict(sorted(left.items()))


def group(name: str) -> str:
    """The name of a field without the number of its passage."""
    return _HIT.sub("hit.N", name)


def first_line(text: str) -> str:
    """The first line of a text in which anything stands, cut where it is long."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= _LINE else f"{line[:_LINE]}…"


def _row(index: int, kind: str, at: str, told: Told, facts: Mapping[str, Any]) -> Row:
    words = _document(told, "words") if _has_error(told) else {}
    error = words.get("error")
    wrong = isinstance(error, dict) or facts.get("status") == "failed"
    found = [spaced(str(facts[name])) for name in ("status", "verdict") if facts.get(name) is not None]
    if isinstance(error, dict):
        found.append(": ".join(str(error[name]) for name in ("type", "message") if error.get(name)))
    return Row(
        index=index,
        kind=kind,
        at=at,
        lines=tuple((name, _first(told[name])) for name in ("input", "output") if name in told),
        found=first_line(", ".join(found)),
        wrong=wrong,
        about=tuple(_about(facts)),
        repeats=_repeats(facts),
    )


def _about(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Of a cell which model answered, in which run; of the figures how much is compared."""
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


def _has_error(told: Told) -> bool:
    return "words" in told and _ERROR in (told["words"][1] or "")


def _first(each: Sequence[str | None]) -> str:
    """The first line of a field; one that stands in another file is named there."""
    return f"in payloads.jsonl, {each[2]}" if each[1] is None else first_line(each[1])


def _document(told: Told, name: str) -> Mapping[str, Any]:
    if name not in told:
        return {}
    found = json.loads(told[name][1] or "{}")
    return found if isinstance(found, dict) else {}
