"""What a link withholds of all that it shows: whatever leaves a scope is a copy that went through here. Without a profile it is the same.

Nothing of it is computed from a beginning: texts are redacted whole and cut after that. What was computed from the whole record
(which numbers only one answer has, say) goes where an answer is withheld in part.
"""

import codecs
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Final

from timemachine.core.payloads import queries as payloads
from timemachine.core.payloads.models import Payload
from timemachine.core.pure.content import content_of
from timemachine.governance.sharing.models import ShareLink
from timemachine.governance.sharing.pure.link_rules import rules_of
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.sessions.pure.label import label
from timemachine.recording.timeline.document import action_json
from timemachine.recording.timeline.rows import Row
from timemachine.recording.timeline.step import Head, Passage, Step
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.runs.frozen import question_of
from timemachine.replay.runs.models import Replay
from timemachine.text.redaction.pure.marks import FIELD, HASH, mark
from timemachine.text.redaction.pure.paths import ANY, Path, withhold
from timemachine.text.redaction.pure.projection import redact_action, redact_session
from timemachine.text.redaction.pure.rules import Rules
from timemachine.text.redaction.pure.text import redact_text
from timemachine.text.redaction.pure.values import redact_value

SAME_NAME: Final = (
    "agent",
    "name",
    "tool",
    "call_id",
    "tags",
    "model",
    "parameters",
    "grounding",
    "cached_from",
    "prices",
)
OF_HIT: Final = ("title", "uri", "frame", "version", "sha256", "matched")
OF_SESSION: Final = ("key", "name", "agent", "user", "metadata", "tags")
OF_TEXT: Final = ("hits", None, "text")
_WITHHELD_HIT: Final = {"title": mark(FIELD), "text": mark(FIELD), "sha256": mark(HASH)}
_IN_A_MAP: Final = {"withheld": mark(FIELD)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Veil:
    """The rules by which a link withholds; None where it withholds nothing."""

    rules: Rules | None

    @classmethod
    def of(cls, link: ShareLink) -> "Veil":
        """What that link withholds, as it was fixed when the link was made."""
        return cls(rules=None if link.redaction is None else rules_of(link.redaction))

    def text[T: (str, str | None)](self, text: T) -> T:
        """A text that somebody wrote or a program recorded."""
        return redact_text(text, self.rules).text if self.rules and text else text

    def value(self, value: Any) -> Any:
        """A JSON value."""
        return redact_value(value, self.rules).value if self.rules else value

    def measured(self, value: Any) -> Any:
        """A JSON value of which the numbers were measured."""
        return redact_value(value, self.rules, numbers=False).value if self.rules else value

    def document(self, document: dict[str, Any]) -> dict[str, Any]:
        """A recorded step as the document of the contract."""
        return redact_action(document, self.rules).document if self.rules else document

    def link(self, link: ShareLink) -> ShareLink:
        """The link itself: what it is to is named on every page."""
        if self.rules is None:
            return link
        shown = copy(link)
        shown.session = link.session and self.session(link.session)
        shown.replay = link.replay and self.replay(link.replay)
        shown.comparison = link.comparison and self._comparison(link.comparison)
        return shown

    def session(self, session: Session) -> Session:
        """A session's own fields."""
        if self.rules is None:
            return session
        shown = copy(session)
        fields = {name: getattr(session, name) for name in OF_SESSION}
        for name, value in redact_session(fields, self.rules).document.items():
            setattr(shown, name, value)
        return shown

    def replay(self, replay: Replay) -> Replay:
        """A replay: why it was made, by whom, and with what."""
        if self.rules is None:
            return replay
        shown = self._copied(
            replay, texts=("model", "reason", "requested_by", "cancel_requested_by"), values=("options",)
        )
        if Replay._meta.get_field("session").is_cached(replay):
            shown.session = self.session(replay.session)
        return shown

    def step(self, found: Step, whole: Action, first_bytes: int) -> Step:
        """One recorded step with the beginnings of its redacted payloads. `whole` is its action with everything read."""
        if self.rules is None:
            return found
        before = action_json(whole)
        after = self.document(before)
        hits = self.hits([each.hit for each in found.passages], after)
        texts = zip(_hit_documents(before), _hit_documents(after, len(hits)), strict=True)
        return replace(
            found,
            action=self.action(found.action, after),
            input=_head(found.input, before["input"], after["input"], first_bytes),
            output=_head(found.output, before["output"], after["output"], first_bytes),
            source=_head(found.source, before.get("source"), after.get("source"), first_bytes),
            passages=[
                Passage(hit=hit, text=_head(passage.text, each.get("text"), shown.get("text"), first_bytes))
                for passage, hit, (each, shown) in zip(found.passages, hits, texts, strict=True)
            ],
            parent=None if found.parent is None else self.rows(whole.session_id, [found.parent])[0],
            children=self.rows(whole.session_id, found.children),
        )

    def action(self, action: Action, after: Mapping[str, Any]) -> Action:
        """The action with the fields of its redacted document."""
        shown = copy(action)
        for name in SAME_NAME:
            setattr(shown, name, after[name])
        shown.client_id = after["id"]
        if action.parent_id_given is not None:
            shown.parent_id_given = after["parent"]
        shown.error_type, shown.error_message = _error(after["error"])
        shown.label = self._label(action, after)
        retrieval = after["retrieval"]
        if action.retrieval is not None and isinstance(retrieval, Mapping):
            shown.retrieval = {name: value for name, value in retrieval.items() if name != "hits"}
        if isinstance(shown.cached_from, Mapping) and shown.cached_from != action.cached_from:
            shown.cached_from = dict(_IN_A_MAP)  # it names a place and a time, which a mark is not
        return shown

    def hits[H: Any](self, hits: Sequence[H], after: Mapping[str, Any]) -> list[H]:
        """Passages with the fields that their step's redacted document has of them."""
        return [_hit(hit, shown) for hit, shown in zip(hits, _hit_documents(after, len(hits)), strict=True)]

    def rows(self, session_id: Any, rows: Sequence[Row]) -> list[Row]:
        """Lines of the timeline, named anew from what is left of the payloads that name them. One query."""
        if self.rules is None or not rows:
            return list(rows)
        actions = Action.objects.filter(session_id=session_id, sequence__in=[row.sequence for row in rows])
        found = {each.sequence: each for each in actions.select_related("input", "output")}
        return [self._row(row, found[row.sequence]) for row in rows]

    def named(self, action: Action) -> Action:
        """The action with its name of one line alone redacted: for a list, which shows nothing else of it."""
        if self.rules is None:
            return action
        shown = copy(action)
        shown.label = self._label(action, self.document(_brief(action)))
        return shown

    def question(self, action: Action) -> str:
        """What was asked at a step, as a list of asks says it."""
        before = _brief(action)
        after = self.document(before)
        shown = copy(action)
        shown.input = self.payload(action.input, before["input"], after["input"])
        return question_of(shown) or self._label(action, after)

    def session_name(self, name: str) -> str:
        """The name of a session, where nothing else of it is read."""
        return (
            name if self.rules is None else str(redact_session({"name": name}, self.rules).document["name"])
        )

    def payload(self, payload: Payload | None, before: Any, after: Any) -> Payload | None:
        """A payload with what is left of its value."""
        if payload is None or before == after:
            return payload
        content, shown = content_of(after), copy(payload)
        shown.sha256, shown.media_type, shown.data = mark(HASH), content.media_type, content.data
        return shown

    def touches(self, payload: Payload, fields: frozenset[str]) -> bool:
        """Whether anything of a payload is withheld that these fields of recorded steps refer to: then its bytes are not given."""
        if self.rules is None:
            return False
        try:
            value = payloads.value(payload)
        except UnicodeDecodeError:  # bytes of which nobody knows what they say
            return True
        paths = [path for path in self.rules.paths if path.field in fields and not path.of_session]
        by_path = any(
            _leads_to_text(path) if path.field == "retrieval" else withhold(value, path)[1] for path in paths
        )
        return by_path or redact_value(value, self.rules).touched

    def _comparison(self, comparison: Comparison) -> Comparison:
        return self._copied(comparison, texts=("reason", "requested_by"), values=("arms",))

    def _copied[R](self, row: R, *, texts: Sequence[str] = (), values: Sequence[str] = ()) -> R:
        shown = copy(row)
        for name in texts:
            setattr(shown, name, self.text(getattr(row, name)))
        for name in values:
            setattr(shown, name, self.value(getattr(row, name)))
        return shown

    def _row(self, row: Row, action: Action) -> Row:
        after = self.document(_brief(action))
        return replace(
            row,
            label=self._label(action, after),
            name=after["name"],
            tool=after["tool"],
            client_id=None,
            parent_id_given=None,
            call_id=None,
        )

    def _label(self, action: Action, after: Mapping[str, Any]) -> str:
        names = ("name", "tool", "input", "output")
        error = _error(after["error"])
        if {name: after[name] for name in names} == _named_by(action) and error == (
            action.error_type,
            action.error_message,
        ):
            return self.text(action.label)
        draft = ActionDraft(kind=action.kind, error_message=error[1], **{name: after[name] for name in names})
        return self.text(label(draft))


def _leads_to_text(path: Path) -> bool:
    """Whether a path withholds the text of a passage, alone or with what it is in."""
    wanted = zip(path.steps, OF_TEXT, strict=False)
    return len(path.steps) <= len(OF_TEXT) and all(
        step in (ANY, name) or name is None for step, name in wanted
    )


def _named_by(action: Action) -> dict[str, Any]:
    return {
        "name": action.name,
        "tool": action.tool,
        "input": payloads.value(action.input),
        "output": payloads.value(action.output),
    }


def _brief(action: Action) -> dict[str, Any]:
    """What of an action its line is named by, as a document."""
    error = {"type": action.error_type, "message": action.error_message}
    return _named_by(action) | {"error": error if any(error.values()) else None}


def _error(error: Any) -> tuple[str | None, str | None]:
    if error is None:
        return None, None
    return (error["type"], error["message"]) if "message" in error else (None, error["withheld"])


def _hit_documents(document: Mapping[str, Any], number: int | None = None) -> list[Mapping[str, Any]]:
    """The passages of a document; where they are withheld whole, so many passages that say so."""
    retrieval = document["retrieval"]
    hits = retrieval.get("hits") if isinstance(retrieval, Mapping) else []
    if not isinstance(hits, list) or (number and not hits):
        return [_WITHHELD_HIT] * (number or 0)
    return [each if isinstance(each, Mapping) else _WITHHELD_HIT for each in hits]


def _hit(hit: Any, shown: Mapping[str, Any]) -> Any:
    found = copy(hit)
    for name in OF_HIT:
        setattr(found, name, shown.get(name))
    for name in ("metadata", "scores"):
        value = shown.get(name)
        setattr(found, name, value if value is None or isinstance(value, Mapping) else dict(_IN_A_MAP))
    found.score = shown.get("score") if isinstance(shown.get("score"), int | float) else None
    return found


def _head(head: Head | None, before: Any, after: Any, first_bytes: int) -> Head | None:
    if head is None or before == after:
        return head
    content = content_of(after)
    text = codecs.getincrementaldecoder("utf-8")("surrogatepass").decode(content.data[:first_bytes])
    return Head(
        sha256=mark(HASH),
        media_type=content.media_type,
        size=len(content.data),
        text=text,
        cut=len(content.data) > first_bytes,
        withheld=True,
    )
