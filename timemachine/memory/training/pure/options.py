"""What somebody wants to train on, as they wrote it. Pure."""

from dataclasses import dataclass, field
from typing import Final

from timemachine.core.pure.errors import InvalidInput
from timemachine.memory.training.pure.pairs import FORMS, WHATS
from timemachine.memory.training.pure.split import PARTS, Split, split_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The form of a line (`chat`, `dpo`), what it tells (`resolution`, `chain`), of which sessions, and one part of them or all.

    `redaction` is the id or name of a profile. An empty text asks for any.
    """

    form: str = "chat"
    what: str = "resolution"
    part: str = ""
    split: Split = field(default_factory=Split)
    redaction: str = "built-in"
    agent: str = ""
    user: str = ""
    tag: str = ""
    q: str = ""
    since: str = ""
    until: str = ""


SESSIONS: Final = ("agent", "user", "tag", "q", "since", "until")


def wanted_of(
    *, form: str, what: str, part: str, seed: str, shares: str, redaction: str, **sessions: str
) -> Wanted:
    """What was asked for. Raises `InvalidInput`, which names the field."""
    for name, value, known in (("form", form, FORMS), ("what", what, WHATS), ("part", part, ("", *PARTS))):
        if value not in known:
            raise InvalidInput(
                f"`{name}` cannot be {value[:80]!r}; it is one of {', '.join(filter(None, known))}.",
                code="invalid_field",
                field=name,
                allowed=[each for each in known if each],
            )
    return Wanted(
        form=form,
        what=what,
        part=part,
        split=split_of(seed, shares),
        redaction=redaction or "built-in",
        **sessions,
    )
