"""The report in a bundle: a page for reading and printing, with no script and nothing from outside. Pure.

It is written from what the bundle tells, so that nothing withheld can be in it, and everything recorded in it is escaped. It proves nothing by itself.
"""

import html
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from timemachine.core.pure.formatting import UNKNOWN, counted, spaced, times
from timemachine.core.pure.safe_text import shown
from timemachine.evidence.pure.readme import of_earlier, of_link
from timemachine.evidence.pure.report_rows import Row, Rows, first_line
from timemachine.verifier.tm_verify import NOT_PROVEN, OF_REPLAYS

NAME: Final = "report.html"
MOST_ERASURES: Final = 1_000
MOST_RECORDS: Final = 20  # of one tombstone
TOMBSTONES: Final = ("erased", "erased_fields")
MOST_SAID: Final = 40  # values of the statement; metadata can be long
_STYLE: Final = """
:root { color-scheme: light dark; --quiet: color-mix(in srgb, currentColor 70%, transparent); --hair: color-mix(in srgb, currentColor 25%, transparent); }
body { font: 14px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.25; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; break-after: avoid; }
.quiet, th, dt { color: var(--quiet); } .mono, pre { font-family: ui-monospace, monospace; font-size: .9em; }
pre { white-space: pre-wrap; border: 1px solid var(--hair); padding: .5rem; }
dl { display: grid; grid-template-columns: minmax(8rem, max-content) 1fr; gap: .25rem 1rem; } dd { margin: 0; }
table { border-collapse: collapse; width: 100%; } th { text-align: start; font-weight: 600; }
th { white-space: nowrap; } th, td { padding: .25rem .75rem .25rem 0; border-bottom: 1px solid var(--hair); vertical-align: top; }
td.number, th.number { text-align: end; white-space: nowrap; } tr { break-inside: avoid; } thead { display: table-header-group; }
.wrong td { font-weight: 600; } td p { margin: 0; } .short { white-space: nowrap; } .word { overflow-wrap: break-word; }
@media screen and (width < 42rem) {
  dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .5rem; }
  table, tbody, tr { display: block; } thead { position: absolute; clip-path: inset(50%); }
  tr { padding: .5rem 0; border-bottom: 1px solid var(--hair); } td { display: inline-block; padding: 0 .75rem 0 0; border: 0; }
  td:not(.short, .number) { display: block; padding: 0; }
}
@page { size: A4; margin: 16mm; }
@media print { body { font-size: 10px; margin: 0; max-width: none; } }
"""
_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
"""
_OF_ERASURES: Final = ("entry", "what", "at", "by", "why")
_COLUMNS: Final = ("record", "kind", "at", "first lines", "result")

Asked = Mapping[tuple[str, int], str]
"""The first line of a recorded question, by session and step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A tree of the bundle: what the statement says of it, its records, and the key that signed its state."""

    stated: Mapping[str, Any]
    rows: Rows
    sealed_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many entries a log has, of which kind, how many sealed things are there, and, by their entry, the first `MOST_ERASURES` of its
    tombstones and which keys were replaced by which.
    """

    entries: int
    present: int
    kinds: Mapping[str, int]
    erasures: Sequence[tuple[int, Mapping[str, Any]]] = ()
    replaced: Sequence[tuple[int, Mapping[str, Any]]] = ()


def report(trees: Sequence[Shown], about: Mapping[str, Any], key: str) -> str:
    """The page of the bundle of these trees, the first of which is its subject; `about` is what the statement says of it, `key` signs that."""
    first, asked = trees[0].stated, _asked(trees)
    parts = [
        *_head(first, about, key, trees[0].sealed_by),
        *(part for each in trees for part in _tree(each, asked)),
        *_how(key, replayed=any(each.stated["of"] != "session" for each in trees)),
    ]
    return _page(f"Evidence of {first['of']} {first['id']}", parts)


def log_report(log: Mapping[str, Any], about: Mapping[str, Any], key: str, entries: Counts) -> str:
    """The page of the bundle of a project's log."""
    parts = [
        *_head(log, about, key, None),
        "<h2>What is in it</h2>",
        _facts(
            [("entries", f"{entries.entries:,}"), ("sealed things that are there", f"{entries.present:,}")]
        ),
        _facts((spaced(name), f"{count:,}") for name, count in sorted(entries.kinds.items())),
        *_replaced(entries),
        *_erasures(entries),
        "<p>The verifier names what was sealed, never erased, and is not there any more, and what has another root than it had.</p>",
        *_how(key, replayed=False),
    ]
    return _page(f"Evidence of the log of project {log['id']}", parts)


