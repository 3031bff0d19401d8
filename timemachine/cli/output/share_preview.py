"""The preview of a share link as text: what it would show and withhold. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from timemachine.cli.formatting import shortened
from timemachine.cli.output.table import facts
from timemachine.core.pure.numbers import counted

if TYPE_CHECKING:
    from timemachine.client.generated import types

LONGEST: Final = 100


def preview_lines(found: types.SharePreview) -> Iterator[str]:
    """What a link would show, the number of matches of each rule, and the first of them as a visitor would see them."""
    yield "Preview only. No link was created."
    yield from facts(
        [
            ("shows", shown(found)),
            ("through", "" if found["through_sequence"] is None else f"step {found['through_sequence']:,}"),
            *_sessions(found),
            ("steps", _steps(found)),
            ("withholds", withholds(found["redaction"])),
            ("withheld", counted(found["withheld"], "place") if found["redaction"] else ""),
            ("found", unwithheld(found)),
            *(
                (f"{each['rule']} ({each['what']})", f"{each['count']:,}")
                for each in (*found["counts"], *found["found"])
            ),
        ]
    )
    if found["first"]:
        yield "First matches, as a visitor would see them:"
        yield from facts([(_place(each, found), shortened(each["text"], LONGEST)) for each in found["first"]])


def shown(link: types.ShareCreated | types.SharePreview) -> str:
    """What a link shows."""
    only = "only the evidence of the" if link["evidence_only"] else "the"
    return f"{only} {link['target_type']} {link['target_id']}"


def withholds(redaction: types.ProfileVersion | None) -> str:
    """The redaction profile of a link."""
    return "nothing" if redaction is None else f"{redaction['name']}, version {redaction['version']}"


def unwithheld(found: types.SharePreview) -> str:
    """How many places the built-in profile would withhold; empty if the link has a profile."""
    if found["redaction"]:
        return ""
    return f"{counted(sum(each['count'] for each in found['found']), 'place')} that the built-in profile would withhold, visible to anyone with the link"


def _sessions(found: types.SharePreview) -> Iterator[tuple[str, str]]:
    for each in found["sessions"]:
        by = f", by {each['agent']}" if each["agent"] else ""
        yield "session", f"{shortened(each['name'])}{by}"


def _steps(found: types.SharePreview) -> str:
    if found["evidence_only"]:
        return f"{found['steps']:,}, without their text"
    unread = found["read"] < found["steps"]
    return f"{found['steps']:,}" + (f", of which the first {found['read']:,} were searched" if unread else "")


def _place(line: types.WithheldPlace, found: types.SharePreview) -> str:
    """The step, the session if there are several, and the field."""
    step = "session" if line["sequence"] is None else f"step {line['sequence']:,}"
    names = {each["id"]: shortened(each["name"], 40) for each in found["sessions"]}
    of = f" of {names[line['session']]}" if len(names) > 1 else ""
    return shortened(f"{step}{of}, {line['field']}", LONGEST)
