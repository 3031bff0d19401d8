"""What an answer with other numbers or names adds, leaves out or replaces, in words."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from timemachine.core.pure.numbers import counted
from timemachine.text.pure.difference.answers import Answers
from timemachine.text.pure.language.numbers import CITATION, missing_numbers
from timemachine.text.pure.language.statement import Statement
from timemachine.text.pure.language.units import CURRENCIES, UNITS
from timemachine.text.pure.language.words import FUNCTION_WORDS

_LONGEST: Final = 90
_CITED: Final = re.compile(rf"\s*{CITATION}\s*$")
_MOST_LISTED: Final = 3
_MOST_WORDS: Final = 3
_RANGE: Final = re.compile(r"\s?[-–—]\s?| to ")
# A number without a unit, and not a year.
_BARE: Final = re.compile(r"(?!(?:19|20)\d\d\b)\d[\d.,]*")
_REST_OF_RANGE: Final = re.compile(rf"(?:{_RANGE.pattern})\d[\d.,]*")
_NUMBER: Final = re.compile(r"\d[\d.,]*")
# A word before the number that may be what it numbers: "section 5", "plan 2".
_LABELLED: Final = re.compile(
    rf"(?<![\w’'-])(?!(?:{'|'.join(sorted(FUNCTION_WORDS))})\b)[^\W\d_][\w’'-]*\s$", re.IGNORECASE
)
_WORD: Final = re.compile(r"[$€£¥₹%]|[^\W\d_]+")
_KINDS: Final = {**dict.fromkeys(CURRENCIES.values(), "money"), "s": "time", "month": "time"}
_CLOCK: Final = frozenset({"am", "pm"})
_NEXT_WORD: Final = re.compile(r"[ \u00a0]([^\W\d_][\w’'-]*)")


def sentence_changes(recorded: str, new: str) -> str:
    """Return what the new answer says besides or instead of what the recorded one says; empty if it changes a number or
    a name in a sentence that both have."""
    if _NUMBER.sub("", recorded) == _NUMBER.sub("", new):
        return ""
    answers = Answers.of(recorded, new)
    omitted, added = answers.unrelated
    if omitted and added:
        if not any(map(_has_words, added)) or any(pair.new in added for pair in answers.pairs):
            return ""
        if not answers.shared and not answers.pairs:
            return f"The new answer says something different: {quoted([each.text for each in added])}"
    related = answers.related
    names = [each for side in related.missing_names for each in side if each.certain]
    if names or any(related.missing_numbers()):
        return ""
    parts = [
        f"{does} {quoted([each.text for each in side])}"
        for does, side in (("adds", added), ("leaves out", omitted))
        if side
    ]
    return f"The new answer {' and '.join(parts)}" if parts else ""


def _apart(gained: list[str], question: str | None, lost: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return what a new answer has that the question does not state, and what it does; all as the former if nothing was lost."""
    if not lost:
        return gained, []
    asked = [each for each in gained if stated_in(question, each)]
    return [each for each in gained if each not in asked], asked


def _has_words(statement: Statement) -> bool:
    return any(term.kind != "number" for term in statement.terms)


def figures(
    evidence: Mapping[str, Any],
    recorded: str | None,
    new: str | None,
    question: str | None = None,
    *,
    of_numbers: bool = True,
) -> str:
    """Return which numbers or names only one answer has, with their units; empty if the evidence does not say.

    A number of the new answer that the question states is named as that if the recorded answer has others.
    """
    lost = _written(evidence, "recorded", recorded or "")
    gained, asked = _apart(_written(evidence, "new", new or ""), question, lost)
    if asked and not gained:
        return f"The new answer repeats {listed(asked)} of the question and lacks {listed(lost)}"
    if of_numbers and lost and gained and _count_other_things(lost, gained):
        return f"The new answer adds {listed(gained)} and leaves out {listed(lost)}"
    if lost and gained:
        return f"The new answer has {listed(gained)}, the recorded one {listed(lost)}"
    if gained:
        return f"The new answer also has {listed(gained)}"
    return f"The new answer lacks {listed(lost)}" if lost else ""


def replaced(evidence: Mapping[str, Any], recorded: str, new: str, question: str | None) -> str:
    """Return what the new answer says where the recorded one has numbers or names; empty if it has some of its own, which are not
    in the question, or only leaves them out."""
    lost = _written(evidence, "recorded", recorded)
    gained, _ = _apart(_written(evidence, "new", new), question, lost)
    instead = Answers.of(recorded, new).only_new
    if gained or not lost or not instead:
        return ""
    return f"The new answer says {quoted([each.text for each in instead])} and lacks {listed(lost)}"


