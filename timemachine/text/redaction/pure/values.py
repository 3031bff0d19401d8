"""Redact a JSON value: its texts, its keys, and numbers that match as texts. Quote the text around marks."""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.text.redaction.pure.marks import NAMES, OPENING, OPENING_ERASED, has_mark, is_mark, mark
from timemachine.text.redaction.pure.paths import path_part
from timemachine.text.redaction.pure.pieces import pieces_in
from timemachine.text.redaction.pure.placeholders import is_no_prose, looks_made_up
from timemachine.text.redaction.pure.rules import Rules
from timemachine.text.redaction.pure.secrets import names_a_secret
from timemachine.text.redaction.pure.text import Finding, redact_text

Tally = Counter[tuple[str, str]]
"""How often something was withheld, by the name in its mark and what was found."""
_SHORTEST_NUMBER: Final = 4
_SHA256: Final = re.compile("[0-9a-f]{64}")
_SESSION_ID: Final = re.compile("[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_MADE_HERE: Final = dict.fromkeys(("sha256", "sha256_now", "prompt_sha256"), _SHA256) | {
    "session": _SESSION_ID
}
_NAMED: Final = "value of a secret field"
SPREAD: Final = "password or key in pieces"
_AUTHORIZES: Final = frozenset({"auth", "_auth", "_authToken", "identitytoken", "registrytoken"})
"""The keys in files of docker and npm whose values are credentials in base64 or tokens."""
_PROGRAM: Final = ("command", "cmd", "program", "executable")
_ARGUMENTS: Final = ("args", "arguments", "argv")
_PASS_OF: Final = re.compile(
    r"(?i)(?:db|database|smtp|mail|imap|mysql|pg|postgres|redis|mongo|ftp|ssh|ldap|http|proxy|admin|root|user|sudo|become|login|auth|wifi)[_.-]?pass"
)
"""Keys of passwords that end with `pass`. Others (`first_pass`) count passes."""
_USERS: Final = frozenset({"user", "username", "login", "email", "User", "Username"})
_SHORT: Final = frozenset({"pass", "pw", "Pass"})
"""Short names of passwords next to the name of a user."""
EXCERPT_BEFORE: Final = 80
LONGEST_EXCERPT: Final = 240
_MARK_ALONE: Final = frozenset({"withheld"})
"""The keys of an object that replaces a withheld object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RedactedValue:
    """The value with its marks, and what they replace."""

    value: Any
    tally: Tally

    @property
    def touched(self) -> bool:
        """Whether anything was withheld."""
        return bool(self.tally)


def redact_value(value: Any, rules: Rules, *, numbers: bool = True, ours: bool = False) -> RedactedValue:
    """Redact a JSON value. Without a finding, the result equals the input.

    Without `numbers`, numbers stay: they were measured, and their digits mean nothing else. In measured values and
    those that are `ours`, hashes and ids that the product made stay too.
    """
    tally: Tally = Counter()
    redactor = _Redactor(rules=rules, tally=tally, numbers=numbers, ours=ours or not numbers)
    return RedactedValue(value=redactor.redacted(value), tally=tally)


def is_made_here(name: str, value: Any) -> bool:
    """Return whether the value of one of our fields is a hash or an id that the product made, not recorded text."""
    form = _MADE_HERE.get(name)
    return form is not None and isinstance(value, str) and form.fullmatch(value) is not None


def tally_of(findings: Iterable[Finding]) -> Tally:
    """Count the findings."""
    return Counter((each.rule, each.what) for each in findings)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Redactor:
    """Redacts a value and counts the findings."""

    rules: Rules
    tally: Tally
    numbers: bool
    ours: bool

    def redacted(self, value: Any, *, secret: bool = False) -> Any:
        """Redact a value. With `secret`, it is under a key that names a secret, and is withheld however it looks."""
        if isinstance(value, dict):
            return self._object(value)
        if isinstance(value, list):
            return [self.redacted(each, secret=secret) for each in self._without_pieces(value)]
        if isinstance(value, str):
            return self._text(value, value, secret=secret)
        if value is None or isinstance(value, bool) or not self.numbers:
            return value
        return self._text(value, json.dumps(value), secret=secret)

    def _without_arguments(self, value: JsonObject) -> JsonObject:
        """Withhold passwords among arguments whose program is in another key: `{"command": "curl", "args": ["-u", …]}`."""
        program = next((value[key] for key in _PROGRAM if isinstance(value.get(key), str)), None)
        lists = [key for key in _ARGUMENTS if isinstance(value.get(key), list)]
        if program is None or not lists:
            return value
        return value | {key: self._without_pieces(value[key], program=program) for key in lists}

    def _without_pieces(self, entries: list[Any], *, program: str | None = None) -> list[Any]:
        """Withhold what is a secret only together with the entries around it, or with their program."""
        if program is not None:
            return self._without_pieces([program, *entries])[1:]
        texts = [each if isinstance(each, str) else "" for each in entries]
        if "password" not in self.rules.detect or not any(texts):
            return entries
        redacted = list(entries)
        for nth, start, end in reversed(pieces_in(texts)):
            if not has_mark(texts[nth]):
                redacted[nth] = redacted[nth][:start] + mark(NAMES["password"]) + redacted[nth][end:]
                self.tally[NAMES["password"], SPREAD] += 1
        return redacted

    def _text(self, value: Any, text: str, *, secret: bool) -> Any:
        if secret and text and not is_mark(text, self.rules.marks):
            self.tally[NAMES["secret"], _NAMED] += 1
            return mark(NAMES["secret"])
        if not isinstance(value, str) and len(text) < _SHORTEST_NUMBER:
            return value
        found = redact_text(text, self.rules)
        if not found.findings:
            return value
        self.tally.update(tally_of(found.findings))
        return found.text if isinstance(value, str) else mark(found.findings[0].rule)

    def _object(self, value: JsonObject) -> JsonObject:
        named = "secret" in self.rules.detect
        withheld = _values_of_named(value) if "password" in self.rules.detect else ()
        value = self._without_arguments(value)
        redacted: JsonObject = {}
        taken = set(value)
        for key, inner in value.items():
            found = redact_text(key, self.rules)
            self.tally.update(tally_of(found.findings))
            name = _free(found.text, taken) if found.findings else key
            taken.add(name)
            unchanged = self.ours and is_made_here(name, inner)
            redacted[name] = (
                inner
                if unchanged
                else self.redacted(inner, secret=named and (_names_a_secret(name) or key in withheld))
            )
        return redacted


def _names_a_secret(name: str) -> bool:
    """Return whether the key names a secret. A key with a mark does not: the mark's words are not the key's."""
    return OPENING not in name and OPENING_ERASED not in name and names_a_secret(name)


def _values_of_named(value: JsonObject) -> Collection[str]:
    """Return the keys whose values are secrets because of another key of the object or a base64 form: `{"name": "PASSWORD", "value": …}`."""
    names = [value[key] for key in ("name", "Name", "key", "Key") if isinstance(value.get(key), str)]
    named = any(_names_a_secret(each) for each in names)
    signs_in = not _USERS.isdisjoint(value)
    return {
        key
        for key, inner in value.items()
        if isinstance(inner, str)
        and (
            (named and key in ("value", "Value") and is_no_prose(inner))
            or (key in _AUTHORIZES and looks_made_up(inner))
            or ((_PASS_OF.fullmatch(key) or (signs_in and key in _SHORT)) and is_no_prose(inner))
        )
    }


def _free(name: str, taken: set[str]) -> str:
    """Return the name, with a number after it if another key has that name."""
    if name not in taken:
        return name
    return next(each for number in count(2) if (each := f"{name} {number}") not in taken)


def excerpts(value: Any, opening: str, place: str) -> Iterator[tuple[str, str]]:
    """Yield an excerpt around the first mark in each text of a redacted JSON value. Marks begin with `opening`.

    Each comes with its path: `place`, followed by the path to the text as rules write it.
    """
    if isinstance(value, str):
        at = value.find(opening)
        if at >= 0:
            begin = max(at - EXCERPT_BEFORE, 0)
            end = begin + LONGEST_EXCERPT
            yield place, ("…" if begin else "") + value[begin:end] + ("…" if len(value) > end else "")
    elif isinstance(value, list | tuple):
        for nth, each in enumerate(value):
            yield from excerpts(each, opening, f"{place}[{nth}]")
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from excerpts(name, opening, place)
            yield from excerpts(
                each, opening, place if value.keys() == _MARK_ALONE else f"{place}{path_part(name)}"
            )


def with_texts_replaced(value: Any, texts: Collection[str | None], by: str) -> Any:
    """Return a JSON value in which `by` replaces each string that is one of the texts."""
    if isinstance(value, str):
        return by if value in texts else value
    if isinstance(value, list):
        return [with_texts_replaced(each, texts, by) for each in value]
    if isinstance(value, Mapping):
        return {name: with_texts_replaced(each, texts, by) for name, each in value.items()}
    return value
