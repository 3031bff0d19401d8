"""Changes of files: unified diffs, the patches of Codex (`*** Begin Patch`), and old text that becomes new text."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Final, Literal

from timemachine.text.pure.difference.align import blocks
from timemachine.web.payloads.pure.pieces import Line, Patch, Plain

MOST_LINES: Final = 2_000
"""So many lines of old and new text are aligned; longer ones are shown one after the other."""
CONTEXT: Final = 3
_UNIFIED: Final = re.compile(r"^(?:diff --git .+|--- .+\n\+\+\+ .+\n@@ -.*)$|\A@@ -\d", re.MULTILINE)
_ENVELOPE: Final = re.compile(r"^\*\*\* Begin Patch$", re.MULTILINE)
_FILE: Final = re.compile(
    r"^(?=diff --git |--- .+\n\+\+\+ |\*\*\* (?:Add|Update|Delete) File: )", re.MULTILINE
)
_NAME: Final = re.compile(r"\*\*\* (Add|Update|Delete) File: (.+)|\+\+\+ (?:b/)?(.+)|--- (?:a/)?(.+)")
_WORDS: Final = {"Add": "new file", "Update": "changed", "Delete": "deleted"}
_ABOUT: Final = ("diff ", "index ", "--- ", "+++ ", "@@", "*** ", "\\ ")
_PATHS: Final = frozenset({"filepath", "path", "filename", "file", "targetfile", "absolutepath"})
_OLD: Final = frozenset({"oldstring", "oldstr", "oldtext"})
_NEW: Final = frozenset({"newstring", "newstr", "newtext"})
_CONTENT: Final = frozenset({"content", "filetext", "contents"})
_INSERTED: Final = frozenset({"newstr", "inserttext"})

Sign = Literal["-", "+", " ", "@"]


def is_patch(text: str) -> bool:
    """Return whether a text is or contains a patch."""
    return ("@@" in text or "*** " in text or "diff --git" in text) and bool(
        _UNIFIED.search(text) or _ENVELOPE.search(text)
    )


def patches(text: str) -> list[Patch | Plain]:
    """Return the patches in a text and the text before them; every line stays."""
    first = _ENVELOPE.search(text) or _UNIFIED.search(text)
    start = first.start() if first else 0
    before = text[:start].rstrip("\n")
    found: list[Patch | Plain] = [Plain(before)] if before else []
    sections = [each for each in _FILE.split(text[start:]) if each.strip("\n")]
    if len(sections) > 1 and sections[0].startswith("*** Begin Patch"):
        sections[:2] = [sections[0] + sections[1]]
    return [*found, *map(_of_section, _with_heads(sections))]


def _with_heads(sections: Iterable[str]) -> Iterator[str]:
    """Yield the sections, the lines from `diff --git` to `---` with those that follow."""
    head = ""
    for section in sections:
        if section.startswith("diff --git ") and "\n@@" not in section:
            if head:
                yield head
            head = section
        else:
            yield head + section
            head = ""
    yield from [head] if head else []


def _of_section(section: str) -> Patch:
    path, does = "", ""
    for found in _NAME.finditer(section):
        if found[1]:
            path, does = found[2], _WORDS[found[1]]
            break
        if (found[3] and found[3] != "/dev/null") or not path:
            path = (found[3] or found[4]).split("\t")[0]
    return Patch(path=path.strip(), does=does, lines=_lines(section.strip("\n").split("\n")))


def _lines(lines: Iterable[str]) -> list[Line]:
    signed = ((_sign(line), line) for line in lines)
    return [
        Line(sign, "\n".join(line[1:] if sign != "@" else line for _, line in group))
        for sign, group in groupby(signed, key=lambda each: each[0])
    ]


def _sign(line: str) -> Sign:
    if line.startswith(_ABOUT):
        return "@"
    return "-" if line[:1] == "-" else "+" if line[:1] == "+" else " " if line[:1] in ("", " ") else "@"


def edit(old: str, new: str) -> list[Line]:
    """Return the lines that lead from an old text to a new one, with `CONTEXT` unchanged lines around changes."""
    before, after = (text.split("\n") if text else [] for text in (old, new))
    if len(before) + len(after) > MOST_LINES:
        return [Line("-", old), Line("+", new)]
    ids: dict[str, int] = {}
    left, right = ([ids.setdefault(line, len(ids)) for line in side] for side in (before, after))
    found: list[Line] = []
    at_old = at_new = 0
    for same in [*blocks(left, right), None]:
        end_old, end_new = (same.old, same.new) if same else (len(before), len(after))
        _add(found, "-", before[at_old:end_old])
        _add(found, "+", after[at_new:end_new])
        if same:
            kept = before[same.old : same.old + same.length]
            _add_unchanged(found, kept, is_last=same.old + same.length == len(before))
            at_old, at_new = same.old + same.length, same.new + same.length
    return found


def _add(found: list[Line], sign: Sign, lines: Sequence[str]) -> None:
    if lines:
        found.append(Line(sign, "\n".join(lines)))


def _add_unchanged(found: list[Line], lines: Sequence[str], *, is_last: bool) -> None:
    first = lines[:CONTEXT] if found else []
    last = [] if is_last else lines[len(first) :][-CONTEXT:]
    hidden = len(lines) - len(first) - len(last)
    _add(found, " ", first)
    if hidden:
        found.append(Line("@", f"⋯ {hidden:,} unchanged line{'s' if hidden != 1 else ''}"))
    _add(found, " ", last)


def changes_of(value: dict[str, Any]) -> list[Patch] | None:
    """Return the patches of an object that has a unified diff by the path of each file, as Codex reports them; None for any other."""
    if not value or not all(
        isinstance(each, dict) and isinstance(each.get("unified_diff"), str) for each in value.values()
    ):
        return None
    return [
        Patch(
            path=path,
            does=str(each.get("type", "")),
            lines=_lines(each["unified_diff"].strip("\n").split("\n")),
        )
        for path, each in value.items()
    ]


def edits_of(value: dict[str, Any]) -> tuple[list[Patch], set[str]] | None:
    """Return the changes of files that a tool's arguments ask for, and the names of these arguments; None if they ask for none."""
    names = {name.replace("_", "").lower(): name for name in value}
    path = _text(value, names, _PATHS)
    if path is None:
        return None
    used = {names[each] for each in names if each in _PATHS}
    several = value.get("edits")
    if isinstance(several, list) and several and all(_change(each) for each in several):
        lines = [_change(each) or ("", "") for each in several]
        return [Patch(path=path, does="", lines=edit(*each)) for each in lines], used | {"edits"}
    return _one(value, names, path, used)


