"""Withholding what a link's redaction profile matches. Without a profile every value is returned unchanged.

Texts are redacted before they are shortened, so that shortening cannot hide a match from a rule.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from timemachine.core.payloads import queries as payloads
from timemachine.core.payloads.models import Payload
from timemachine.core.pure.content import content_of, value_of
from timemachine.core.pure.json_types import JsonObject
from timemachine.governance.sharing.models import ShareLink
from timemachine.governance.sharing.pure.link_rules import rules_of
from timemachine.recording.sessions.models import Action
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.sessions.pure.label import label
from timemachine.text.redaction.pure.paths import ANY, Path, withhold
from timemachine.text.redaction.pure.projection import error_of, redact_action, redact_session
from timemachine.text.redaction.pure.rules import Rules
from timemachine.text.redaction.pure.text import redact_text
from timemachine.text.redaction.pure.values import redact_value

_PASSAGE_TEXT: Final = ("hits", None, "text")


@dataclass(frozen=True, slots=True, kw_only=True)
class Redactor:
    """Applies the rules of a link; `rules` is None if it withholds nothing."""

    rules: Rules | None

    @classmethod
    def of(cls, link: ShareLink) -> "Redactor":
        """Return the redactor of a link, with the rules as they were when it was created."""
        return cls(rules=None if link.redaction is None else rules_of(link.redaction))

    def text[T: (str, str | None)](self, text: T) -> T:
        """Return a text, redacted."""
        return redact_text(text, self.rules).text if self.rules and text else text

    def value(self, value: Any) -> Any:
        """Return a JSON value, redacted."""
        return redact_value(value, self.rules).value if self.rules else value

    def measurements(self, value: Any) -> Any:
        """Return a JSON value, redacted except for its numbers, which were measured."""
        return redact_value(value, self.rules, numbers=False).value if self.rules else value

    def document(self, document: JsonObject) -> JsonObject:
        """Return a recorded step in the form of the API, or some of its fields, redacted."""
        return redact_action(document, self.rules).document if self.rules else document

    def session(self, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return fields that describe a session, redacted."""
        return redact_session(fields, self.rules).document if self.rules else fields

    def label(self, action: Action, document: Mapping[str, Any]) -> str:
        """Return the one line that names a step, made again if something that it is based on is withheld.

        `document` is the redacted `naming_fields` of the action, or more of its fields.
        """
        error = error_of(document["error"])
        before = naming_fields(action)
        names = ("name", "tool", "input", "output")
        if all(document[name] == before[name] for name in names) and error == (
            action.error_type,
            action.error_message,
        ):
            return self.text(action.label)
        draft = ActionDraft(
            kind=action.kind, error_message=error[1], **{name: document[name] for name in names}
        )
        return self.text(label(draft))

    def withholds(self, payload: Payload, fields: frozenset[str]) -> bool:
        """Return whether something of a payload in these fields is withheld, so that it is not served."""
        if self.rules is None:
            return False
        try:
            value = value_of(payload.media_type, payload.data)
        except ValueError:  # what these bytes say cannot be checked
            return True
        paths = [path for path in self.rules.paths if path.field in fields and not path.of_session]
        by_path = any(
            _leads_to_text(path) if path.field == "retrieval" else withhold(value, path)[1] for path in paths
        )
        return by_path or redact_value(value, self.rules).touched


def naming_fields(action: Action) -> JsonObject:
    """Return the fields of an action that its label is made from, in the form of the API."""
    error = {"type": action.error_type, "message": action.error_message}
    return {
        "name": action.name,
        "tool": action.tool,
        "input": payloads.value(action.input),
        "output": payloads.value(action.output),
        "error": error if any(error.values()) else None,
    }


def payload_text(payload: Payload | None, before: Any, after: Any) -> str | None:
    """Return the text of a payload that was `before` redaction and is `after` it; None if not recorded."""
    if payload is None:
        return None
    return payloads.text(payload) if before == after else payloads.text_of(content_of(after).data)


def _leads_to_text(path: Path) -> bool:
    """Return whether a path withholds the text of a passage, alone or with what it is in."""
    steps = zip(path.steps, _PASSAGE_TEXT, strict=False)
    return len(path.steps) <= len(_PASSAGE_TEXT) and all(
        step in (ANY, name) or name is None for step, name in steps
    )
