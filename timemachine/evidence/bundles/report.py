"""`report.html` in a bundle: a page for reading and printing, with no script and nothing loaded from elsewhere.

It is written from what the bundle discloses, so nothing withheld can be in it. Recorded text is made harmless here and escaped by the
template. The page alone proves nothing.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from django.template.loader import render_to_string

from timemachine.core.pure.numbers import UNKNOWN, counted, spaced
from timemachine.core.pure.safe_text import shown
from timemachine.core.pure.verdicts import times
from timemachine.evidence.pure.readme import of_earlier, of_link
from timemachine.evidence.pure.report_rows import Row, Rows, first_line
from timemachine.verifier.tm_verify import NOT_PROVEN, OF_REPLAYS

NAME: Final = "report.html"
TEMPLATE: Final = "evidence/report.html"
MOST_ERASURES: Final = 1_000
MOST_RECORDS: Final = 20
"""Records of one tombstone that are listed."""
TOMBSTONES: Final = ("erased", "erased_fields")
MOST_STATEMENT_VALUES: Final = 40
"""Values of the statement that are listed; metadata can be long."""
_ERASURE_COLUMNS: Final = ("entry", "what", "at", "by", "why")
_RECORD_COLUMNS: Final = ("record", "kind", "at", "first lines", "result")
_NOT_RECORDED: Final = "not recorded"

type Questions = Mapping[tuple[str, int], str]
"""The first line of a recorded question, by session and step."""
type Facts = list[tuple[str, str]]
"""Names with their values, harmless to show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A tree of the bundle: its statement, its records, and the key that signed its state."""

    stated: Mapping[str, Any]
    rows: Rows
    sealed_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """The entries of a log: how many there are, of which kind, and how many sealed things still exist.

    `erasures` has the first `MOST_ERASURES` tombstones and `replaced` the replaced keys, each with the number of its entry.
    """

    entries: int
    present: int
    kinds: Mapping[str, int]
    erasures: Sequence[tuple[int, Mapping[str, Any]]] = ()
    replaced: Sequence[tuple[int, Mapping[str, Any]]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A cell of a table: a text, or lines with a name each."""

    text: str = ""
    style: str = ""
    lines: Facts


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRow:
    """A row of a table, or a note across all its columns."""

    number: str = ""
    cells: Sequence[Cell] = ()
    wrong: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A tree as the page shows it: a title, sentences, and a table of its records."""

    title: str
    lines: list[str]
    rows: list[TableRow]
    columns: tuple[str, ...] = _RECORD_COLUMNS


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """A project's log as the page shows it."""

    counts: Facts
    kinds: Facts
    replaced: Facts
    erasures: list[TableRow]
    columns: tuple[str, ...] = _ERASURE_COLUMNS


def report(trees: Sequence[Shown], about: Mapping[str, Any], key: str) -> str:
    """Return the page of a bundle as HTML.

    The first of `trees` is the bundle's subject, `about` is what the statement says about it, `key` signs the statement.
    """
    first, questions = trees[0].stated, _questions(trees)
    replayed = any(each.stated["of"] != "session" for each in trees)
    page = _page(first, about, key, trees[0].sealed_by, replayed=replayed)
    return render_to_string(TEMPLATE, page | {"trees": [_tree(each, questions) for each in trees]})


def log_report(log: Mapping[str, Any], about: Mapping[str, Any], key: str, entries: Counts) -> str:
    """Return the page of the bundle of a project's log as HTML."""
    shown_log = Log(
        counts=[
            ("entries", f"{entries.entries:,}"),
            ("sealed items that still exist", f"{entries.present:,}"),
        ],
        kinds=_facts((spaced(name), f"{count:,}") for name, count in sorted(entries.kinds.items())),
        replaced=_facts(_replaced(entries)),
        erasures=list(_erasures(entries)),
    )
    page = _page(log, about, key, None, replayed=False)
    return render_to_string(
        TEMPLATE, page | {"log": shown_log, "title": f"Evidence of the log of project {log['id']}"}
    )


def sentence(rows: Rows) -> str:
    """Return the results of the steps of a replay or comparison, counted from the disclosed records."""
    statuses = ", ".join(times(count, name) for name, count in sorted(rows.statuses.items()))
    verdicts = ", ".join(times(count, name) for name, count in sorted(rows.verdicts.items()))
    noun = "answer" if rows.of == "comparison" else "step"
    steps = f"{counted(sum(rows.statuses.values()), noun)}: {statuses}."
    return f"{steps} Verdicts: {verdicts}." if verdicts else steps


def _page(
    first: Mapping[str, Any], about: Mapping[str, Any], key: str, sealed_by: str | None, *, replayed: bool
) -> dict[str, object]:
    facts = [
        ("records", f"{first['size']:,}"),
        ("sealed at", first["sealed_at"]),
        *([("more may come", "yes" if first["state"] == "open" else "no")] if "state" in first else []),
        ("root of the tree", first["root"]),
        *([("seal signed by", sealed_by)] if sealed_by else []),
        ("bundle signed by", key),
    ]
    values = islice(_flat(_without_link(about)), MOST_STATEMENT_VALUES)
    return {
        "title": _safe(f"Evidence of {first['of']} {first['id']}"),
        "facts": _facts(facts),
        "notes": [_safe(line) for line in (*of_link(about.get("link")), *of_earlier(first))],
        "key": key,
        "not_proven": [each for each in NOT_PROVEN if replayed or each != OF_REPLAYS],
        "statement": _facts((spaced(name), first_line(value)) for name, value in values),
    }


