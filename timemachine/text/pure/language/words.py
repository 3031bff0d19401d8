"""Words: their spans, folded forms, stems and roots, and which of them have no content."""

import re
import unicodedata
from functools import lru_cache
from typing import Final

from timemachine.core.pure.text_caches import cleared_on_erasure

# Scripts without spaces between words: each character counts as a word.
ALONE: Final = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
# Initials with dots (U.S.), one character of such a script, or letters and digits with apostrophes inside (didn't).
WORD: Final = re.compile(rf"(?:[A-Za-z]\.){{2,}}|[{ALONE}]|[^\W_{ALONE}]+(?:['’][^\W_{ALONE}]+)*")

_SUFFIXES: Final = ("ing", "ed", "es", "s")
_SHORTEST_STEM: Final = 3


def word_set(text: str) -> frozenset[str]:
    """Return the words in a text as a set."""
    return frozenset(text.split())


# Deliberately absent: not, no, never, without, more, less, before, after, up, down, all, only and similar words. Dropping
# them would hide inverted claims.
FUNCTION_WORDS: Final = word_set(
    """
    a an the this that these those it its it's he she they we you i me him her them us his hers their theirs our ours
    your yours my mine himself herself itself themselves who whom whose which what where when why how there here
    is are was were be been being am do does did done doing has have had having will would shall should can could may
    might must let and or but nor yet so if then than because while although though whereas as of at by for with about
    against between into through during to from in out on off again further once also too very just such own same s t
    eg ie etc per via upon toward towards among within across around along
    """
)
# What an answer says about its source rather than about its subject.
SOURCE_WORDS: Final = word_set(
    """
    according document documents passage passages context text source sources article excerpt provided given information
    based state states stated mention mentions mentioned says said note notes noted report reports reported indicate
    indicates indicated
    """
)


@cleared_on_erasure
@lru_cache(maxsize=65_536)
def folded(word: str) -> str:
    """Return the word in NFKC without case, possessive 's, and the dots of initials."""
    plain = unicodedata.normalize("NFKC", word).casefold().replace("’", "'").removesuffix("'s")
    return plain.replace(".", "")


@cleared_on_erasure
@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return a folded word without its English inflection (close, closes, closed and closing share a stem)."""
    if len(word) <= _SHORTEST_STEM or not word.isalpha():
        return word
    if word.endswith(("ies", "ied")) and len(word) > _SHORTEST_STEM + 1:
        return word[:-3] + "i"
    return _ended(_cut(word))


def _cut(word: str) -> str:
    for suffix in _SUFFIXES:
        rest = word.removesuffix(suffix)
        if rest != word and len(rest) >= _SHORTEST_STEM:
            return word if word.endswith("ss") else _single(rest)
    return word


def _single(rest: str) -> str:
    """Return a stem without the doubling of its last consonant (planned, plan)."""
    doubled = rest[-1] == rest[-2] and rest[-1] in "bdgmnprt"
    return rest[:-1] if doubled and len(rest) > _SHORTEST_STEM else rest


def _ended(rest: str) -> str:
    if len(rest) > _SHORTEST_STEM and rest[-1] == "e":
        return rest[:-1]
    return rest[:-1] + "i" if rest[-1] == "y" and rest[-2] not in "aeou" else rest


_IRREGULAR: Final = """
    buy bought, sell sold, pay paid, make made, take took taken, give gave given, find found, hold held, begin began begun,
    build built, say said, write wrote written, grow grew grown, rise rose risen, fall fell fallen, send sent, spend spent,
    lend lent, keep kept, tell told, know knew known, think thought, bring brought, teach taught, catch caught, lose lost,
    win won, meet met, speak spoke spoken, break broke broken, choose chose chosen, drive drove driven, eat ate eaten,
    get got gotten, go went gone, come came, become became, run ran, sing sang sung, swim swam swum, drink drank drunk,
    draw drew drawn, fly flew flown, throw threw thrown, wear wore worn, freeze froze frozen, steal stole stolen,
    forget forgot forgotten, hide hid hidden, sleep slept, feel felt, deal dealt, mean meant, stand stood, lead led,
    understand understood, sit sat, shoot shot, strike struck, fight fought, seek sought, swell swollen, melt molten,
    man men, woman women, child children, foot feet, tooth teeth, mouse mice, goose geese, person people, life lives,
    wife wives, half halves, leaf leaves, knife knives, analysis analyses, crisis crises, good well
"""
_ROOTS: Final = {
    stem(form): stem(first)
    for first, *forms in (group.split() for group in _IRREGULAR.split(","))
    for form in forms
}
# Suffixes of stems, which have lost a final "e" and have "i" for "y". Not "-ee": employer and employee are two people.
_DERIVATIONS: Final = """
    ational ization isation fulness iveness ousness icalli ation ition ement ment ness iviti iti abl ibl enc anc enci anci
    atori ator ical alli fulli iveli ousli ion ist ism ful iv ant ent ial ian al er or li at ic
"""
_LONGEST_FIRST: Final = tuple(sorted(_DERIVATIONS.split(), key=lambda suffix: (-len(suffix), suffix)))
_SHORTEST_ROOT: Final = 4


@cleared_on_erasure
@lru_cache(maxsize=65_536)
def root(stemmed: str) -> str:
    """Return the root of a stem, beyond inflection: "sent" gives "send"; "circulatory" and "circulation" share one.

    Keys that are not words of letters (numbers, negations, identifiers) stay as they are. Words with the same root can
    differ in meaning: a root shows what may be the same, not what is.
    """
    if not stemmed.isalpha():
        return stemmed
    if stemmed in _ROOTS:
        return _ROOTS[stemmed]
    for suffix in _LONGEST_FIRST:
        rest = stemmed.removesuffix(suffix)
        if rest != stemmed and len(rest) >= _SHORTEST_ROOT:
            return rest.removesuffix("t") if rest.endswith("uct") else rest
    return stemmed
