"""The evidence of exactly what a link shows, and which of its fields are disclosed.

Names of people are not disclosed: record 0 shows only its figures and, for a comparison, its variants, for the branch of a
continuation what it continues. A
redaction profile withholds every field with a match, and every field that repeats it; a path withholds its
group of fields in every record. Under a profile nothing that quotes an answer is disclosed: the basis of a
verdict, the prompts of a judge, and, if the input is withheld, the words that a passage was found by.

A cached answer names, in its `words`, the ask that it was first given to. They are withheld if that ask is in
another session, which no page of the link shows: a field is disclosed completely or not at all. They are also
withheld if their agent is a key or a person, as earlier versions recorded.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import partial
from typing import IO, Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.evidence.bundles import exporting
from timemachine.evidence.pure.record import Field, Record
from timemachine.evidence.sealing.comparison_records import CELL, FORM, MARK, OPINION, RESULTS, name_of
from timemachine.evidence.sealing.comparison_subject import comparison_subject, run_ended_at
from timemachine.evidence.sealing.disclosure import Discloses
from timemachine.evidence.sealing.previous_seals import Reader
from timemachine.evidence.sealing.session_records import CONTINUES
from timemachine.evidence.sealing.subjects import Subject
from timemachine.governance.sharing.boundaries import counted_steps
from timemachine.governance.sharing.models import COMPARISON, REPLAY, SESSION, ShareLink
from timemachine.governance.sharing.pure.link_rules import is_maker, rules_of
from timemachine.recording.sessions.models import Session
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.comparison.queries import marks_of, opinions_of
from timemachine.replay.runs.models import Replay
from timemachine.text.redaction.pure.paths import Path
from timemachine.text.redaction.pure.projection import is_touched
from timemachine.text.redaction.pure.rules import Rules
from timemachine.text.redaction.pure.text import redact_text
from timemachine.text.redaction.pure.values import redact_value

FACTS: Final = "facts"
# Of judge models' opinions: who requested them. Of steps: which other session they were copied from. No page of the link shows it.
_OF_PROJECT: Final = frozenset({"about", "prompt", "raw", "copied_from"})
# What quotes both the recorded and the new answer, one of which may be withheld. In a replayed step it is part of its words.
_QUOTING: Final = {COMPARISON: frozenset({"evidence"}), REPLAY: frozenset({"words"})}
_OPINION: Final = "opinion"
_WHOLE: Final = frozenset({"input", "output", "source", "copied_from", "grounding", "retrieval"})
Texts = Callable[[], Mapping[str, str]]


def can_be_written(link: ShareLink) -> bool:
    """Return whether there is evidence of what the link shows; not while a replay or comparison runs."""
    if link.comparison is not None:
        return run_ended_at(link.comparison) is not None
    return link.replay is None or link.replay.finished_at is not None


def write(link: ShareLink, target: IO[bytes], named: Mapping[str, Any]) -> None:
    """Write the bundle of what the link shows; `named` describes its sessions. Raises `Conflict`, `NotFound`.

    Sealed records are read from the database as they were recorded; read models are already redacted.
    """
    audience = exporting.Audience(
        discloses=discloses(link), described=named, link=about(link), reader=reader(link)
    )
    if link.target_type == COMPARISON:
        comparison = Comparison.objects.select_related("project").get(id=str(link.comparison_id))
        rows = shown_records(link, comparison)
        exporting.write_comparison(target, comparison, rows=rows, audience=audience)
    elif link.target_type == REPLAY:
        replay = Replay.objects.select_related("session__project", "project").get(id=str(link.replay_id))
        exporting.write_replay(target, replay, audience=audience)
    else:
        session = Session.objects.select_related("project").get(id=str(link.session_id))
        exporting.write_session(target, session, through=link.through_sequence, audience=audience)


def about(link: ShareLink) -> JsonObject:
    """Return what the statement says about the link: its redaction profile, or that it discloses no text."""
    profile = link.redaction or {}
    withheld_by = {name: profile[name] for name in ("name", "version") if profile.get(name) is not None}
    return {
        "id": link.public_id,
        **({"redaction": withheld_by} if withheld_by else {}),
        **({"evidence_only": True} if link.evidence_only else {}),
    }


def reader(link: ShareLink) -> Reader:
    """Return which signed states the visitors of a link may know."""
    return Reader(link=link.public_id, made_at=link.created_at)


def discloses(link: ShareLink) -> Discloses:
    """Return the function that chooses the disclosed fields of each record for a link."""
    disclosed = _figures if link.evidence_only else _all_but_makers
    if link.redaction is None:
        return disclosed
    return partial(_without_findings, rules_of(link.redaction), disclosed)


def _figures(_of: Subject, record: Record, _texts: Texts) -> AbstractSet[str]:
    return record.fields.keys() & {FACTS}


def _all_but_makers(of: Subject, record: Record, texts: Texts) -> AbstractSet[str]:
    if record.index == 0:
        return _figures(of, record, texts) | (record.fields.keys() & {"arms", CONTINUES})
    return record.fields.keys() - _OF_PROJECT - ({"words"} if _names_others(of, record) else set())


def _names_others(of: Subject, record: Record) -> bool:
    """Return whether a record names who recorded it, or another session as the origin of its answer."""
    words = record.fields.get("words")
    read = json.loads(words.data) if words and words.data else {}
    return is_maker(record.kind, read.get("agent")) or _is_of_another(of, read.get("cached_from"))


def _is_of_another(of: Subject, origin: object) -> bool:
    if not isinstance(origin, dict) or origin.get("session") == of.id:
        return False
    return not origin.keys().isdisjoint({"session", "sequence"})


def _without_findings(
    rules: Rules, disclosed: Discloses, of: Subject, record: Record, texts: Texts
) -> AbstractSet[str]:
    """Return the fields without a match of the rules that do not repeat a field with one."""
    shown = set(disclosed(of, record, texts)) - _by_path(rules.paths, record.fields.keys())
    shown -= _QUOTING.get(of.of, frozenset()) if record.index else frozenset()
    shown -= {"words"} if record.kind == _OPINION and rules.paths else frozenset()
    found = {
        name for name, text in texts().items() if name in record.fields and _has_findings(name, text, rules)
    }
    withheld = found | (record.fields.keys() - shown)
    return shown - found - _repeating(withheld, record.fields.keys()) - _quoting_input(of, record, withheld)


def _has_findings(name: str, text: str, rules: Rules) -> bool:
    """Return whether the rules match in a field: in its text, or in the values of its JSON, except numbers that were measured."""
    if not _is_measured(name) and redact_text(text, rules).text != text:
        return True
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return (
        redact_value(value, rules, numbers=False).touched if name == FACTS else is_touched(name, value, rules)
    )


def _is_measured(name: str) -> bool:
    """Return whether a field is JSON of ours with measured numbers."""
    return name in {FACTS, "grounding", "retrieval"} or (
        name.startswith("hit.") and not name.endswith(".text")
    )


def _by_path(paths: tuple[Path, ...], names: AbstractSet[str]) -> set[str]:
    """Return the groups of fields that a path leads into."""
    found = set()
    for path in paths:
        if not path.of_session:
            found.add(path.field if path.field in _WHOLE else "words")
    return found | ({name for name in names if name.startswith("hit.")} if "retrieval" in found else set())


def _repeating(found: AbstractSet[str], names: AbstractSet[str]) -> set[str]:
    """Return what repeats withheld fields: another tool's record, an answer's sentences, a passage's text."""
    also = {name.removesuffix(".text") for name in found if name.endswith(".text")}
    if found:
        also |= {"source"}
    if "output" in found or any(name.startswith("hit.") for name in found):
        also |= {"grounding"}
    return also & names


