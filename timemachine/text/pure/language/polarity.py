"""The polarity of a sentence: what it negates, and its directions (up or down, before or after)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from timemachine.text.pure.language.terms import Term
from timemachine.text.pure.language.words import WORD, folded, stem, word_set

_AHEAD: Final = 3
_BEHIND: Final = 2
_NEAR: Final = 5

_UP: Final = """
    increase rise rose risen grow grew grown gain raise climb expand surge jump exceed more higher larger bigger greater
    most highest largest maximum up
"""
_DOWN: Final = """
    decrease fall fell fallen drop decline shrink shrank loss reduce cut plunge less fewer lower smaller least lowest
    smallest minimum down
"""
_OPPOSITES: Final = {
    "amount": (_UP, _DOWN),
    "place": ("above over", "below under beneath"),
    "order": ("before earlier prior precede preceded", "after later subsequent follow followed"),
    "truth": ("true correct valid yes", "false incorrect invalid wrong no"),
    "outcome": ("pass succeed success successful win won", "fail failure unsuccessful lose lost"),
    "permission": (
        "allow permit accept approve enable grant",
        "deny denied forbid forbidden reject refuse disable prohibit block",
    ),
    "trade": ("buy bought purchase", "sell sold"),
    "speed": ("faster quicker fastest", "slower slowest"),
    "quality": ("better best improve", "worse worst worsen"),
    "presence": ("present available include contain", "absent missing unavailable exclude omit"),
}
_POLES: Final = {
    stem(word): (family, pole)
    for family, poles in _OPPOSITES.items()
    for pole, listed in zip("+-", poles, strict=True)
    for word in listed.split()
}
_COMPARED: Final = frozenset(
    map(stem, word_set("more less later earlier sooner longer fewer greater higher lower"))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Negation:
    """The terms that a negating word negates, and all terms near it."""

    scope: tuple[str, ...]
    near: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Polarity:
    """The negations of a sentence, and its directions: each family ("amount", "order", …) with the poles it names."""

    negations: tuple[Negation, ...]
    directions: dict[str, frozenset[str]]


def polarity(found: Sequence[Term]) -> Polarity:
    """Return the polarity of a sentence, given its terms."""
    directions: dict[str, frozenset[str]] = {}
    for term in found:
        if term.key in _POLES and term.kind == "word":
            family, pole = _POLES[term.key]
            directions[family] = directions.get(family, frozenset()) | {pole}
    negating = [position for position, term in enumerate(found) if term.kind == "negation"]
    return Polarity(negations=tuple(_negation(found, at) for at in negating), directions=directions)


def neutral_key(term: Term) -> str:
    """Return the key of a term, the same for all words of a family of directions ("rose", "fell")."""
    family = _POLES.get(term.key) if term.kind == "word" else None
    return f"~{family[0]}" if family else term.key


def leading_pole(text: str) -> str | None:
    """Return "+" for an answer that starts with yes or similar, "-" for no, None for any other."""
    first = WORD.search(text)
    pole = _POLES.get(stem(folded(first[0]))) if first else None
    return pole[1] if pole and pole[0] == "truth" else None


def turned(one: Polarity, other: Polarity) -> tuple[str, ...]:
    """Return the families in which one sentence names only one pole and the other only the opposite one."""
    shared = one.directions.keys() & other.directions.keys()
    return tuple(sorted(family for family in shared if not one.directions[family] & other.directions[family]))


def negated_in_one(one: Sequence[Term], other: Sequence[Term]) -> str | None:
    """Return a term that one sentence negates and the other affirms, or None.

    The first term that a negation governs and the other sentence shares must be near a negation there.
    """
    return _affirmed(one, other) or _affirmed(other, one)


def _affirmed(negating: Sequence[Term], affirming: Sequence[Term]) -> str | None:
    if all(term.kind != "negation" for term in negating):
        return None
    keys = {term.key for term in affirming if term.kind != "negation"}
    near = {key for negation in polarity(affirming).negations for key in negation.near}
    found = polarity(negating).negations
    negated = Counter(key for negation in found for key in negation.scope)
    counts = Counter(term.key for term in negating)
    for negation in found:
        shared = next((key for key in negation.scope if key in keys), None)
        # "Use ice (don't use it on bare skin)" says both and does not contradict "use ice".
        if shared is not None and shared not in near and counts[shared] <= negated[shared]:
            return shared
    return None


def _negation(found: Sequence[Term], at: int) -> Negation:
    ahead = _clause(found[at + 1 : at + 1 + _AHEAD])
    behind = [term.key for term in found[max(0, at - _BEHIND) : at] if term.kind != "negation"]
    near = [term.key for term in found[at + 1 : at + 1 + _NEAR]]
    if ahead and ahead[0] in _COMPARED:  # "no more than 5" denies the more, not the 5
        ahead = ahead[:1]
    return Negation(scope=tuple(ahead or reversed(behind)), near=frozenset([*near, *behind]))


def _clause(following: Sequence[Term]) -> list[str]:
    """Return the keys of the terms before the next clause."""
    keys: list[str] = []
    for term in following:
        if term.opens:
            break
        if term.kind != "negation":
            keys.append(term.key)
    return keys
