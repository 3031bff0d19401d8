"""The filter language of the timeline: `kind:ask,find status:error`. Pure."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Final

from timemachine.base.errors import InvalidInput
from timemachine.recording.vocabulary import KINDS

STATUSES: Final = ("error", "ok")
LONGEST: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which steps are shown: those of one of the kinds (all where there are none) and of that status (any where None)."""

    kinds: tuple[str, ...] = ()
    status: str | None = None

    def __bool__(self) -> bool:
        return bool(self.kinds or self.status)

    @property
    def is_counted(self) -> bool:
        """Whether counts by kind and error tell how many steps it shows."""
        return True

    def __str__(self) -> str:
        """The filter as it is written; `parse` is its inverse."""
        terms = [f"kind:{','.join(self.kinds)}"] if self.kinds else []
        return " ".join([*terms, f"status:{self.status}"] if self.status else terms)

    def toggled(self, kind: str) -> "Filter":
        """The same filter with that kind added, or taken out where it was in."""
        kept = set(self.kinds) ^ {kind}
        return replace(self, kinds=tuple(each for each in KINDS if each in kept))

    def with_status(self, status: str) -> "Filter":
        """The same filter for that status, or for any where it asked for that one already."""
        return replace(self, status=None if self.status == status else status)


EVERYTHING: Final = Filter()


def parse(text: str) -> Filter:
    """The filter that was written. Raises `InvalidInput` (`unknown_filter`) with what may be meant instead."""
    found = EVERYTHING
    for term in text.split():
        name, colon, value = term.partition(":")
        if not colon or name not in _TERMS:
            raise _unknown(term, "{}:" + value.replace("{", "{{").replace("}", "}}"), name, _TERMS)
        found = _TERMS[name](found, value)
    return found


def _kinds(found: Filter, value: str) -> Filter:
    wanted = [kind for kind in value.split(",") if kind]
    for kind in wanted:
        if kind not in KINDS:
            raise _unknown(f"kind:{kind}", "kind:{}", kind, KINDS)
    together = {*found.kinds, *wanted}
    return replace(found, kinds=tuple(kind for kind in KINDS if kind in together))


def _status(found: Filter, value: str) -> Filter:
    if value not in STATUSES:
        raise _unknown(f"status:{value}", "status:{}", value, STATUSES)
    return replace(found, status=value)


_TERMS: Final[dict[str, Callable[[Filter, str], Filter]]] = {"kind": _kinds, "status": _status}


def _unknown(term: str, form: str, tried: str, names: Iterable[str]) -> InvalidInput:
    """The refusal of a term, with the known name that is nearest to the one that was tried, in the form of a term."""
    known = list(names)
    near = get_close_matches(tried, known, n=1, cutoff=0.5)
    advice = f"Did you mean {form.format(near[0])}?" if near else f"Known are {', '.join(known)}."
    shown = term if len(term) <= LONGEST else f"{term[: LONGEST - 1]}…"
    return InvalidInput(
        f"The filter {shown} is not known. {advice}", code="unknown_filter", term=shown, known=known
    )