def _replaced(entries: Counts) -> Iterator[str]:
    """Which key was replaced by which; the verifier says whether the earlier one signed that."""
    if not entries.replaced:
        return
    yield "<h2>Keys that were replaced</h2>"
    yield _facts(
        (
            f"entry {index:,}, {_time(str(said.get('at') or UNKNOWN))}",
            f"{said['replaces']} by {said['key']}{_unread(said)}",
        )
        for index, said in entries.replaced
    )
    yield "<p>What an earlier key signed stays signed by it. The verifier says whether it signed the log in which it was replaced.</p>"


def _unread(said: Mapping[str, Any]) -> str:
    return (
        " (the earlier one could not be read any more, and did not sign that)" if "replaced" in said else ""
    )


def _erasures(entries: Counts) -> Iterator[str]:
    """What was erased, when, by whom and why, as the tombstones say it."""
    number = sum(entries.kinds.get(kind, 0) for kind in TOMBSTONES)
    if not number:
        return
    yield "<h2>What was erased for good</h2>"
    head = "".join(f'<th scope="col"{_number(name)}>{name}</th>' for name in _OF_ERASURES)
    yield f"<table><thead><tr>{head}</tr></thead><tbody>"
    for index, said in entries.erasures:
        at = _time(str(said.get("at") or UNKNOWN))
        cells = (
            ("word", _erased(said)),
            ("short", at),
            ("word", said.get("by")),
            ("word", said.get("reason")),
        )
        told = "".join(
            f'<td class="{kind}"><bdi>{_text(each or "not recorded")}</bdi></td>' for kind, each in cells
        )
        yield f'<tr><td class="number">{index:,}</td>{told}</tr>'
    if left := number - len(entries.erasures):
        says = f"{counted(left, 'entry') if left == 1 else f'{left:,} entries'} more left out here. All are in the bundle."
        yield f'<tr><td colspan="{len(_OF_ERASURES)}">{says}</td></tr>'
    yield "</tbody></table>"


def _erased(said: Mapping[str, Any]) -> str:
    """What a tombstone is of: record N is the Nth step, record 0 the thing itself. A comparison whose seal was replaced is still there."""
    if "sealed_anew" in said:
        return f"{said['of']} {said['id']}, sealed anew after an erasure, as run {said['sealed_anew']}"
    records = said.get("records") or ()
    shown = [f"record {index}: {', '.join(names)}" for index, names in records[:MOST_RECORDS]]
    more = [f"and {counted(len(records) - len(shown), 'record')} more"] if len(records) > len(shown) else []
    return f"{said['of']} {said['id']}, {'; '.join([*shown, *more]) or 'all of it'}"


def _page(title: str, parts: Iterable[str]) -> str:
    return _PAGE.format(title=_text(title), style=_STYLE, body="\n".join(parts))


def _head(
    first: Mapping[str, Any], about: Mapping[str, Any], key: str, sealed_by: str | None
) -> Iterator[str]:
    yield f"<h1>Evidence of {_text(first['of'])} {_text(first['id'])}</h1>"
    yield (
        "<p>This page tells what is in the bundle that it came with. It proves nothing by itself: whoever can change the file can change this page. "
        "Check the bundle as it is said below: then this page is what was signed with it, and no program has compared its words with the records.</p>"
    )
    facts = [
        ("records", f"{first['size']:,}"),
        ("sealed at", first["sealed_at"]),
        *([("more may come", "yes" if first["state"] == "open" else "no")] if "state" in first else []),
        ("root of the tree", first["root"]),
        *([("seal signed by", sealed_by)] if sealed_by else []),
        ("bundle signed by", key),
    ]
    yield _facts(facts)
    yield from (f"<p>{_text(line)}</p>" for line in (*of_link(about.get("link")), *of_earlier(first)))
    said = [
        (spaced(name), first_line(value)) for name, value in islice(_flat(_of_the_thing(about)), MOST_SAID)
    ]
    if said:
        yield "<h2>What the statement says of it</h2>"
        yield '<p class="quiet">Said and signed when the bundle was made, and not sealed: people may change it.</p>'
        yield _facts(said)


def _of_the_thing(about: Mapping[str, Any]) -> Mapping[str, Any]:
    """What is said of what was sealed, without what is said of the link; each of several sessions apart, by its number."""
    sessions = about.get("sessions")
    left = {name: value for name, value in about.items() if name not in {"link", "sessions"}}
    if not isinstance(sessions, list | tuple):
        return left
    return {f"session {number}": each for number, each in enumerate(sessions, 1)} | left


def _asked(trees: Sequence[Shown]) -> Asked:
    """The first lines of the recorded questions that are told, by session and step."""
    return {
        (str(each.stated["id"]), row.index): text
        for each in trees
        if each.rows.of == "session"
        for row in (*each.rows.first, *each.rows.last)
        for name, text in row.lines
        if name == "input"
    }


