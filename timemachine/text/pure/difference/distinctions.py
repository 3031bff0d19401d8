"""What tells two texts apart before their words do: numbers and names that only one of them states. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from timemachine.text.pure.difference.answers import Answers
from timemachine.text.pure.language.names import Name
from timemachine.text.pure.language.numbers import Number

MOST: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """Numbers or names of each text that the other states nowhere, each once, as it is written there; at most `MOST` of a side."""

    what: str
    left: Sequence[str]
    right: Sequence[str]


def telling(left: str, right: str) -> tuple[Telling, ...]:
    """The numbers that differ, then the names; nothing for what does not differ. Uncertain names are left out."""
    answers = Answers(left, right)
    numbers, names = answers.missing_numbers(), answers.missing_names
    found = [
        Telling(what="numbers", left=_once(numbers[0]), right=_once(numbers[1])),
        Telling(what="names", left=_certain(names[0]), right=_certain(names[1])),
    ]
    return tuple(each for each in found if each.left or each.right)


def _certain(names: Iterable[Name]) -> list[str]:
    return _once([name for name in names if name.certain])


def _once(found: Sequence[Number | Name]) -> list[str]:
    return list(dict.fromkeys(each.text for each in found))[:MOST]
