"""A recorded step, and its session, before and after: what is erased of each, and by which rule."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from timemachine.governance.deletion.erasure.pure import repeats
from timemachine.governance.deletion.erasure.pure.placing import placed
from timemachine.governance.deletion.erasure.pure.selection import Chosen
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.timeline.actions import with_everything
from timemachine.recording.timeline.schemas.actions import ActionOut
from timemachine.text.redaction.pure.literals import SHORTEST
from timemachine.text.redaction.pure.marks import FIELD, HASH, as_erased, erased
from timemachine.text.redaction.pure.paths import Path
from timemachine.text.redaction.pure.projection import redact_action, redact_session
from timemachine.text.redaction.pure.rules import Rules
from timemachine.text.redaction.pure.values import Tally, redact_value

OF_SESSION: Final = ("key", "name", "agent", "user", "metadata", "tags")
AT_ONCE: Final = 100
PAYLOADS: Final = ("input", "output", "source")
NOTHING: Final = Rules()


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A document before and after, and what was found in it."""

    before: dict[str, Any]
    after: dict[str, Any]
    tally: Tally

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the fields that are not what they were."""
        return tuple(name for name in self.before if self.before[name] != self.after[name])


@dataclass(slots=True, kw_only=True)
class Look:
    """How a session is looked through: what was chosen, and then what repeats that.

    `texts` are those whose repeats are looked for, `payloads` are rows whose bytes are erased as they are, `hashes` the SHA-256 of erased bytes: neither may stand elsewhere.
    """

    chosen: Chosen
    repeats: Rules | None = None
    texts: set[str] = field(default_factory=set)
    payloads: set[int] = field(default_factory=set)
    hashes: set[str] = field(default_factory=set)

    def action(self, action: Action) -> Seen:
        """A step, read by `with_everything`."""
        again = [name for name in PAYLOADS if getattr(action, f"{name}_id") in self.payloads]
        own = self.chosen.rules if self.chosen.takes(action.sequence) else NOTHING
        paths = tuple(Path(of_session=False, field=name) for name in again)
        return self.document(ActionOut.of(action).model_dump(), replace(own, paths=own.paths + paths))

    def document(self, before: dict[str, Any], rules: Rules) -> Seen:
        """A document in the form of a step's."""
        tally: Tally = Counter()
        after = before
        for each in (rules, self.repeats or NOTHING):
            if each.paths or each.looks_into_texts:
                found = redact_action(after, each)
                after = as_erased(placed(found.document, each.marks), each.marks)
                tally += found.tally
        return Seen(before=before, after=after, tally=tally)

    def session(self, session: Session) -> Seen:
        """The session's own fields."""
        before = {name: getattr(session, name) for name in OF_SESSION}
        tally: Tally = Counter()
        after = before
        for rules in (self.chosen.rules, self.repeats or NOTHING):
            found = redact_session(after, rules)
            after = as_erased(found.document, rules.marks)
            tally += found.tally
        return Seen(before=before, after=after, tally=tally)

    def value(self, value: Any, tally: Tally | None = None) -> Any:
        """A text or JSON value that was made from the session; fields by their paths are none of it."""
        for rules in (
            self.chosen.rules if self.chosen.looks_everywhere else NOTHING,
            self.repeats or NOTHING,
        ):
            if rules.looks_into_texts:
                found = redact_value(value, rules, numbers=False)
                value = as_erased(found.value, rules.marks)
                if tally is not None:
                    tally.update(found.tally)
        return self._without_hashes(value)

    def _without_hashes(self, value: Any) -> Any:
        if isinstance(value, str):
            return erased(HASH) if value in self.hashes else value
        if isinstance(value, list):
            return [self._without_hashes(each) for each in value]
        if isinstance(value, Mapping):
            return {name: self._without_hashes(each) for name, each in value.items()}
        return value


def actions_of(
    session: Session, sequences: Collection[int] | None = None, after: int = 0
) -> Iterator[Action]:
    """The session's actions with all that is looked through, in order; those of these sequences, or all behind one."""
    found = Action.objects.filter(session=session, sequence__gt=after)
    if sequences is not None:
        found = found.filter(sequence__in=list(sequences))
    yield from with_everything(found).order_by("sequence").iterator(chunk_size=AT_ONCE)


def look_at(session: Session, chosen: Chosen, *, among: Collection[int] | None = None) -> Look:
    """How the session is looked through: of fields that were chosen, what repeats their texts is looked for, too; of those in some steps alone, `among`."""
    look = Look(chosen=chosen)
    if chosen.looks_everywhere:
        return look
    if chosen.of_session:
        seen = look.session(session)
        look.texts |= {
            text
            for name in seen.fields
            if name != "key"
            for text in repeats.gone(seen.before[name], seen.after[name])
        }
    if any(not path.of_session for path in chosen.rules.paths):
        for action in actions_of(session, chosen.steps if among is None else among):
            _remember(look, action, look.action(action))
    look.repeats = repeats.rules_for(look.texts)
    return look


def look_further(session: Session, look: Look, *, after: int) -> bool:
    """Look for what repeats the steps behind one, too; whether that is anything that was not looked for before."""
    chosen = look.chosen
    if chosen.looks_everywhere or all(path.of_session for path in chosen.rules.paths):
        return False
    before = len(look.texts), len(look.payloads)
    alone = Look(chosen=chosen, texts=look.texts, payloads=look.payloads)
    for action in actions_of(session, chosen.steps, after):
        _remember(alone, action, alone.action(action))
    look.repeats = repeats.rules_for(look.texts)
    return (len(look.texts), len(look.payloads)) != before


def _remember(look: Look, action: Action, seen: Seen) -> None:
    """What repeats the fields of a step that were chosen: their texts, and payloads that are the same.

    Of a step that is deleted it is what the step itself says: not its tags and names, not the passages it was given or the conversation so far,
    which other steps have as well as it.
    """
    own = _own_words(action) if look.chosen.whole else None
    for name in seen.fields:
        if own is None or name in own:
            look.texts |= set(repeats.gone(seen.before[name], seen.after[name]))
    for name in PAYLOADS:
        row = getattr(action, name)
        if row is None or seen.after.get(name) != erased(FIELD):
            continue
        if own is None or (name in own and row.size >= SHORTEST):
            look.payloads.add(row.pk)


def _own_words(action: Action) -> tuple[str, ...]:
    return ("output",) if action.kind == "llm_call" else ("input", "output")


def erased_texts(session: Session, chosen: Chosen, *, after: int = 0) -> Iterator[str]:
    """The texts of the fields that were chosen by their paths, as they are now. Reads the steps behind one for which they were chosen."""
    look = Look(chosen=chosen.by_path())
    if any(path.of_session for path in chosen.rules.paths):
        yield from _gone(look.session(session))
    if any(not path.of_session for path in chosen.rules.paths):
        for action in actions_of(session, chosen.steps, after):
            yield from _gone(look.action(action))


def _gone(seen: Seen) -> Iterator[str]:
    for name in seen.fields:
        yield from repeats.gone(seen.before[name], seen.after[name])


def touched(session: Session, look: Look, *, after: int = 0) -> list[int]:
    """The steps of which something is erased, behind one of them. Reads them all, and holds up nobody."""
    return list(touching(session, look, after=after))


def touching(session: Session, look: Look, *, after: int = 0) -> Iterator[int]:
    """The same steps one by one, read as far as they are asked for."""
    for action in actions_of(session, after=after):
        if look.action(action).fields:
            yield action.sequence