def brief(
    evidence: Mapping[str, Any],
    recorded: str | None = None,
    new: str | None = None,
    question: str | None = None,
) -> str:
    """Return whether an answer says the opposite, and which numbers or names it adds and leaves out, in a few words; empty if the evidence does not say."""
    lost = _written(evidence, "recorded", recorded or "")
    gained, asked = _apart(_written(evidence, "new", new or ""), question, lost)
    repeated = ["repeats " + listed(asked) + " of the question"] if asked else []
    named = (("adds", gained), ("leaves out", lost))
    opposite = ["says the opposite"] if evidence.get("turned") else []
    return ", ".join(
        [*opposite, *repeated, *(f"{does} {listed(entries)}" for does, entries in named if entries)]
    )


def stated_in(question: str | None, text: str) -> bool:
    """Return whether a text is a number that the question states, however it is written there."""
    numbers = Statement(text).numbers
    return bool(question and numbers) and not missing_numbers(numbers, Statement(question or "").numbers)


def texts_of(evidence: Mapping[str, Any], name: str) -> list[str]:
    """Return the texts that the evidence lists under a name; none if they are withheld."""
    found = evidence.get(name)
    return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []


def quoted(sentences: Sequence[str]) -> str:
    """Return the first sentence in quotation marks, and how many more there are."""
    more = f" and {counted(len(sentences) - 1, 'more sentence')}" if len(sentences) > 1 else ""
    return f"“{short(_CITED.sub('', sentences[0])).rstrip('.')}”{more}"


def listed(entries: Sequence[str]) -> str:
    """Return the first entries, and how many more there are."""
    shown, rest = ", ".join(map(short, entries[:_MOST_LISTED])), len(entries) - _MOST_LISTED
    return f"{shown} and {rest:,} more" if rest > 0 else shown


def short(text: str) -> str:
    """Return a text in one line, cut if it is long."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST].rstrip()}…"


def _count_other_things(lost: Sequence[str], gained: Sequence[str]) -> bool:
    """Return whether all numbers count something and nothing is counted on both sides, so that no number replaces another."""
    before, after = ({_counted_thing(each) for each in side} for side in (lost, gained))
    return "" not in before | after and before.isdisjoint(after)


def _counted_thing(text: str) -> str:
    """Return what a number counts: a kind of unit, or a word in the singular; empty if it counts nothing that is written."""
    words = _WORD.findall(_NUMBER.sub(" ", text).lower())
    kinds = [_KINDS.get(UNITS[word][0], UNITS[word][0]) for word in words if word in UNITS]
    return kinds[-1] if kinds else words[-1].rstrip("s") if words and words[-1] not in _CLOCK else ""


def _written(evidence: Mapping[str, Any], side: str, answer: str) -> list[str]:
    """Return the entries as the answer has them, with their units and ranges in one piece."""
    entries, places = texts_of(evidence, f"only_{side}"), evidence.get(f"{side}_at") or []
    if [answer[start:end] for start, end in places] != entries:  # parts of the answer are withheld
        return entries
    found: list[str] = []
    begin = before = -1
    for start, end in places:
        if before >= 0 and _RANGE.fullmatch(answer, before, start):
            found.pop()
        else:
            begin = start
        found.append(answer[begin : _end_of_unit(answer, start, end)])
        before = end
    return list(dict.fromkeys(found))


def _end_of_unit(answer: str, start: int, end: int) -> int:
    """Return where the unit after a bare number or its range ends ("5 working days", "10 to 14 days"), or else the plural that it
    counts ("10 cards", not "Section 5 applies")."""
    if not _BARE.fullmatch(answer, start, end):
        return end
    if rest := _REST_OF_RANGE.match(answer, end):
        end = rest.end()
    words = list[re.Match[str]]()
    while len(words) < _MOST_WORDS and (word := _NEXT_WORD.match(answer, words[-1].end() if words else end)):
        if word[1].lower() in FUNCTION_WORDS:
            break
        words.append(word)
        if word[1].lower() in UNITS:
            return word.end()
    counts = words and words[0][1].endswith("s") and not _LABELLED.search(answer, 0, start)
    return words[0].end() if counts else end