def _without_link(about: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the statement says about the sealed thing itself; several sessions are numbered."""
    sessions = about.get("sessions")
    rest = {name: value for name, value in about.items() if name not in {"link", "sessions"}}
    if not isinstance(sessions, list | tuple):
        return rest
    return {f"session {number}": each for number, each in enumerate(sessions, 1)} | rest


def _questions(trees: Sequence[Shown]) -> Questions:
    return {
        (str(each.stated["id"]), row.index): text
        for each in trees
        if each.rows.of == "session"
        for row in (*each.rows.first, *each.rows.last)
        for name, text in row.lines
        if name == "input"
    }


def _tree(each: Shown, questions: Questions) -> Tree:
    rows, stated = each.rows, each.stated
    return Tree(
        title=_safe(f"{stated['of'].capitalize()} {stated['id']}"),
        lines=[_safe(line) for line in _summary(stated, rows)],
        rows=list(_records(rows, questions)),
    )


def _summary(stated: Mapping[str, Any], rows: Rows) -> Iterator[str]:
    if rows.statuses:
        yield sentence(rows)
    part = "the first " if stated.get("state") == "open" else ""
    disclosed, sealed = sum(rows.disclosed.values()), sum(rows.sealed.values())
    yield f"The bundle contains {counted(rows.count, 'record')} of {part}{stated['size']:,} and discloses {disclosed:,} of {counted(sealed, 'field')}."
    withholds = stated.get("withholds", True)
    if rows.erased:
        names = "" if withholds else f". Tombstones in the log name them: {_listed(rows.erased)}"
        yield f"{counted(rows.erased.total(), 'field')} erased permanently, most recently at {_time(rows.erased_last or '')}{names}."
    if rows.withheld:
        why = "Withheld" if withholds else "Missing without a known tombstone"
        yield f"{why}: {_listed(rows.withheld)}. The seal still covers what is not disclosed, and cannot be guessed."


def _records(rows: Rows, questions: Questions) -> Iterator[TableRow]:
    yield from (_record(each, questions) for each in (*rows.first, *rows.wrong))
    if rows.omitted:
        wrong = f", {rows.wrong_omitted:,} of them with an error" if rows.wrong_omitted else ""
        also = ", and the first ones with an error in between" if rows.wrong else ""
        yield TableRow(
            note=f"{counted(rows.omitted, 'record')} not listed{wrong}. The list has the first and the last records{also}; the bundle has all of them."
        )
    yield from (_record(each, questions) for each in rows.last)


def _record(row: Row, questions: Questions) -> TableRow:
    question = [("question", questions.get(row.repeats, "not disclosed"))] if row.repeats else []
    source = [("session", f"{row.repeats[0]}, step {row.repeats[1]:,}")] if row.repeats else []
    return TableRow(
        number=f"{row.index:,}",
        wrong=row.wrong,
        cells=[
            _cell(spaced(row.kind), "short"),
            _cell(_time(row.at), "short"),
            Cell(lines=_facts((*question, *row.about, *source, *row.lines, *row.undisclosed))),
            _cell(row.result),
        ],
    )


def _replaced(entries: Counts) -> Iterator[tuple[str, str]]:
    for index, entry in entries.replaced:
        unread = " (the earlier key could not be read and did not sign this)" if "replaced" in entry else ""
        yield (
            f"entry {index:,}, {_time(str(entry.get('at') or UNKNOWN))}",
            f"{entry['replaces']} by {entry['key']}{unread}",
        )


def _erasures(entries: Counts) -> Iterator[TableRow]:
    for index, entry in entries.erasures:
        cells = (
            ("word", _erased(entry)),
            ("short", _time(str(entry.get("at") or UNKNOWN))),
            ("word", entry.get("by")),
            ("word", entry.get("reason")),
        )
        yield TableRow(
            number=f"{index:,}", cells=[_cell(value or _NOT_RECORDED, style) for style, value in cells]
        )
    number = sum(entries.kinds.get(kind, 0) for kind in TOMBSTONES)
    if more := number - len(entries.erasures):
        yield TableRow(
            note=f"{'1 more entry is' if more == 1 else f'{more:,} more entries are'} not listed. The bundle has all of them."
        )


def _erased(entry: Mapping[str, Any]) -> str:
    """What a tombstone is about: record N is step N, record 0 the sealed thing itself."""
    if "sealed_anew" in entry:
        return f"{entry['of']} {entry['id']}, resealed after an erasure as run {entry['sealed_anew']}"
    records = entry.get("records") or ()
    listed = [f"record {index}: {', '.join(names)}" for index, names in records[:MOST_RECORDS]]
    more = [f"and {counted(len(records) - len(listed), 'more record')}"] if len(records) > len(listed) else []
    return f"{entry['of']} {entry['id']}, {'; '.join([*listed, *more]) or 'all of it'}"


def _listed(names: Mapping[str, int]) -> str:
    return ", ".join(f"{name} of {counted(count, 'record')}" for name, count in sorted(names.items()))


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """The values of a JSON document with the path of their names; what was not recorded is left out."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(inner, f"{name} {key}".strip())
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _flat(inner, name)
    elif value not in (None, ""):
        yield name, str(value)


def _facts(facts: Iterable[tuple[str, Any]]) -> Facts:
    return [(_safe(name), _safe(value)) for name, value in facts]


def _cell(value: Any, style: str = "") -> Cell:
    return Cell(text=_safe(value), style=style, lines=[])


def _time(at: str) -> str:
    """An RFC 3339 time in UTC, to the second."""
    return f"{at[:10]} {at[11:19]} UTC" if at.endswith("Z") else at


def _safe(value: Any) -> str:
    """Recorded text without characters that could hide or reorder other text; the template escapes it."""
    return shown(str(value))
