"""Parse the options of a training export. Pure."""

from dataclasses import dataclass, field
from typing import Final

from timemachine.core.pure.errors import InvalidInput
from timemachine.memory.training.pure.pairs import FORMS, WHATS
from timemachine.memory.training.pure.split import PARTS, Split, split_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOptions:
    """The form of a line (`chat`, `dpo`), its content (`resolution`, `chain`), the sessions, and one part of the
    data or all.

    `redaction` is the id or name of a profile. An empty text matches any.
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


def export_options(
    *, form: str, what: str, part: str, seed: str, shares: str, redaction: str, **sessions: str
) -> ExportOptions:
    """Return the options of these texts. Raises `InvalidInput`, which names the field."""
    for name, value, known in (("form", form, FORMS), ("what", what, WHATS), ("part", part, ("", *PARTS))):
        if value not in known:
            raise InvalidInput(
                f"Invalid `{name}` {value[:80]!r}. Use one of {', '.join(filter(None, known))}.",
                code="invalid_field",
                field=name,
                allowed=[each for each in known if each],
            )
    return ExportOptions(
        form=form,
        what=what,
        part=part,
        split=split_of(seed, shares),
        redaction=redaction or "built-in",
        **sessions,
    )
