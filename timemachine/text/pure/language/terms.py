"""Content words in a normal form, by which sentences are compared."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from heapq import merge
from operator import itemgetter
from typing import Final, Literal, NamedTuple

from timemachine.core.pure.text_caches import cleared_on_erasure
from timemachine.text.pure.language.identifiers import chunk_key
from timemachine.text.pure.language.numbers import Number
from timemachine.text.pure.language.words import FUNCTION_WORDS, WORD, folded, stem, word_set

# The key of all negating words, which is not a stem ("not" is the stem of "note").
NEGATION: Final = "~not"

Kind = Literal["word", "number", "identifier", "negation"]

_NEGATIONS: Final = word_set(
    "not no never none nobody nothing nowhere neither without cannot unable lack lacks lacked lacking hardly"
)
# "one" usually does not count anything, and a "not" that does not negate is part of "not only".
_EMPTY: Final = word_set("one not")
_FAILING: Final = word_set("fail fails failed failing refuse refuses refused decline declines declined")
_MAY_NEGATE: Final = _NEGATIONS | _FAILING
_SAYS_NOTHING: Final = FUNCTION_WORDS | _EMPTY
# "Do not forget to …" means to do it.
_NEVER_MEANT: Final = word_set("forget hesitate worry")
_CLAUSE_WORDS: Final = word_set(
    "and or but yet while although though whereas because if so then unless until"
)
_DATE: Final = re.compile(r"^date (?:\d{4}|-)-(\d\d)\b.*")
_CLAUSE_MARK: Final = re.compile(r"[,;:()—–.!?\n]")


class Term(NamedTuple):
    """A content word, number, identifier or negation.

    `key` is the same for the same meaning ("$2B" and "2 billion", "closed" and "closing", "not" and "never"). `start`
    and `end` are characters of the text. `opens`: a new clause starts here.
    """

    key: str
    kind: Kind
    start: int
    end: int
    opens: bool = False


# Start and end of a word, its folded form, and its key and kind if known. A plain tuple for speed: a text has thousands.
_Token = tuple[int, int, str, tuple[str, Kind] | None]


def terms_beside(
    text: str, identifiers: Iterable[tuple[int, int]], numbers: Iterable[Number]
) -> tuple[Term, ...]:
    """Return the terms of a text in order, without function words but with negations and comparisons.

    Its identifiers (as spans) and numbers are known, each in order.
    """
    fixed = merge(_identifiers(text, identifiers), _numbers(numbers), key=itemgetter(0))
    return tuple(_terms(text, _tokens(text, fixed)))


def number_key(number: Number) -> str:
    """Return the key of a number as a term: its value without units other than percent, or the month of a date."""
    if number.bare is not None and number.unit != "%":
        return f"#{number.bare}"
    return "#" + _DATE.sub(r"date \1", number.key)


def _tokens(text: str, fixed: Iterable[_Token]) -> list[_Token]:
    """Return the words of a text, with numbers and identifiers (in order) in place of the words in them."""
    words: Iterator[_Token] = ((*found.span(), folded(found[0]), None) for found in WORD.finditer(text))
    tokens: list[_Token] = []
    word = next(words, None)
    for each in fixed:
        start, end, *_ = each
        while word and word[0] < end:
            if word[1] <= start:
                tokens.append(word)
            word = next(words, None)
        tokens.append(each)
    if word:
        tokens.append(word)
    tokens.extend(words)
    return tokens


def _identifiers(text: str, spans: Iterable[tuple[int, int]]) -> Iterator[_Token]:
    for start, end in spans:
        yield start, end, "", (chunk_key(text[start:end]), "identifier")


def _numbers(numbers: Iterable[Number]) -> Iterator[_Token]:
    for number in numbers:
        fixed: tuple[str, Kind] | None = (number_key(number), "number") if number.certain else None
        yield number.start, number.end, "one", fixed


def _terms(text: str, tokens: list[_Token]) -> Iterator[Term]:
    opens, last_end = False, 0
    for position, (start, end, word, fixed) in enumerate(tokens):
        opens = opens or word in _CLAUSE_WORDS
        if not opens and text[last_end:start] not in ("", " "):
            opens = _CLAUSE_MARK.search(text, last_end, start) is not None
        last_end = end
        if fixed:
            meaning: tuple[str, Kind] | None = fixed
        elif (word in _MAY_NEGATE or word.endswith("n't")) and _negates(text, tokens, position):
            meaning = NEGATION, "negation"
        else:
            meaning = _alone(word)
        if meaning:
            yield Term(meaning[0], meaning[1], start, end, opens)
            opens = False


@cleared_on_erasure
@lru_cache(maxsize=65_536)
def _alone(word: str) -> tuple[str, Kind] | None:
    """Return the key and kind of a word that does not negate. Digits that are not a number are list markers or citations."""
    if word in _SAYS_NOTHING or word.isdecimal():
        return None
    return stem(word), "word"


def _negates(text: str, tokens: list[_Token], position: int) -> bool:
    """Return whether the word negates what follows. "not only", "No," as an answer, "no. 5" and "failed" alone do not."""
    word = tokens[position][2]
    following = tokens[position + 1] if position + 1 < len(tokens) else None
    after = following[2] if following else ""
    if word in _FAILING:
        return after == "to"
    if after in _NEVER_MEANT:
        return False
    if word.endswith("n't"):
        return True
    if word not in _NEGATIONS or after == "only":
        return False
    if word != "no":
        return True
    return bool(following and following[3] is None and text[tokens[position][1] : following[0]].isspace())