def _quoting_input(of: Subject, record: Record, withheld: AbstractSet[str]) -> set[str]:
    """Return the passages that name the words they were found by, if these are words of a withheld input.

    A replayed step has no input of its own to check, so all such passages are returned.
    """
    if of.of == SESSION and "input" not in withheld:
        return set()
    passages = (name for name in record.fields if name.startswith("hit.") and not name.endswith(".text"))
    return {name for name in passages if _has_matched_words(record.fields[name])}


def _has_matched_words(passage: Field) -> bool:
    return passage.data is not None and json.loads(passage.data).get("matched") is not None


def shown_records(link: ShareLink, comparison: Comparison) -> AbstractSet[str]:
    """Return the names of the records that a link shows: cells, their results, and remarks older than it.

    Sealed results are left out if they cover answers from after the link was created.
    """
    steps = list(counted_steps(link).values_list("id", flat=True))
    shown = {name_of(CELL, step) for step in steps}
    rows = comparison_subject(comparison).rows
    whole = all(row in shown for row in rows if row.startswith(f"{CELL} "))
    figures = {row for row in rows if row.startswith(f"{RESULTS} ")} | {name_of(RESULTS, FORM)}
    return shown | (figures if whole else set()) | set(_remarks(link, steps))


def _remarks(link: ShareLink, steps: list[int]) -> Iterator[str]:
    end = link.created_at
    for marks in marks_of(steps).values():
        yield from (name_of(MARK, each.id) for each in marks if each.created_at <= end)
    for opinions in opinions_of(steps).values():
        yield from (
            name_of(OPINION, each.id)
            for each in opinions
            if each.finished_at is not None and each.finished_at <= end
        )
