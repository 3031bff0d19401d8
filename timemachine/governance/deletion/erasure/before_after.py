"""A recorded step and its session before and after an erasure: what is erased of each, and by which rule."""

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Final

from timemachine.core.leases import Progress
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.schemas import Schema
from timemachine.governance.deletion.erasure.models import FOUND, Erasure
from timemachine.governance.deletion.erasure.pure import repeats
from timemachine.governance.deletion.erasure.pure.placing import placed
from timemachine.governance.deletion.erasure.pure.selection import Chosen, chosen_of
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.timeline.schemas.actions import ActionOut, with_everything
from timemachine.text.redaction.pure.marks import FIELD, HASH, OPENING_ERASED, as_erased, erased
from timemachine.text.redaction.pure.paths import Path
from timemachine.text.redaction.pure.projection import redact_action, redact_session
from timemachine.text.redaction.pure.rules import SHORTEST_WORDING, Rules
from timemachine.text.redaction.pure.values import Tally, excerpts, redact_value, with_texts_replaced

OF_SESSION: Final = ("key", "name", "agent", "user", "metadata", "tags")
BATCH: Final = 100
SHOWN: Final = 20
PAYLOADS: Final = ("input", "output", "source")
NO_RULES: Final = Rules()


@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeAfter:
    """A document before and after, and what was found in it."""

    before: JsonObject
    after: JsonObject
    tally: Tally

    @property
    def fields(self) -> tuple[str, ...]:
        """Return the names of the fields that changed."""
        return tuple(name for name in self.before if self.before[name] != self.after[name])


@dataclass(slots=True, kw_only=True)
class Scan:
    """How a session is scanned: the selection, and then what repeats it.

    `texts` are searched for in other places, `payloads` are ids of payloads that are erased completely, and
    `hashes` are SHA-256 hashes of erased bytes. None of them may remain elsewhere.
    """

    chosen: Chosen
    repeats: Rules | None = None
    texts: set[str] = field(default_factory=set)
    payloads: set[int] = field(default_factory=set)
    hashes: set[str] = field(default_factory=set)
    progress: Progress = field(default_factory=Progress)

    def action(self, action: Action) -> BeforeAfter:
        """Scan a step that was read by `with_everything`."""
        repeated = [name for name in PAYLOADS if getattr(action, f"{name}_id") in self.payloads]
        own = self.chosen.rules if self.chosen.takes(action.sequence) else NO_RULES
        paths = tuple(Path(of_session=False, field=name) for name in repeated)
        return self.document(ActionOut.of(action).model_dump(), replace(own, paths=own.paths + paths))

    def document(self, before: JsonObject, rules: Rules) -> BeforeAfter:
        """Scan a document in the form of a step."""
        tally: Tally = Counter()
        after = before
        for each in (rules, self.repeats or NO_RULES):
            if each.paths or each.looks_into_texts:
                found = redact_action(after, each)
                after = as_erased(placed(found.document, each.marks), each.marks)
                tally += found.tally
        return BeforeAfter(before=before, after=after, tally=tally)

    def session(self, session: Session) -> BeforeAfter:
        """Scan the session's own fields."""
        before = {name: getattr(session, name) for name in OF_SESSION}
        tally: Tally = Counter()
        after = before
        for rules in (self.chosen.rules, self.repeats or NO_RULES):
            found = redact_session(after, rules)
            after = as_erased(found.document, rules.marks)
            tally += found.tally
        return BeforeAfter(before=before, after=after, tally=tally)

    def value(self, value: Any, tally: Tally | None = None) -> Any:
        """Return a derived text or JSON value, redacted. Rules for fields by path do not apply."""
        for rules in (
            self.chosen.rules if self.chosen.looks_everywhere else NO_RULES,
            self.repeats or NO_RULES,
        ):
            if rules.looks_into_texts:
                found = redact_value(value, rules, numbers=False)
                value = as_erased(found.value, rules.marks)
                if tally is not None:
                    tally.update(found.tally)
        return with_texts_replaced(value, self.hashes, erased(HASH))


def actions_of(
    session: Session, sequences: Collection[int] | None = None, after: int = 0
) -> Iterator[Action]:
    """Yield the session's actions with everything that is scanned, in order: these, or all after one."""
    found = Action.objects.filter(session=session, sequence__gt=after)
    if sequences is not None:
        found = found.filter(sequence__in=list(sequences))
    yield from with_everything(found).order_by("sequence").iterator(chunk_size=BATCH)


