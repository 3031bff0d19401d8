"""A recorded step and its session as a reader sees them, from whom the rules withhold something.

What repeats a withheld text is withheld too: sentences of an answer, matched words of a passage, the hash of a passage.
Measured numbers (times, tokens, money, scores, ranks), hashes and ids that the product made, and enumerated values are
never withheld because of how they look.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.text.redaction.pure.marks import FIELD, HASH, REPEATS, mark
from timemachine.text.redaction.pure.paths import withhold
from timemachine.text.redaction.pure.rules import Rules
from timemachine.text.redaction.pure.text import RedactedText, redact_text
from timemachine.text.redaction.pure.values import Tally, is_made_here, redact_value

_MEASURED: Final = "sequence kind layer role significance importance iteration started_at duration_ms usage cost_usd cached saved_usd"
MEASURED: Final = frozenset(_MEASURED.split())
_RETRIEVAL: Final = "mode top_k adaptive cut_by semantic_search curve not_embedded thresholds min_score"
_OF_RETRIEVAL: Final = frozenset(_RETRIEVAL.split())
_OF_HIT: Final = frozenset({"rank", "score", "scores", "frame", "version", "sha256"})
_OF_GROUNDING: Final = frozenset(
    {"score", "label", "sentence_count", "grounded_sentences", "has_warning", "method"}
)
_OF_SENTENCE: Final = frozenset({"start", "end", "score", "frame", "passage_start", "passage_end"})
_OF_FIELD: Final = {"grounding": _OF_GROUNDING, "retrieval": _OF_RETRIEVAL}
_MEASURED_BESIDE: Final = frozenset({"prices"})
_OURS: Final = frozenset({"parameters", "cached_from", "copied_from"})
_NOT_SHOWN: Final = {"withheld": mark(REPEATS)}


@dataclass(frozen=True, slots=True, kw_only=True)
class RedactedDocument:
    """The document with its marks. `touched` names the fields in which anything was withheld, in order."""

    document: JsonObject
    touched: tuple[str, ...]
    tally: Tally


def redact_action(document: Mapping[str, Any], rules: Rules) -> RedactedDocument:
    """Redact a recorded step (an `ActionOut` as JSON values).

    Without a finding, the result equals the input. `touched` names every field that must not be disclosed as recorded.
    """
    return _redacted_document(document, rules, of_session=False)


def redact_session(fields: Mapping[str, Any], rules: Rules) -> RedactedDocument:
    """Redact the fields of a session: those given of `key`, `name`, `agent`, `user`, `metadata`, `tags`."""
    return _redacted_document(fields, rules, of_session=True)


def is_touched(name: str, value: Any, rules: Rules) -> bool:
    """Return whether the rules match in a field of a record: `hit.N`, `grounding`, `retrieval` or another one.

    Measured numbers in them do not count, as in a step.
    """
    is_hit = name.startswith("hit.") and not name.endswith(".text")
    measured = _OF_HIT | {"matched"} if is_hit else _OF_FIELD.get(name)
    if measured is None or not isinstance(value, dict):
        return redact_value(value, rules).touched
    sentences = value.get("sentences") if name == "grounding" else None
    parts = [(value if sentences is None else {**value, "sentences": None}, measured)]
    parts += [(each, _OF_SENTENCE) for each in sentences or () if isinstance(each, dict)]
    return any(
        redact_value(each, rules, numbers=key not in of).touched
        for part, of in parts
        for key, each in part.items()
    )


def error_of(error: Any) -> tuple[str | None, str | None]:
    """Return type and message of an error in a redacted document; if it is withheld, a mark as message."""
    if error is None:
        return None, None
    return (error["type"], error["message"]) if "message" in error else (None, error["withheld"])


def _redacted_document(document: Mapping[str, Any], rules: Rules, *, of_session: bool) -> RedactedDocument:
    tally: Tally = Counter()
    redacted = dict(document)
    for path in rules.paths:
        if path.of_session == of_session and path.field in redacted:
            redacted[path.field], number = withhold(redacted[path.field], path)
            tally += Counter({(FIELD, FIELD): number})
    if of_session:
        redacted = _redacted(redacted, rules, tally)
    else:
        # measured fields, a parent given by number, and fields with their own treatment are not searched
        parent = {"parent"} if isinstance(document.get("parent"), int) else set()
        unchanged = MEASURED | {"grounding", "retrieval"} | parent
        redacted = _redacted(redacted, rules, tally, unchanged=unchanged, measured=_MEASURED_BESIDE)
        redacted |= _what_repeats(document, redacted, rules, tally)
    touched = tuple(name for name in document if redacted[name] != document[name])
    return RedactedDocument(document=redacted, touched=touched, tally=tally)


def _redacted(
    fields: Mapping[str, Any],
    rules: Rules,
    tally: Tally,
    *,
    unchanged: frozenset[str] = frozenset(),
    measured: frozenset[str] = frozenset(),
) -> JsonObject:
    """Redact the values of fields, except those in `unchanged`. Numbers in `measured` fields stay."""
    redacted = dict(fields)
    for name, value in fields.items():
        if name not in unchanged:
            found = redact_value(value, rules, numbers=name not in measured, ours=name in _OURS)
            redacted[name] = found.value
            tally += found.tally
    return redacted


def _what_repeats(
    document: Mapping[str, Any], redacted: Mapping[str, Any], rules: Rules, tally: Tally
) -> JsonObject:
    """Redact the fields that repeat recorded texts: the passages of the step, then the sentences of its answer."""
    found = {name: redacted[name] for name in ("retrieval", "grounding") if name in redacted}
    query_withheld = redacted.get("input") != document.get("input")
    texts: dict[Any, RedactedText | None] = {}
    if isinstance(found.get("retrieval"), dict):
        hits = found["retrieval"].get("hits")
        found["retrieval"] = _redacted(
            found["retrieval"], rules, tally, unchanged=frozenset({"hits"}), measured=_OF_RETRIEVAL
        )
        if isinstance(hits, list):
            found["retrieval"]["hits"] = [
                _hit(each, hit, rules, tally, query_withheld, texts) if isinstance(hit, dict) else hit
                for each, hit in zip(document["retrieval"].get("hits"), hits, strict=True)
            ]
    if isinstance(found.get("grounding"), dict):
        sentences = found["grounding"].get("sentences")
        found["grounding"] = _redacted(
            found["grounding"], rules, tally, unchanged=frozenset({"sentences"}), measured=_OF_GROUNDING
        )
        if isinstance(sentences, list):
            answer = _Answer.of(document.get("output"), redacted.get("output"), rules)
            found["grounding"]["sentences"] = [
                _sentence(each, answer, texts, rules, tally) for each in sentences
            ]
    return found


def _hit(
    before: JsonObject,
    hit: JsonObject,
    rules: Rules,
    tally: Tally,
    query_withheld: bool,
    texts: dict[Any, RedactedText | None],
) -> JsonObject:
    """Redact a passage. `texts` receives its redacted text, None if it is withheld completely."""
    ours = frozenset(name for name, value in hit.items() if is_made_here(name, value))
    found = _redacted(hit, rules, tally, unchanged=ours | {"matched"}, measured=_OF_HIT)
    touched = found.get("text") != before.get("text")
    if touched:
        found["sha256"] = mark(HASH)
        tally[HASH, "hash of withheld text"] += "sha256" in before
        redacted = redact_text(before["text"], rules) if isinstance(before["text"], str) else None
        texts[before.get("frame")] = redacted if redacted and redacted.text == found["text"] else None
    if "matched" in hit and hit["matched"] is not None:
        parts = touched or query_withheld or found.get("title") != before.get("title")
        words = redact_value(hit["matched"], rules, numbers=False)
        found["matched"] = _NOT_SHOWN if parts else words.value
        tally += Counter({(REPEATS, REPEATS): 1}) if parts else words.tally
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """A redacted answer. `text` maps positions, if known; `touched`: something was withheld."""

    touched: bool
    text: RedactedText | None

    @classmethod
    def of(cls, before: Any, after: Any, rules: Rules) -> "_Answer":
        text = redact_text(before, rules) if isinstance(before, str) else None
        known = text if text is not None and text.text == after else None
        return cls(touched=before != after, text=known)

    def sentence(self, start: Any, end: Any, text: Any) -> tuple[int, int, str] | None:
        """Return the new start, end and text of a sentence. None if it is not in the answer."""
        if self.text is None or not isinstance(start, int) or not isinstance(end, int):
            return None
        if not 0 <= start <= end <= len(self.text.before) or text not in (None, self.text.before[start:end]):
            return None
        begins, ends = self.text.place(start), self.text.place(end, end=True)
        return begins, ends, self.text.text[begins:ends]


def _sentence(
    sentence: Any, answer: _Answer, texts: Mapping[Any, RedactedText | None], rules: Rules, tally: Tally
) -> Any:
    """Redact a sentence by cutting it from the redacted answer, as a secret may span the end of a sentence."""
    if not isinstance(sentence, dict):
        return redact_value(sentence, rules).value
    found = dict(sentence)
    text = sentence.get("text")
    place = answer.sentence(sentence.get("start"), sentence.get("end"), text)
    if place is not None:
        found["start"], found["end"] = place[:2]
        found["text"] = None if text is None else place[2]
    elif answer.touched:
        found |= {name: None for name in ("start", "end") if name in sentence}
        found["text"] = mark(REPEATS)
        tally[REPEATS, REPEATS] += 1
    found = _redacted(found, rules, tally, measured=_OF_SENTENCE)
    if found.get("text") != text and "missing" in found:
        found["missing"] = None
    return found | _passage(sentence, texts)


def _passage(sentence: Mapping[str, Any], texts: Mapping[Any, RedactedText | None]) -> JsonObject:
    """Return the new position of a sentence's support in its passage."""
    frame, start, end = (sentence.get(name) for name in ("frame", "passage_start", "passage_end"))
    if isinstance(frame, list | dict) or frame not in texts:
        return {}
    text = texts[frame]
    if text is None or not isinstance(start, int) or not isinstance(end, int):
        return {name: None for name in ("passage_start", "passage_end") if name in sentence}
    return {"passage_start": text.place(start), "passage_end": text.place(end, end=True)}
