"""One root for the forms of an English word, beyond inflection, for recognizing paraphrases."""

from functools import lru_cache
from typing import Final

from timemachine.core.pure.text_caches import cleared_on_erasure
from timemachine.text.pure.language.words import stem

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
_SUFFIXES: Final = """
    ational ization isation fulness iveness ousness icalli ation ition ement ment ness iviti iti abl ibl enc anc enci anci
    atori ator ical alli fulli iveli ousli ion ist ism ful iv ant ent ial ian al er or li at ic
"""
_LONGEST_FIRST: Final = tuple(sorted(_SUFFIXES.split(), key=lambda suffix: (-len(suffix), suffix)))
_SHORTEST_ROOT: Final = 4


@cleared_on_erasure
@lru_cache(maxsize=65_536)
def root(stemmed: str) -> str:
    """Return the root of a stem (`words.stem`): "sent" gives "send"; "circulatory" and "circulation" share one.

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
