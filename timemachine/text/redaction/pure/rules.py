"""The rules of a redaction profile, and parsing them strictly from JSON."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Self

from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.postgres_text import is_plain
from timemachine.text.redaction.pure.engine import Refused, custom, matches_empty
from timemachine.text.redaction.pure.marks import LONGEST_NAME, NAMES, RESERVED, can_be_a_name
from timemachine.text.redaction.pure.paths import LONGEST, OF_ACTION, OF_SESSION, Path, parse_path
from timemachine.text.redaction.pure.people import is_region

DETECTORS: Final = tuple(NAMES)
MOST_PATTERNS, MOST_FIELDS, MOST_REGIONS = 50, 100, 10
LONGEST_PATTERN: Final = 500
LARGEST_PROGRAM: Final = 2_000
"""The most instructions of a compiled pattern. `(\\pL{1,900}){1,900}` is short but would take minutes for a text."""
SHORTEST_WORDING: Final = 16
"""The length of the shortest text that can be found, and of the prefix by which texts are looked up."""
_FIELDS: Final = ("detect", "phone_regions", "patterns", "fields")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """A project's own pattern in RE2's syntax. Its name is in the mark."""

    name: str
    pattern: str
    ignore_case: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Wordings:
    """Literal texts to find in linear time, by their prefix, longest first. Matches are marked with `name`."""

    name: str
    by_begin: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, texts: Iterable[str], name: str) -> Self:
        """Index these texts, without those that are too short."""
        found: dict[str, list[str]] = {}
        for text in sorted(
            {each for each in texts if len(each) >= SHORTEST_WORDING}, key=lambda each: -len(each)
        ):
            found.setdefault(text[:SHORTEST_WORDING], []).append(text)
        return cls(name=name, by_begin={begin: tuple(each) for begin, each in found.items()})

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the spans of matches from left to right, at each position the longest."""
        place = 0
        while place <= len(text) - SHORTEST_WORDING:
            found = self.by_begin.get(text[place : place + SHORTEST_WORDING], ())
            length = next((len(each) for each in found if text.startswith(each, place)), 0)
            if length:
                yield place, place + length
            place += length or 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What is withheld: findings of detectors, matches of patterns, fields by path, and literal texts.

    Profiles have no literal texts. They are used for erasing.
    """

    detect: tuple[str, ...] = ()
    phone_regions: tuple[str, ...] = ()
    patterns: tuple[Pattern, ...] = ()
    fields: tuple[str, ...] = ()
    paths: tuple[Path, ...] = field(default=(), compare=False)
    texts: Wordings | None = None

    @property
    def looks_into_texts(self) -> bool:
        """Whether the rules search texts, and do not only withhold fields."""
        return bool(self.detect or self.patterns or self.texts)

    @property
    def marks(self) -> frozenset[str]:
        """The names that marks of these rules can have, and those that any redacted text can contain."""
        return RESERVED | {each.name for each in (*self.patterns, *((self.texts,) if self.texts else ()))}

    def as_json(self) -> dict[str, object]:
        """Return the rules as `read_rules` reads them and the API returns them."""
        return {
            "detect": list(self.detect),
            "phone_regions": list(self.phone_regions),
            "patterns": [asdict(each) for each in self.patterns],
            "fields": list(self.fields),
        }


def read_rules(given: Any) -> Rules:
    """Parse rules as the API and the form send them.

    Raises:
        InvalidInput: Some part is not valid. The message names it and says what is.
    """
    if not isinstance(given, Mapping):
        raise _invalid(
            "rules", "Rules must be a JSON object with `detect`, `phone_regions`, `patterns` and `fields`."
        )
    unknown = sorted(str(name) for name in given if name not in _FIELDS)
    if unknown:
        raise _invalid(
            "rules", f"Unknown part {unknown[0][:80]!r} of the rules; the parts are {', '.join(_FIELDS)}."
        )
    fields = _texts(given, "fields", MOST_FIELDS)
    rules = Rules(
        detect=_detectors(given),
        phone_regions=_regions(given),
        patterns=_patterns(given),
        fields=fields,
        paths=tuple(_path(each, place) for place, each in enumerate(fields)),
    )
    if not (rules.detect or rules.patterns or rules.fields):
        raise _invalid("rules", "The rules withhold nothing: choose a detector, a pattern or a field.")
    return rules


def _detectors(given: Mapping[str, Any]) -> tuple[str, ...]:
    chosen = _texts(given, "detect", len(DETECTORS))
    for place, name in enumerate(chosen):
        if name not in DETECTORS:
            raise _invalid(
                f"rules.detect[{place}]",
                f"Unknown detector {name[:80]!r}; the detectors are {', '.join(DETECTORS)}.",
            )
    return tuple(name for name in DETECTORS if name in chosen)


def _regions(given: Mapping[str, Any]) -> tuple[str, ...]:
    chosen = _texts(given, "phone_regions", MOST_REGIONS)
    for place, code in enumerate(chosen):
        if not is_region(code):
            raise _invalid(
                f"rules.phone_regions[{place}]",
                f"Unknown phone region {code[:80]!r}; write two letters, like DE, US or GB.",
            )
    return chosen


def _patterns(given: Mapping[str, Any]) -> tuple[Pattern, ...]:
    sent = _list(given, "patterns", MOST_PATTERNS)
    found = tuple(_pattern(each, f"rules.patterns[{place}]") for place, each in enumerate(sent))
    names = [each.name for each in found]
    for place, name in enumerate(names):
        if name in names[:place]:
            raise _invalid(
                f"rules.patterns[{place}].name", f"Two patterns have the name {name!r}; rename one."
            )
    return found


def _pattern(sent: Any, where: str) -> Pattern:
    if not isinstance(sent, Mapping) or not {"name", "pattern"} <= set(sent) <= {
        "name",
        "pattern",
        "ignore_case",
    }:
        raise _invalid(
            where, "A pattern must be an object with `name`, `pattern` and, optionally, `ignore_case`."
        )
    name, written, ignore_case = sent["name"], sent["pattern"], sent.get("ignore_case", False)
    if not isinstance(name, str) or not can_be_a_name(name):
        raise _invalid(
            f"{where}.name",
            f"A pattern name must have 1 to {LONGEST_NAME} letters, digits, spaces, dots or hyphens, and must not be the name "
            "of a detector.",
        )
    if not isinstance(ignore_case, bool):
        raise _invalid(f"{where}.ignore_case", "`ignore_case` must be true or false.")
    if not isinstance(written, str) or not 0 < len(written) <= LONGEST_PATTERN or not is_plain(written):
        raise _invalid(f"{where}.pattern", f"A pattern must have 1 to {LONGEST_PATTERN} characters.")
    _check(written, ignore_case, f"{where}.pattern")
    return Pattern(name=name, pattern=written, ignore_case=ignore_case)


def _check(written: str, ignore_case: bool, where: str) -> None:
    try:
        read = custom(written, ignore_case=ignore_case)
    except Refused as why:
        reason = why.args[0] if why.args else "it cannot be read"
        words = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise _invalid(
            where,
            f"This pattern cannot be used: {words}. Patterns use RE2 syntax, which has no look-around or back-references.",
        ) from why
    if read.programsize > LARGEST_PROGRAM:
        raise _invalid(where, "This pattern repeats too much for long texts; use smaller counts.")
    if matches_empty(read):
        raise _invalid(
            where,
            "This pattern also matches empty text, which is everywhere and hides what other patterns match there. Make it match at "
            "least one character (.+ instead of .*).",
        )


def _path(written: str, place: int) -> Path:
    found = parse_path(written) if len(written) <= LONGEST else None
    if found is None:
        raise _invalid(
            f"rules.fields[{place}]",
            f"{written[:80]!r} does not name a field that can be withheld. Write it like input, retrieval.hits[*].title or session.user; "
            f"the fields of a step are {', '.join(OF_ACTION)}, those of its session {', '.join(OF_SESSION)}.",
        )
    return found


def _texts(given: Mapping[str, Any], name: str, most: int) -> tuple[str, ...]:
    sent = _list(given, name, most)
    if not all(isinstance(each, str) and is_plain(each) for each in sent):
        raise _invalid(f"rules.{name}", f"`{name}` must be a list of strings.")
    return tuple(dict.fromkeys(sent))


def _list(given: Mapping[str, Any], name: str, most: int) -> list[Any]:
    sent = given.get(name, [])
    if not isinstance(sent, list) or len(sent) > most:
        raise _invalid(f"rules.{name}", f"`{name}` must be a list of at most {most}.")
    return sent


def _invalid(where: str, says: str) -> InvalidInput:
    return InvalidInput(says, code="invalid_field", field=where)
