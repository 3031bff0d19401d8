"""What a profile would withhold of what a link is about to show, before the link is made."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from timemachine.payloads import queries as payloads
from timemachine.recording.models import Action
from timemachine.redaction.profile import Profile
from timemachine.redaction.projection import redact_action, redact_session
from timemachine.redaction.rules import Rules
from timemachine.redaction.values import Tally, redact_value
from timemachine.sharing.models import ShareLink
from timemachine.sharing.veil import OF_SESSION
from timemachine.sharing.within import counted_actions, counted_steps
from timemachine.timeline.document import action_json, with_everything

MOST_STEPS: Final = 500
MOST_BYTES: Final = 8 << 20
AT_ONCE: Final = 50
SHOWN: Final = 12
LONGEST: Final = 160
_OPENING: Final = "[withheld: "


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A place where something is withheld, as it would read: the step (None: the session itself), the field, the text around it."""

    sequence: int | None
    field: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What is withheld, by rule, in the first `read` of `steps` steps, and how the first places read."""

    profile: Profile
    tally: Tally
    lines: list[Line]
    read: int
    steps: int
    agent_in_head: bool = False
    """Whether the agent is withheld of the steps by its path, and still stands in the head as that of the session."""

    @property
    def total(self) -> int:
        """How many places that are."""
        return self.tally.total()


def preview_of(link: ShareLink, profile: Profile) -> Preview:
    """What the profile would withhold of a link that need not be kept yet. At most `MOST_STEPS` steps are read, and `MOST_BYTES`."""
    tally: Tally = Counter()
    lines: list[Line] = []
    actions, size, read = counted_actions(link), 0, 0
    if link.session is not None:
        found = redact_session({name: getattr(link.session, name) for name in OF_SESSION}, profile.rules)
        tally += found.tally
        lines += _lines(None, {name: found.document[name] for name in found.touched})
    for action in with_everything(actions).order_by("session_id", "sequence")[:MOST_STEPS].iterator(AT_ONCE):
        if size > MOST_BYTES:
            break
        size, read = size + _size(action), read + 1
        step = redact_action(action_json(action), profile.rules)
        tally += step.tally
        lines += _lines(
            action.sequence, {name: step.document[name] for name in step.touched}, SHOWN - len(lines)
        )
    tally += _of_answers(link, profile.rules, lines)
    return Preview(
        profile=profile,
        tally=tally,
        lines=lines[:SHOWN],
        read=read,
        steps=actions.count(),
        agent_in_head=_names_agent(link, profile.rules),
    )


def _names_agent(link: ShareLink, rules: Rules) -> bool:
    withheld = {path.of_session for path in rules.paths if path.field == "agent"}
    return withheld == {False} and link.session is not None and bool(link.session.agent)


def _of_answers(link: ShareLink, rules: Rules, lines: list[Line]) -> Tally:
    """What is withheld of the answers that replays got."""
    tally: Tally = Counter()
    steps = counted_steps(link).filter(output__isnull=False).select_related("output").order_by("id")
    for step in steps[:MOST_STEPS].iterator(AT_ONCE):
        found = redact_value(payloads.value(step.output), rules)
        tally += found.tally
        if found.touched:
            lines += _lines(step.sequence, {"new answer": found.value}, SHOWN - len(lines))
    return tally


def _size(action: Action) -> int:
    """How many bytes were read with an action."""
    own = (action.input, action.output, action.source, *(hit.payload for hit in action.hits.all()))
    return sum(each.size for each in own if each is not None)


def _lines(sequence: int | None, fields: dict[str, Any], most: int = SHOWN) -> list[Line]:
    found = [
        Line(sequence=sequence, field=name, text=text)
        for name, value in fields.items()
        for text in _texts(value)
    ]
    return found[: max(most, 0)]


def _texts(value: Any) -> Iterator[str]:
    """The stretches of a redacted value around its first marks."""
    if isinstance(value, str):
        at = value.find(_OPENING)
        if at >= 0:
            begin = max(at - LONGEST // 2, 0)
            yield ("…" if begin else "") + value[begin : at + LONGEST]
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from _texts(name)
            yield from _texts(each)
