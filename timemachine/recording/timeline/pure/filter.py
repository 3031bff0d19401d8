"""The filter language of the timeline: `kind:ask,find status:error tool:read* took:>2s step:100-200 -tag:noise "null check"`."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Final

from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.sessions.pure.vocabulary import KINDS, LAYERS, ROLES, SIGNIFICANCES

STATUSES: Final = ("error", "ok")
LONGEST: Final = 60
MOST_TERMS: Final = 50
LAST: Final = 2**63 - 1
CHOICES: Final[Mapping[str, Sequence[str]]] = {"role": ROLES, "layer": LAYERS, "significance": SIGNIFICANCES}
WORDS: Final = ("tool", "model", "agent", "name", "tag", "metadata", *CHOICES)
UNITS: Final[Mapping[str, float]] = {"": 1, "ms": 1, "s": 1_000, "m": 60_000, "min": 60_000, "h": 3_600_000}
MEASURES: Final[Mapping[str, Mapping[str, float]]] = {
    "took": UNITS,
    "tokens": {"": 1, "k": 1_000},
    "cost": {"": 1},
    "importance": {"": 1},
    "iteration": {"": 1},
}
ALIASES: Final = {"duration": "took", "dur": "took", "sequence": "step", "seq": "step", "text": ""}
UNKNOWN_COST: Final = "unknown"
"""The value of `cost` for calls whose cost is unknown; without a cost, a step is compared with no number."""
SIGNS: Final = (">=", "<=", ">", "<", "=")

_TOKEN: Final = re.compile(
    r'(?P<negated>-?)(?:(?P<name>[A-Za-z_]+)(?P<colon>:))?(?P<value>(?:"(?:[^"\\]|\\.)*"|[^\s"])*)(?=\s|$)',
    re.DOTALL,
)
_PART: Final = re.compile(r'"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<comma>,)|(?P<plain>[^",]+)', re.DOTALL)
_NUMBER: Final = re.compile(r"(?P<sign>>=|<=|>|<|=|)(?P<number>\d+(?:\.\d+)?(?:e-?\d{1,3})?)(?P<unit>[a-z]*)")
_STEPS: Final = re.compile(r"(?P<sign>>=|<=|>|<|)(?P<first>\d{1,18})(?:(?:-|\.\.)(?P<last>\d{1,18}))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """Steps whose `field` is one of the values, in which `*` stands for any characters; with `negated` all others."""

    field: str
    values: tuple[str, ...]
    negated: bool = False

    def __str__(self) -> str:
        return f"{'-' if self.negated else ''}{self.field}:{','.join(map(quoted, self.values))}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Steps whose `field` compares like this with a number, in milliseconds, tokens or US dollars; with `negated` all others."""

    field: str
    sign: str
    number: float
    negated: bool = False

    def __str__(self) -> str:
        number = int(self.number) if self.number.is_integer() else self.number
        return f"{'-' if self.negated else ''}{self.field}:{'' if self.sign == '=' else self.sign}{number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Containing:
    """Steps that contain these words, ignoring case; with `negated` steps that do not."""

    words: str
    negated: bool = False

    def __str__(self) -> str:
        return ("-" if self.negated else "") + quoted(self.words, r'[\s",\\:]|^-')


