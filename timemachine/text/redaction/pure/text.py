"""A text without what the rules withhold: each finding becomes its mark, and every other character stays as it was. Pure.

What is withheld twice reads as what is withheld once: marks are never part of a finding, and what is left between them is
looked through again until nothing is found in it.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from timemachine.text.redaction.folding import spans_folded
from timemachine.text.redaction.pure.engine import custom, readable, spans
from timemachine.text.redaction.pure.findings import Finding
from timemachine.text.redaction.pure.identities import ibans_in, social_security_numbers_in
from timemachine.text.redaction.pure.marks import NAMES, mark, stretches
from timemachine.text.redaction.pure.people import cards_in, emails_in, phones_in
from timemachine.text.redaction.pure.rules import Rules
from timemachine.text.redaction.pure.secrets import secrets_in

ROUNDS: Final = 6
"""How often the rest is looked through; where something is still found then, the whole of that stretch is withheld."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A stretch of a redacted text: as it was recorded, or a mark, and then what it stands for."""

    text: str
    finding: Finding | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RedactedText:
    """The text with its marks, and what they stand for: spans of the text before, in order, none touching another's inside."""

    text: str
    before: str
    findings: Sequence[Finding] = ()

    def place(self, offset: int, *, end: bool = False) -> int:
        """Where a character of the text before is now; one inside a finding is where its mark begins, or as an `end` where it ends."""
        nth = bisect_right(self.findings, offset - end, key=lambda each: each.start)
        if not nth:
            return offset
        shift = sum(len(mark(each.rule)) - (each.end - each.start) for each in self.findings[:nth])
        last = self.findings[nth - 1]
        if offset < last.end:
            return last.end + shift - (0 if end else len(mark(last.rule)))
        return offset + shift

    def pieces(self) -> Iterator[Piece]:
        """The redacted text in its stretches."""
        begin = 0
        for each in self.findings:
            if each.start > begin:
                yield Piece(text=self.before[begin : each.start])
            yield Piece(text=mark(each.rule), finding=each)
            begin = each.end
        if begin < len(self.before):
            yield Piece(text=self.before[begin:])


def redact_text(text: str, rules: Rules) -> RedactedText:
    """The text as whoever may not see it reads it."""
    found = findings_in(text, rules)
    if not found:
        return RedactedText(text=text, before=text)
    redacted = RedactedText(text="", before=text, findings=found)
    return replace(redacted, text="".join(each.text for each in redacted.pieces()))


def findings_in(text: str, rules: Rules) -> Sequence[Finding]:
    """What the rules withhold of a text: spans in order, those that overlap put together. Marks that stand in it are left alone."""
    open_, found = stretches(text, rules.marks), []
    legible = readable(text)
    for turn in range(ROUNDS + 1):
        left = []
        for start, end in open_:
            within = _merged(_found_in(legible[start:end], rules))
            if within and turn == ROUNDS:
                within = [Finding(start=0, end=end - start, rule=within[0].rule, what=within[0].what)]
            moved = [
                Finding(start=start + each.start, end=start + each.end, rule=each.rule, what=each.what)
                for each in within
            ]
            found += moved
            left += _between(start, end, moved)
        open_ = left
    return sorted(found)


def _found_in(text: str, rules: Rules) -> Iterator[Finding]:
    for name in rules.detect:
        for start, end, what in _DETECT[name](text, rules):
            yield Finding(start=start, end=end, rule=NAMES[name], what=what or NAMES[name])
    for each in rules.patterns:
        for start, end in spans(custom(each.pattern, ignore_case=each.ignore_case), text):
            yield Finding(start=start, end=end, rule=each.name, what=each.name)
    if rules.texts is not None:
        for start, end in rules.texts.spans(text):
            yield Finding(start=start, end=end, rule=rules.texts.name, what=rules.texts.name)


_DETECT: Final[dict[str, Callable[[str, Rules], Iterable[tuple[int, int, str]]]]] = {
    "secret": lambda text, _: secrets_in(text),
    "email": lambda text, _: ((*span, "") for span in spans_folded(emails_in, text)),
    "phone": lambda text, rules: (
        (*span, "") for span in spans_folded(partial(phones_in, regions=rules.phone_regions), text)
    ),
    "card": lambda text, _: ((*span, "") for span in spans_folded(cards_in, text)),
    "iban": lambda text, _: ((*span, "") for span in spans_folded(ibans_in, text)),
    "ssn": lambda text, _: ((*span, "") for span in spans_folded(social_security_numbers_in, text)),
}


def _before_others(found: Finding) -> tuple[int, int, bool]:
    """What begins first, then the longest; of two that are the same stretch a phone number is what most other numbers could be."""
    return found.start, -found.end, found.rule == NAMES["phone"]


def _merged(found: Iterator[Finding]) -> list[Finding]:
    """The findings in order; those that overlap are one, called after the one that begins first, the longest of those."""
    merged: list[Finding] = []
    for each in sorted(found, key=_before_others):
        last = merged[-1] if merged else None
        if last is None or each.start >= last.end:
            merged.append(each)
        elif each.end > last.end:
            merged[-1] = Finding(start=last.start, end=each.end, rule=last.rule, what=last.what)
    return merged


def _between(start: int, end: int, found: Sequence[Finding]) -> list[tuple[int, int]]:
    """The stretches that are left beside what was found; none where nothing was, for then there is nothing to look through again."""
    if not found:
        return []
    begins = [start, *(each.end for each in found)]
    ends = [*(each.start for each in found), end]
    return [(low, high) for low, high in zip(begins, ends, strict=True) if high > low]