def scan_of(
    session: Session,
    chosen: Chosen,
    *,
    among: Collection[int] | None = None,
    progress: Progress | None = None,
) -> Scan:
    """Return the scan of a session: what is selected, and what repeats selected fields in the steps `among`.

    `progress` counts the steps that are read, here and by `touched_steps` afterwards.
    """
    scan = Scan(chosen=chosen, progress=progress or Progress())
    scan.progress.total = session.last_sequence
    if chosen.looks_everywhere:
        return scan
    if chosen.of_session:
        seen = scan.session(session)
        scan.texts |= {
            text
            for name in seen.fields
            if name != "key"
            for text in repeats.lost_texts(seen.before[name], seen.after[name])
        }
    if any(not path.of_session for path in chosen.rules.paths):
        steps = chosen.steps if among is None else among
        scan.progress.total += session.last_sequence if steps is None else len(steps)
        for action in actions_of(session, steps):
            scan.progress.done += 1
            _collect_repeats(scan, action, scan.action(action))
    scan.repeats = repeats.rules_for(scan.texts)
    return scan


def extend_scan(session: Session, scan: Scan, *, after: int) -> bool:
    """Also search for what repeats later steps. Return whether there is anything new to search for."""
    chosen = scan.chosen
    if chosen.looks_everywhere or all(path.of_session for path in chosen.rules.paths):
        return False
    before = len(scan.texts), len(scan.payloads)
    alone = Scan(chosen=chosen, texts=scan.texts, payloads=scan.payloads)
    for action in actions_of(session, chosen.steps, after):
        _collect_repeats(alone, action, alone.action(action))
    scan.repeats = repeats.rules_for(scan.texts)
    return (len(scan.texts), len(scan.payloads)) != before


def _collect_repeats(scan: Scan, action: Action, seen: BeforeAfter) -> None:
    """Add the texts of a step's selected fields and identical payloads to the texts to search for.

    For a deleted step this is only what the step itself says: not its tags and names, its passages or the
    conversation so far, which other steps contain as well.
    """
    own = ("output",) if action.kind == "llm_call" else ("input", "output")
    whole = scan.chosen.whole
    for name in seen.fields:
        if not whole or name in own:
            scan.texts |= set(repeats.lost_texts(seen.before[name], seen.after[name]))
    for name in PAYLOADS:
        row = getattr(action, name)
        if row is None or seen.after.get(name) != erased(FIELD):
            continue
        if not whole or (name in own and row.size >= SHORTEST_WORDING):
            scan.payloads.add(row.pk)


def texts_to_erase(session: Session, chosen: Chosen, *, after: int = 0) -> Iterator[str]:
    """Yield the current texts of the fields that are selected by path. Reads the selected steps after one."""
    scan = Scan(chosen=chosen.by_path())
    if any(path.of_session for path in chosen.rules.paths):
        yield from _lost_texts(scan.session(session))
    if any(not path.of_session for path in chosen.rules.paths):
        for action in actions_of(session, chosen.steps, after):
            yield from _lost_texts(scan.action(action))


def _lost_texts(seen: BeforeAfter) -> Iterator[str]:
    for name in seen.fields:
        yield from repeats.lost_texts(seen.before[name], seen.after[name])


def touched_steps(session: Session, scan: Scan, *, after: int = 0) -> Iterator[int]:
    """Yield the steps after one of which something is erased. Reads them all without locking."""
    for action in actions_of(session, after=after):
        scan.progress.done += 1
        if scan.action(action).fields:
            yield action.sequence


class ErasedPlace(Schema):
    """A place in a step (null: in the session itself) from which something is to be erased, and its text afterwards."""

    sequence: int | None
    field: str
    text: str


def sample_of(erasure: Erasure) -> list[ErasedPlace]:
    """Return at most `SHOWN` places that would be erased; empty unless the erasure waits for its reason.

    They are computed when someone looks and never stored: the text around a mark may be erased itself some day.
    """
    if erasure.status != FOUND or erasure.preview is None:
        return []
    steps = erasure.preview["first_steps"][:SHOWN]
    chosen = chosen_of(erasure.profile, erasure.fields, erasure.steps, whole=erasure.turn)
    scan = scan_of(erasure.session, chosen, among=steps)
    return list(islice(_lines(erasure, scan, steps), SHOWN))


def _lines(erasure: Erasure, scan: Scan, steps: list[int]) -> Iterator[ErasedPlace]:
    if scan.chosen.of_session or scan.repeats:
        seen = scan.session(erasure.session)
        for name in seen.fields:
            for place, text in excerpts(seen.after[name], OPENING_ERASED, name):
                yield ErasedPlace.model_construct(sequence=None, field=place, text=text)
    for action in actions_of(erasure.session, steps):
        seen = scan.action(action)
        for name in seen.fields:
            for place, text in excerpts(seen.after[name], OPENING_ERASED, name):
                yield ErasedPlace.model_construct(sequence=action.sequence, field=place, text=text)