Term = Named | Measured | Containing


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which steps are shown: those of the kinds (all if there are none), with that status, that match every term.

    `steps` are the first and last step shown; it leaves out no steps between them.
    """

    kinds: tuple[str, ...] = ()
    status: str | None = None
    terms: tuple[Term, ...] = ()
    steps: tuple[int, int] | None = None

    def __bool__(self) -> bool:
        return self.picks or self.steps is not None

    @property
    def picks(self) -> bool:
        """Whether it leaves out steps between others."""
        return bool(self.kinds or self.status or self.terms)

    @property
    def is_counted(self) -> bool:
        """Whether counts by kind and error are enough to count its steps."""
        return not self.terms

    def __str__(self) -> str:
        """Return the filter as text; `parse` is the inverse."""
        return " ".join([*self._kinds_and_status(), *map(str, self.terms)])

    def _kinds_and_status(self) -> Iterator[str]:
        others = [kind for kind in KINDS if kind not in self.kinds]
        if self.kinds and 0 < len(others) < len(self.kinds):
            yield f"-kind:{','.join(others)}"
        elif self.kinds:
            yield f"kind:{','.join(self.kinds)}"
        if self.status:
            yield f"status:{self.status}"
        if self.steps is not None:
            first, last = self.steps
            yield f"step:>={first}" if last == LAST else f"step:{first}-{last}"

    def toggled(self, kind: str) -> "Filter":
        """Return the filter with that kind added, or removed if it was there."""
        kinds = set(self.kinds) ^ {kind}
        return replace(self, kinds=tuple(each for each in KINDS if each in kinds))

    def with_status(self, status: str) -> "Filter":
        """Return the filter with that status, or without one if it had that status."""
        return replace(self, status=None if self.status == status else status)

    def within(self, steps: tuple[int, int] | None) -> "Filter":
        """Return the filter for other steps; None for all."""
        return replace(self, steps=steps)

    def without(self, term: Term) -> "Filter":
        """Return the filter without one of its terms."""
        return replace(self, terms=tuple(each for each in self.terms if each != term))

    @property
    def words(self) -> str:
        """Return what the filter says as words to search for: the texts, the names, and `error`; empty if it says only numbers."""
        said = ["error"] if self.status == "error" else []
        said += [words for term in self.terms if (words := _words_of(term))]
        return " ".join(str(Containing(words=each)) for each in said)


def _words_of(term: Term) -> str:
    """Return the words of a term that asks for one text or name; empty for any other."""
    if term.negated or isinstance(term, Measured):
        return ""
    if isinstance(term, Containing):
        return term.words
    is_text = len(term.values) == 1 and term.field not in ("cost", *CHOICES)
    return term.values[0].strip("*") if is_text else ""


EVERYTHING: Final = Filter()


def with_unknown_cost(shown: Filter) -> Filter:
    """Return the filter for those of its steps whose cost is unknown."""
    term = Named(field="cost", values=(UNKNOWN_COST,))
    return shown if term in shown.terms else replace(shown, terms=(*shown.terms, term))


def parse(text: str) -> Filter:
    """Return the filter of a text. Raises `InvalidInput` (`unknown_filter`) with a suggestion."""
    found = EVERYTHING
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        token = _TOKEN.match(text, at)
        if token is None or token.end() == at:
            raise _refused(
                text[at:],
                'A quotation mark is not closed. Put words with spaces in quotation marks: "two words".',
            )
        found = _with(found, token)
        at = token.end()
    return found


def _with(found: Filter, token: re.Match[str]) -> Filter:
    negated, value, whole = bool(token["negated"]), token["value"], token[0]
    name = ALIASES.get(token["name"] or "", token["name"] or "")
    if token["name"] and name not in _TERMS and name not in WORDS and name not in MEASURES and name:
        raise _unknown(whole, f"{token['name']}:{value}", token["name"], (*_TERMS, *WORDS, *MEASURES), value)
    if name in _TERMS:
        return _TERMS[name](found, values_of(value), negated, whole)
    term = _term(name, value, negated, whole)
    if term is None or term in found.terms:
        return found
    if len(found.terms) == MOST_TERMS:
        raise _refused(whole, f"A filter can have at most {MOST_TERMS} terms.")
    return replace(found, terms=(*found.terms, term))


def _term(name: str, value: str, negated: bool, whole: str) -> Term | None:
    if name == "cost" and value.lower() == UNKNOWN_COST:
        return Named(field=name, values=(UNKNOWN_COST,), negated=negated)
    if name in MEASURES:
        return _measured(name, value, negated, whole)
    if name in WORDS:
        return _named(name, value, negated, whole)
    words = ",".join(values_of(value)).strip()
    return Containing(words=words, negated=negated) if words else None


def _named(name: str, value: str, negated: bool, whole: str) -> Named | None:
    values = tuple(dict.fromkeys(each for each in values_of(value) if each))
    for each in values:
        if name in CHOICES and each not in CHOICES[name]:
            raise _unknown(whole, f"{name}:{each}", each, CHOICES[name])
        if name == "metadata" and each.startswith("="):
            raise _refused(whole, "Write a metadata field, with or without a value: metadata:env=prod.")
    return Named(field=name, values=values, negated=negated) if values else None


def _measured(name: str, value: str, negated: bool, whole: str) -> Measured:
    found = _NUMBER.fullmatch(value.lower())
    units = MEASURES[name]
    if found is None or found["unit"] not in units:
        example = {"took": "took:>2s", "cost": "cost:>=0.01, or cost:unknown"}.get(name, f"{name}:>1")
        raise _refused(whole, f"Write a number, with > or < before it: {example}.")
    return Measured(
        field=name,
        sign=found["sign"] or "=",
        number=float(found["number"]) * units[found["unit"]],
        negated=negated,
    )


def _kinds(found: Filter, values: Sequence[str], negated: bool, whole: str) -> Filter:
    chosen = {kind for kind in values if kind}
    for kind in chosen:
        if kind not in KINDS:
            raise _unknown(whole, f"kind:{kind}", kind, KINDS)
    if negated and chosen:
        kinds = {*(found.kinds or KINDS)} - chosen
        if not kinds:
            raise _refused(whole, "This excludes every kind of step.")
    else:
        kinds = {*found.kinds, *chosen}
    return replace(found, kinds=tuple(kind for kind in KINDS if kind in kinds))


def _status(found: Filter, values: Sequence[str], negated: bool, whole: str) -> Filter:
    value = ",".join(values)
    if value not in STATUSES:
        raise _unknown(whole, f"status:{value}", value, STATUSES)
    other = STATUSES[1 - STATUSES.index(value)]
    return replace(found, status=other if negated else value)


def _steps(found: Filter, values: Sequence[str], negated: bool, whole: str) -> Filter:
    written = _STEPS.fullmatch(",".join(values))
    if written is None or negated or (written["sign"] and written["last"]):
        raise _refused(whole, "Write the first and the last step: step:100-200, or step:>100.")
    number = int(written["first"])
    last = int(written["last"] or number)
    first, until = {
        "": (min(number, last), max(number, last)),
        ">": (number + 1, LAST),
        ">=": (number, LAST),
        "<": (1, number - 1),
        "<=": (1, number),
    }[written["sign"]]
    old = found.steps or (1, LAST)
    both = max(first, old[0], 1), min(until, old[1])
    if both[0] > both[1]:
        raise _refused(whole, "No step is in both ranges." if found.steps else "Steps are numbered from 1.")
    return replace(found, steps=both)


_TERMS: Final[dict[str, Callable[[Filter, Sequence[str], bool, str], Filter]]] = {
    "kind": _kinds,
    "status": _status,
    "step": _steps,
}


def values_of(written: str) -> list[str]:
    """Return the values between commas, without quotation marks."""
    values = [""]
    for part in _PART.finditer(written):
        if part["comma"]:
            values.append("")
        else:
            values[-1] += part["plain"] or re.sub(r"\\(.)", r"\1", part["quoted"] or "", flags=re.DOTALL)
    return values


def quoted(value: str, confusing: str = r'[\s",\\]') -> str:
    """Return a value as written in a filter: in quotation marks if it would be read as something else."""
    if value and not re.search(confusing, value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _unknown(
    term: str, form: str, tried: str, names: Iterable[str], value: str | None = None
) -> InvalidInput:
    """Return the error for an unknown term, with the most similar known name."""
    known = list(names)
    near = get_close_matches(tried, known, n=1, cutoff=0.6)
    advice, meant = f"Known: {', '.join(known)}.", ""
    if near:
        meant = _valid(near[0], value) if value is not None else form.removesuffix(tried) + near[0]
        advice = f"Did you mean {_short(meant)}?"
    if value is not None:
        in_marks = '"' + term.replace('"', "") + '"'
        advice += f" To search for words, use quotation marks: {_short(in_marks)}."
    return _refused(term, advice, known, meant)


def _valid(name: str, value: str) -> str:
    """Return the term with this name; the value, if it is not valid with it, is corrected or left out."""
    term = f"{name}:{value}"
    try:
        parse(term)
    except InvalidInput as why:
        return why.facts["meant"] or f"{name}:…"
    return term


def _refused(term: str, advice: str, known: Sequence[str] = (), meant: str = "") -> InvalidInput:
    shown = _short(term)
    problem = "is not known" if known else "is not valid"
    return InvalidInput(
        f"The filter {shown} {problem}. {advice}",
        code="unknown_filter",
        term=shown,
        known=list(known),
        meant=meant,
    )


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
