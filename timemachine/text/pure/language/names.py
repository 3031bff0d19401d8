"""The names in a text: people, places and products by their capitals, acronyms, and identifiers."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from timemachine.text.pure.language.identifiers import chunk_key, chunk_keys
from timemachine.text.pure.language.sentences import Sentence, sentences
from timemachine.text.pure.language.units import CURRENCIES, MONTHS
from timemachine.text.pure.language.words import FUNCTION_WORDS, SOURCE_WORDS, WORD, folded, stem, word_set

# Words that are capitalized at the start of a sentence, or always, but are not names.
_ORDINARY: Final = (
    FUNCTION_WORDS
    | SOURCE_WORDS
    | {name.casefold() for name in MONTHS}
    | {name.casefold() for name in CURRENCIES}
    | word_set(
        """
        monday tuesday wednesday thursday friday saturday sunday yes no not never none nothing nobody neither all any
        each every both either some many most more less few fewer several other another others one two three four five
        six seven eight nine ten first second third last next before after above below over under without only however
        therefore thus hence moreover furthermore additionally besides finally overall still instead otherwise
        meanwhile then now today yesterday tomorrow here please note answer question summary conclusion result results
        example step key important in-depth dear hello hi thanks thank sorry ok okay true false i'm i'll i've i'd it's
        that's there's let's what's they're we're you're don't doesn't didn't isn't aren't can't cannot won't
        """
    )
)
# Words that are shouted, not acronyms.
_LOUD: Final = word_set(
    "not no never none only all any must may should can is are was were and or but yes the"
)
_JOINTS: Final = word_set("of de del der von van da di la le bin al")
_POSSESSIVE: Final = re.compile("['’][sS]$")
_PHRASE_MARKS: Final = frozenset(">'‘•▪●◦‣")
_NEXT: Final = re.compile(r"\s+(\w)")
_LONG: Final = 4
_LONGEST_TITLE: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """A name as written (`text`, from `start` to before `end` in characters), with its `key` for comparing.

    `certain` is False for a single capitalized word that may be capitalized only because it starts a sentence.
    """

    text: str
    start: int
    end: int
    key: str
    kind: Literal["name", "identifier"] = "name"
    certain: bool = True


class Words(NamedTuple):
    """The stems of the words in a text, and all chunks between white space."""

    stems: frozenset[str]
    chunks: frozenset[str]


def words_of(text: str) -> Words:
    """Return the words of a text."""
    stems = frozenset(stem(folded(word)) for word in set(WORD.findall(text)))
    return Words(stems, chunk_keys(text))


class Vocabulary:
    """The words of some texts, for checking whether they mention a name. `read` can return cached words of a text."""

    __slots__ = ("_chunks", "_stems")

    def __init__(self, texts: Iterable[str], read: Callable[[str], Words] = words_of) -> None:
        words = [read(text) for text in texts]
        self._stems = frozenset[str]().union(*(each.stems for each in words))
        self._chunks = frozenset[str]().union(*(each.chunks for each in words))

    def has(self, word: str) -> bool:
        """Return whether the word occurs in any inflection, also as the unit of a number ("3 days")."""
        return stem(folded(word)) in self._stems

    def mentions(self, name: Name) -> bool:
        """Return whether every word of the name occurs. An identifier must occur completely."""
        if name.key in self._chunks:
            return True
        return name.kind == "name" and all(stem(word) in self._stems for word in name.key.split())


def names_beside(text: str, identifiers: Iterable[tuple[int, int]]) -> tuple[Name, ...]:
    """Return the names of a text in order. Its identifiers are known, as spans in order.

    Capitals in headings and in lines of capitals are ignored.
    """
    found = [
        Name(text=text[start:end], start=start, end=end, key=chunk_key(text[start:end]), kind="identifier")
        for start, end in identifiers
    ]
    taken = [(name.start, name.end) for name in found]
    found.extend(_outside(taken, (name for sentence in sentences(text) for name in _capitalised(sentence))))
    return tuple(sorted(found, key=lambda name: name.start))


def missing_names(stated: Iterable[Name], elsewhere: Vocabulary) -> tuple[Name, ...]:
    """Return the names that do not occur in the other texts, each once."""
    once = {name.key: name for name in stated if not elsewhere.mentions(name)}
    return tuple(once.values())


def _outside(taken: list[tuple[int, int]], found: Iterator[Name]) -> Iterator[Name]:
    """Yield the names that overlap no span. Both are in order."""
    position = 0
    for name in found:
        while position < len(taken) and taken[position][1] <= name.start:
            position += 1
        if position == len(taken) or name.end <= taken[position][0]:
            yield name


def _capitalised(sentence: Sentence) -> Iterator[Name]:
    words = [*WORD.finditer(sentence.text)]
    if _is_heading(sentence.text.strip(), [word[0] for word in words]):
        return
    first = next((word for word in words if word[0][0].isalpha()), None)
    for run in _runs(words, sentence.text):
        starts = run[0] is first or _begins_a_phrase(run[0], sentence.text)
        named = _named(run)
        if named:
            doubtful = starts and named == run[:1] and not _is_acronym(named[0][0])
            yield _name(named, sentence, certain=not doubtful)


def _begins_a_phrase(word: re.Match[str], text: str) -> bool:
    """Return whether a capital can come from the position: in quotes, after a colon, or where an element of markup, a
    bullet's item or words in single quotes go on in small letters. `<city>Rome</city>` is a name."""
    before = text[max(0, word.start() - 2) : word.start()]
    if any(mark in before for mark in '"“:'):
        return True
    following = _NEXT.match(text, word.end())
    return before.strip()[-1:] in _PHRASE_MARKS and following is not None and following[1].islower()


