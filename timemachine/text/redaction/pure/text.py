"""Redact a text: each finding is replaced by its mark, and all other characters stay.

Redacting twice gives the same as redacting once: marks are never part of a finding, and the text between them is
searched again until nothing is found.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from timemachine.text.redaction.pure.engine import custom, readable, spans
from timemachine.text.redaction.pure.identities import ibans_in, social_security_numbers_in
from timemachine.text.redaction.pure.images import images_in
from timemachine.text.redaction.pure.json_strings import strings_in
from timemachine.text.redaction.pure.machines import machines_in
from timemachine.text.redaction.pure.marks import NAMES, mark, spans_between_marks
from timemachine.text.redaction.pure.passwords import passwords_in
from timemachine.text.redaction.pure.people import cards_in, emails_in, phones_in
from timemachine.text.redaction.pure.rules import Rules
from timemachine.text.redaction.pure.secrets import secrets_in

_REPOSITORY: Final = "git@"
"""The begin of addresses of repositories (`git@github.com:a/b.git`), which look like addresses of people."""
ROUNDS: Final = 6
"""How often the remaining text is searched. If something is still found then, that entire span is withheld."""

_PLAIN: Final = {
    **{wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)},
    **dict.fromkeys((*range(0x2010, 0x2016), 0x2212, 0xFE58, 0xFE63), ord("-")),
    **dict.fromkeys((0xA0, 0x2007, 0x202F, 0x3000), ord(" ")),
}
"""Replacements for characters by those that patterns contain. One for one, so that all positions stay the same."""
_INVISIBLE: Final = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff]")


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Finding:
    """A match from `start` to before `end`. `rule` is the name in its mark, `what` its kind in words."""

    start: int
    end: int
    rule: str
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RedactedText:
    """The text with its marks, and what they replace: spans of `before` in order, without overlaps."""

    text: str
    before: str
    findings: Sequence[Finding] = ()

    def place(self, offset: int, *, end: bool = False) -> int:
        """Map a position in `before` to the redacted text.

        A position inside a finding becomes the start of its mark, or with `end` its end.
        """
        nth = bisect_right(self.findings, offset - end, key=lambda each: each.start)
        if not nth:
            return offset
        shift = sum(len(mark(each.rule)) - (each.end - each.start) for each in self.findings[:nth])
        last = self.findings[nth - 1]
        if offset < last.end:
            return last.end + shift - (0 if end else len(mark(last.rule)))
        return offset + shift


def redact_text(text: str, rules: Rules) -> RedactedText:
    """Redact a text."""
    found = findings_in(text, rules)
    if not found:
        return RedactedText(text=text, before=text)
    parts: list[str] = []
    begin = 0
    for each in found:
        parts += text[begin : each.start], mark(each.rule)
        begin = each.end
    return RedactedText(text="".join([*parts, text[begin:]]), before=text, findings=found)


def findings_in(text: str, rules: Rules) -> Sequence[Finding]:
    """Return the findings of the rules in a text, in order, with overlapping ones merged. Existing marks are skipped."""
    open_, found = spans_between_marks(text, rules.marks), []
    legible = readable(text)
    for turn in range(ROUNDS + 1):
        remaining = []
        for start, end in open_:
            within = _merged(_detected_in(legible[start:end], rules))
            if within and turn == ROUNDS:
                within = [Finding(start=0, end=end - start, rule=within[0].rule, what=within[0].what)]
            moved = [
                Finding(start=start + each.start, end=start + each.end, rule=each.rule, what=each.what)
                for each in within
            ]
            found += moved
            remaining += _between(start, end, moved)
        open_ = remaining
    return sorted(found)


def _detected_in(text: str, rules: Rules) -> Iterator[Finding]:
    for name in rules.detect:
        for start, end, what in _DETECT[name](text, rules):
            yield Finding(start=start, end=end, rule=NAMES[name], what=what or NAMES[name])
    for each in rules.patterns:
        for start, end in spans(custom(each.pattern, ignore_case=each.ignore_case), text):
            yield Finding(start=start, end=end, rule=each.name, what=each.name)
    if rules.texts is not None:
        for start, end in rules.texts.spans(text):
            yield Finding(start=start, end=end, rule=rules.texts.name, what=rules.texts.name)
    yield from _in_json_strings(text, rules)


def _in_json_strings(text: str, rules: Rules) -> Iterator[Finding]:
    for string, places in strings_in(text):
        for each in findings_in(string, rules):
            yield replace(each, start=places[each.start], end=places[each.end])


_DETECT: Final[dict[str, Callable[[str, Rules], Iterable[tuple[int, int, str]]]]] = {
    "secret": lambda text, rules: secrets_in(text, careful="password" in rules.detect),
    "email": lambda text, rules: (
        (*span, "")
        for span in _spans_folded(emails_in, text)
        if not ("password" in rules.detect and text.startswith(_REPOSITORY, span[0]))
    ),
    "phone": lambda text, rules: (
        (*span, "") for span in _spans_folded(partial(phones_in, regions=rules.phone_regions), text)
    ),
    "card": lambda text, _: ((*span, "") for span in _spans_folded(cards_in, text)),
    "iban": lambda text, _: ((*span, "") for span in _spans_folded(ibans_in, text)),
    "ssn": lambda text, _: ((*span, "") for span in _spans_folded(social_security_numbers_in, text)),
    "password": lambda text, _: passwords_in(text),
    "machine": lambda text, _: machines_in(text),
    "image": lambda text, _: ((*span, "") for span in images_in(text)),
}


def _spans_folded(find: Callable[[str], Iterable[tuple[int, int]]], text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans that `find` finds in a text however its characters are written, as spans of the text.

    It can have other hyphens, full-width digits, and invisible characters between.
    """
    if text.isascii():
        yield from find(text)
        return
    plain = text.translate(_PLAIN)
    if not _INVISIBLE.search(plain):
        yield from find(plain)
        return
    places = [place for place, each in enumerate(plain) if not _INVISIBLE.match(each)]
    for start, end in find("".join(plain[place] for place in places)):
        yield places[start], places[end - 1] + 1


def _before_others(found: Finding) -> tuple[int, int, bool]:
    """Sort by start, then longest. Among equal spans a phone number comes last: most other numbers look like one."""
    return found.start, -found.end, found.rule == NAMES["phone"]


def _merged(found: Iterator[Finding]) -> list[Finding]:
    """Return the findings in order. Overlapping ones become one, named after the first, or the longest of those."""
    merged: list[Finding] = []
    for each in sorted(found, key=_before_others):
        last = merged[-1] if merged else None
        if last is None or each.start >= last.end:
            merged.append(each)
        elif each.end > last.end:
            merged[-1] = Finding(start=last.start, end=each.end, rule=last.rule, what=last.what)
    return merged


def _between(start: int, end: int, found: Sequence[Finding]) -> list[tuple[int, int]]:
    """Return the spans between the findings, or none without findings, as then nothing needs another search."""
    if not found:
        return []
    begins = [start, *(each.end for each in found)]
    ends = [*(each.start for each in found), end]
    return [(low, high) for low, high in zip(begins, ends, strict=True) if high > low]
