"""Numbers in words ("half a million", "one hundred and twenty", "two thirds of"): patterns and values."""

import re
from collections.abc import Iterable
from fractions import Fraction
from typing import Final

from timemachine.text.pure.language.units import COUNTS, SCALES, UNITS

_NAMES: Final = list(COUNTS)
_TENS: Final = {name: COUNTS[name] for name in _NAMES[_NAMES.index("twenty") :]}
_ONES: Final = {name: COUNTS[name] for name in _NAMES[1 : _NAMES.index("ten")]}
_ORDINAL_NAMES: Final = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth"
)
_SMALL_ORDINALS: Final = _ORDINAL_NAMES.split()[:9]
_ORDINALS: Final = {
    **{name: value for value, name in enumerate(_ORDINAL_NAMES.split(), start=1)},
    **{f"{name[:-1]}ieth": value for name, value in _TENS.items()},
}
# "First", "second" and "third" often start sentences, and a second is a unit: alone they are not numbers.
_CLEAR_ORDINALS: Final = _ORDINALS.keys() - {"first", "second", "third"}
_PARTS: Final = {
    **dict.fromkeys(("half", "halves"), 2),
    **dict.fromkeys(("quarter", "quarters"), 4),
    **{name + plural: _ORDINALS[name] for name in (*_SMALL_ORDINALS[2:], "tenth") for plural in ("", "s")},
}
_THOUSANDS: Final = {
    name: value for name, value in SCALES.items() if name.startswith(("thousand", "mill", "bill", "trill"))
}


def _any(names: Iterable[str]) -> str:
    return f"(?:{'|'.join(sorted(names, key=len, reverse=True))})"


_MEASURES: Final = _any(
    name for name in UNITS if name.isalpha() and name not in {"m", "g", "s", "h", "w", "x"}
)
_BIG: Final = rf"{_any([*_THOUSANDS, 'dozen'])}\b"
_SMALL: Final = rf"(?:{_any(_TENS)}(?:[ -]{_any(_ONES)})?|{_any(COUNTS)})\b"
_HUNDREDS: Final = rf"(?:(?:{_SMALL}|a)[ -]hundred\b(?:(?: and)? {_SMALL})?|{_SMALL})"
_WHOLE: Final = (
    rf"(?:{_HUNDREDS}|an?(?= {_BIG}))(?: and a (?:half|quarter))?(?:[ -]{_BIG}(?:(?: and)? {_HUNDREDS})?)*"
)
_PARTIAL: Final = rf"(?:half|(?:a|one|three) quarters? of) an?(?: {_BIG}|(?= {_MEASURES}\b))"

COUNTED: Final = rf"(?i:{_PARTIAL}|{_WHOLE})"
# "Half of the staff" is 50 % of it; "the first half of 2021" and "three quarters" (of a year) are not such parts.
_OF: Final = rf"(?= of\b(?! an? (?:{_MEASURES}|{_BIG})))"
SHARE: Final = rf"(?i:(?:(?:an?|{_any(_ONES)})[ -]{_any(_PARTS)}|(?<!first )(?<!second )(?<!other )(?<!latter )half){_OF})"
PORTION: Final = rf"(?i:{_any(_ONES)}(?:[ -]{_any(_PARTS.keys() - {'quarter', 'quarters'})}|-quarters?))"
ORDINAL: Final = rf"(?i:{_any(_TENS)}[ -]{_any(_SMALL_ORDINALS)}|{_any(_CLEAR_ORDINALS)})"

# The first word of any of these.
OPENERS: Final = frozenset(("a", "an", "half", *COUNTS, *_ORDINALS))


def value_of(words: str) -> Fraction:
    """Return the value of a number in words: 500000 for "half a million", 2/3 for "two thirds", 21 for "twenty-first"."""
    whole, current = Fraction(0), Fraction(0)
    # "and a half" adds one, while "half" after another number would divide it
    written = re.sub(r"\band a (?=half|quarter)", "+", words.lower())
    for word in written.replace("-", " ").split():
        if word in _THOUSANDS:
            whole, current = whole + (current or 1) * _THOUSANDS[word], Fraction(0)
        elif word in _TIMES:
            current = (current or 1) * _TIMES[word]
        elif word in _PARTS and current:
            current /= _PARTS[word]
        else:
            current += _ADDED.get(word, 0)
    return whole + current


_TIMES: Final = {"hundred": Fraction(100), "dozen": Fraction(12)}
_ADDED: Final = {
    **COUNTS,
    **_ORDINALS,
    **{name: Fraction(1, part) for name, part in _PARTS.items() if name in ("half", "quarter")},
    "+half": Fraction(1, 2),
    "+quarter": Fraction(1, 4),
}
