"""Forms of redaction: edit a profile, and try one on a text or a step."""

import re
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from django import forms

from timemachine.core.pure.errors import InvalidInput, TimeMachineError
from timemachine.text.redaction.commands import LONGEST_NAME, checked_name
from timemachine.text.redaction.pure.profile import BUILT_IN, BUILT_IN_HANDLE, FINDS, LEAVES, Profile
from timemachine.text.redaction.pure.rules import Rules, read_rules
from timemachine.web.errors import page_message
from timemachine.web.form_parts import ANY, RecordForm, SentOnce, WholeNumber, area_field

LONGEST_TEXT: Final = 200_000
DETECTED: Final = [
    ("secret", "Secrets: keys, tokens, passwords"),
    ("email", "E-mail addresses"),
    ("phone", "Phone numbers"),
    ("card", "Payment card numbers"),
    ("iban", "IBANs"),
    ("ssn", "US social security numbers"),
    ("password", "Passwords and keys recognised by context: commands, configuration, fragments of keys"),
    ("machine", "Home paths, user names and host names"),
    ("image", "Images, because their text cannot be searched"),
]
ABOUT_BUILT_IN: Final = f"“{BUILT_IN.name}” matches {FINDS}. It does not match {LEAVES}; use a profile with custom patterns and fields for those."
"""The description of the built-in profile where a profile is chosen."""
_SOMETHING: Final[Mapping[str, list[str]]] = {"detect": [DETECTED[0][0]]}
"""Parses one line of a field into rules."""
_PLACE: Final = re.compile(r"rules\.(\w+)(?:\[([0-9]+)\])?")


class ProfileForm(SentOnce):
    """Edit the rules of a profile; `name` only when it is created."""

    ids = "profile"
    name = forms.CharField(label="Name", max_length=LONGEST_NAME)
    detect = forms.MultipleChoiceField(
        label="Withhold", choices=DETECTED, required=False, widget=forms.CheckboxSelectMultiple
    )
    phone_regions = forms.CharField(
        label="Phone numbers without country code",
        required=False,
        max_length=100,
        help_text="Two-letter region codes, for example DE, US. International numbers (+49 …) always match.",
    )
    patterns = area_field(
        "Patterns",
        "One per line: a name, a colon, and a regular expression (RE2). (?i) ignores case.",
        rows=4,
        code=True,
    )
    fields_by_path = area_field(
        "Fields",
        "One path per line: agent, input.messages[*].content, retrieval.hits[*].metadata.*, session.user. "
        "For share links, agent and session.agent are equivalent: naming one withholds both.",
        rows=4,
        code=True,
    )

    def __init__(self, data: Mapping[str, Any] | None = None, *, profile: Profile | None = None) -> None:
        super().__init__(data, initial=_written(profile) if profile else None)
        if profile:
            del self.fields["name"]

    def clean(self) -> None:
        """Validate all fields and show every error at its field with its line, then check combinations."""
        super().clean()
        data = self.cleaned_data
        for part, lines in self._lines().items():
            for nth, line in enumerate(lines):
                self._try({**_SOMETHING, part: [line]}, nth)
        if "name" in data:
            try:
                checked_name(data["name"])
            except TimeMachineError as why:
                self.refuse(why)
        if not self.errors:
            self._try(self._lines())

    def rules(self) -> Rules:
        """Return the entered rules. Raises `InvalidInput`."""
        return _read(self._lines())

    def _lines(self) -> dict[str, list[str]]:
        """Return the lines of each field; none for a field that cannot be parsed."""
        data = self.cleaned_data
        return {
            "detect": data.get("detect", []),
            "phone_regions": re.findall(r"[^\s,]+", data.get("phone_regions", "")),
            "patterns": _lines(data.get("patterns", "")),
            "fields": _lines(data.get("fields_by_path", "")),
        }

    def _try(self, lines: Mapping[str, list[str]], nth: int | None = None) -> None:
        """Parse lines and show their errors; a line parsed alone is the `nth` of its field."""
        try:
            _read(lines)
        except InvalidInput as why:
            self.refuse(why, nth)

    def refuse(self, why: TimeMachineError, line_read: int | None = None) -> int:
        """Show an error at its field with its line; return the HTTP status."""
        where = str(why.facts.get("field", ""))
        place = _PLACE.match(where)
        part, nth = (place[1], place[2]) if place else (where, None)
        name = {"fields": "fields_by_path"}.get(part, part)
        at = line_read if line_read is not None else nth
        line = f"Line {int(at) + 1}: " if at is not None and part in ("patterns", "fields") else ""
        self.add_error(name if name in self.fields else None, line + page_message(why))
        self._refused = why.status
        return why.status


class TryForm(RecordForm):
    """Try a profile on a text, or on a step of a session."""

    ids = "try"
    places: ClassVar[Mapping[str, str]] = {"step_not_found": "sequence", ANY: "session"}
    profile = forms.ChoiceField(label="Profile", help_text=ABOUT_BUILT_IN)
    text = forms.CharField(
        label="Text",
        required=False,
        strip=False,
        max_length=LONGEST_TEXT,
        widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "false"}),
    )
    session = forms.CharField(
        label="Or a recorded step: session", required=False, max_length=200, help_text="ID or key."
    )
    sequence = WholeNumber(label="Step", required=False, min_value=1, max_value=2**62)

    def __init__(
        self, choices: list[Profile], data: Mapping[str, Any] | None = None, chosen: str = ""
    ) -> None:
        super().__init__(data, initial={"profile": chosen or BUILT_IN_HANDLE})
        self.fields["profile"].choices = [  # type: ignore[attr-defined]  # a ChoiceField has them
            (each.handle, f"{each.name}, version {each.version}") for each in choices
        ]

    def clean(self) -> None:
        """Require either a text or a step."""
        super().clean()
        data = self.cleaned_data
        if data.get("text") and (data.get("session") or self.data.get("sequence")):
            self.add_error("text", "Use either a text or a step, not both.")
        elif not data.get("text") and not data.get("session"):
            self.add_error("text", "Enter a text, or a session and a step.")
        elif not data.get("text") and "sequence" in data and data["sequence"] is None:
            self.add_error("sequence", "Enter a step of the session.")


def _written(profile: Profile) -> dict[str, object]:
    rules = profile.rules
    return {
        "detect": rules.detect,
        "phone_regions": ", ".join(rules.phone_regions),
        "patterns": "\n".join(
            f"{each.name}: {'(?i)' if each.ignore_case else ''}{each.pattern}" for each in rules.patterns
        ),
        "fields_by_path": "\n".join(rules.fields),
    }


def _read(lines: Mapping[str, list[str]]) -> Rules:
    """Return the rules of these lines. Raises `InvalidInput`."""
    return read_rules({**lines, "patterns": [_pattern(line) for line in lines.get("patterns", [])]})


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _pattern(line: str) -> dict[str, str]:
    name, colon, pattern = line.partition(":")
    if not colon:
        raise InvalidInput(
            f"{line[:60]!r} has no name. Enter a name, a colon and the expression.",
            code="invalid_field",
            field="rules.patterns",
        )
    return {"name": name.strip(), "pattern": pattern.strip()}