def _is_heading(line: str, words: list[str]) -> bool:
    long = [word for word in words if len(word) >= _LONG]
    if len(long) > 1 and all(word.isupper() for word in long):
        return True
    titled = len(words) <= _LONGEST_TITLE and all(word[0].isupper() for word in long)
    bold = line.startswith("**") and line.rstrip(":").endswith("**")
    return line.startswith("#") or (titled and (bold or line.endswith(":")))


def _runs(words: list[re.Match[str]], text: str) -> Iterator[list[re.Match[str]]]:
    """Yield runs of capitalized words, including small words that join them (Bank of America)."""
    run: list[re.Match[str]] = []
    for word in words:
        if run and not _continues(run[-1], word, text):
            yield _without_joint(run)
            run = []
        if run or word[0][0].isupper():
            run.append(word)
    if run:
        yield _without_joint(run)


def _continues(last: re.Match[str], word: re.Match[str], text: str) -> bool:
    gap = text[last.end() : word.start()]
    if gap not in {" ", " & "} and not (gap == ". " and len(last[0]) == 1):
        return False
    if _POSSESSIVE.search(last[0]):
        return False
    return word[0][0].isupper() or (word[0] in _JOINTS and last[0] not in _JOINTS)


def _without_joint(run: list[re.Match[str]]) -> list[re.Match[str]]:
    return run[:-1] if run[-1][0] in _JOINTS else run


def _named(run: list[re.Match[str]]) -> list[re.Match[str]]:
    """Return the part of a run that is a name: without ordinary words at its ends, and more than one letter."""
    places = [place for place, word in enumerate(run) if not _is_ordinary(word[0])]
    named = run[places[0] : places[-1] + 1] if places else []
    return [] if len(named) == 1 and len(named[0][0]) == 1 else named


def _is_ordinary(word: str) -> bool:
    plain = folded(word)
    return (plain in _ORDINARY and not _is_acronym(word)) or plain in _LOUD or word in _JOINTS


def _is_acronym(word: str) -> bool:
    """Return whether the word has a capital inside (NATO, OpenAI), which does not come from its position."""
    return any(letter.isupper() for letter in word[1:])


def _name(run: list[re.Match[str]], sentence: Sentence, *, certain: bool) -> Name:
    written = _POSSESSIVE.sub("", sentence.text[run[0].start() : run[-1].end()])
    start = sentence.start + run[0].start()
    return Name(
        text=written,
        start=start,
        end=start + len(written),
        key=" ".join(folded(word[0]) for word in run),
        certain=certain,
    )