def _tree(each: Shown, asked: Asked) -> Iterator[str]:
    stated, rows = each.stated, each.rows
    yield f"<h2>{_text(stated['of'].capitalize())} {_text(stated['id'])}</h2>"
    if rows.statuses:
        yield f"<p>{_text(sentence(rows))}</p>"
    here, part = counted(rows.count, "record"), "its first " if stated.get("state") == "open" else ""
    yield f"<p>{here} of {part}{stated['size']:,} in the bundle, {sum(rows.told.values()):,} of {counted(sum(rows.sealed.values()), 'field')} told.</p>"
    withholds = stated.get("withholds", True)
    if rows.erased:
        gone = counted(rows.erased.total(), "field")
        which = "" if withholds else f", with a tombstone in the log: {_text(_listed(rows.erased))}"
        yield f"<p>{gone} erased for good, the last at {_text(_time(rows.erased_last or ''))}{which}.</p>"
    if rows.withheld:
        why = "withheld" if withholds else "not there, and no tombstone is known of it"
        yield f"<p>Not told, because it is {why}: {_text(_listed(rows.withheld))}. What is not told stays proven, and cannot be guessed at.</p>"
    yield from _table(rows, asked)


def _listed(names: Mapping[str, int]) -> str:
    return ", ".join(f"{name} of {counted(count, 'record')}" for name, count in sorted(names.items()))


def sentence(rows: Rows) -> str:
    """What became of the steps of a replay or comparison, by what is told of them."""
    statuses = ", ".join(times(count, name) for name, count in sorted(rows.statuses.items()))
    verdicts = ", ".join(times(count, name) for name, count in sorted(rows.verdicts.items()))
    noun = "answer" if rows.of == "comparison" else "step"
    steps = f"{counted(sum(rows.statuses.values()), noun)}: {statuses}."
    return f"{steps} Verdicts: {verdicts}." if verdicts else steps


def _table(rows: Rows, asked: Asked) -> Iterator[str]:
    head = "".join(f'<th scope="col"{_number(name)}>{name}</th>' for name in _COLUMNS)
    yield f"<table><thead><tr>{head}</tr></thead><tbody>"
    yield from (_row(each, asked) for each in rows.first)
    yield from (_row(each, asked) for each in rows.wrong)
    if rows.left_out:
        wrong = f", {rows.wrong_left_out:,} of them with an error" if rows.wrong_left_out else ""
        also = ", and of those between them the first with an error" if rows.wrong else ""
        says = f"{counted(rows.left_out, 'record')} left out here{wrong}: the first and the last are shown{also}. All are in the bundle."
        yield f'<tr><td colspan="{len(_COLUMNS)}">{says}</td></tr>'
    yield from (_row(each, asked) for each in rows.last)
    yield "</tbody></table>"


def _row(row: Row, asked: Asked) -> str:
    question = [("question", asked.get(row.repeats, "not told"))] if row.repeats else []
    whose = [("session", f"{row.repeats[0]}, step {row.repeats[1]:,}")] if row.repeats else []
    lines = "".join(
        f'<p><span class="quiet">{name}</span> <bdi>{_text(text)}</bdi></p>'
        for name, text in (*question, *row.about, *whose, *row.lines, *row.untold)
    )
    return (
        f'<tr{' class="wrong"' if row.wrong else ""}><td class="number">{row.index:,}</td><td class="short">{_text(spaced(row.kind))}</td>'
        f'<td class="short">{_text(_time(row.at))}</td><td>{lines}</td><td><bdi>{_text(row.found)}</bdi></td></tr>'
    )


def _number(name: str) -> str:
    return ' class="number"' if name in (_COLUMNS[0], _OF_ERASURES[0]) else ""


def _how(key: str, *, replayed: bool) -> Iterator[str]:
    yield "<h2>How to check it</h2>"
    yield (
        "<p>With Python 3.10 or newer, without a network. Take tm_verify.py from the source or another server of Time Machine and the key's fingerprint from the project's "
        "administrators: from somewhere else than from whoever gave you the bundle.</p>"
    )
    yield f"<pre>python3 tm_verify.py THIS.zip --key {_text(key)}</pre>"
    yield "<h2>What it does not prove</h2>"
    yield (
        "<ul>"
        + "".join(f"<li>{_text(each)}</li>" for each in NOT_PROVEN if replayed or each != OF_REPLAYS)
        + "</ul>"
    )


def _facts(facts: Iterable[tuple[str, Any]]) -> str:
    return (
        "<dl>"
        + "".join(f"<dt>{_text(name)}</dt><dd><bdi>{_text(value)}</bdi></dd>" for name, value in facts)
        + "</dl>"
    )


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """The values in a document by the path of their names; those that were not recorded are left out."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(inner, f"{name} {key}".strip())
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _flat(inner, name)
    elif value not in (None, ""):
        yield name, str(value)


def _time(at: str) -> str:
    """A time of RFC 3339 in UTC, to the second."""
    return f"{at[:10]} {at[11:19]} UTC" if at.endswith("Z") else at


def _text(value: Any) -> str:
    """Anything recorded, harmless and escaped."""
    return html.escape(shown(str(value)))