def _one(
    value: dict[str, Any], names: dict[str, str], path: str, used: set[str]
) -> tuple[list[Patch], set[str]] | None:
    command = value.get("command")
    change = _change(value)
    if change is not None:
        parts = used | {names[each] for each in names if each in _OLD | _NEW}
        return [Patch(path=path, does="", lines=edit(*change))], parts
    added = _text(value, names, _INSERTED) if command == "insert" else None
    if added is not None:
        does = f"inserted after line {value.get('insert_line', '?')}"
        parts = used | {names[each] for each in names if each in _INSERTED} | {"insert_line"}
        return [Patch(path=path, does=does, lines=[Line("+", added)])], parts
    written = _text(value, names, _CONTENT)
    if written is None or not (command == "create" or len(names) == 2):  # noqa: PLR2004
        return None
    parts = used | {names[each] for each in names if each in _CONTENT}
    return [Patch(path=path, does="whole file", lines=[Line("+", written)])], parts


def _change(value: Any) -> tuple[str, str] | None:
    if not isinstance(value, dict):
        return None
    names = {name.replace("_", "").lower(): name for name in value}
    old, new = _text(value, names, _OLD), _text(value, names, _NEW)
    return None if old is None or new is None else (old, new)


def _text(value: dict[str, Any], names: dict[str, str], known: frozenset[str]) -> str | None:
    found = next((value[name] for short, name in names.items() if short in known), None)
    return found if isinstance(found, str) else None
