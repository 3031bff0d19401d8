"""What `share create --preview` says: what a link would show and withhold. Pure."""

from collections.abc import Iterator
from typing import Any, Final

from timemachine.cli.formatting import shortened
from timemachine.cli.output.table import facts
from timemachine.core.pure.numbers import counted

LONGEST: Final = 100


def preview_lines(found: dict[str, Any]) -> Iterator[str]:
    """What a link would show, how often which rule withholds something, and how the first places would read."""
    yield "No link is made; this is what it would show."
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
        yield "The first of them, as they would read:"
        yield from facts([(_place(each, found), shortened(each["text"], LONGEST)) for each in found["first"]])


def shown(link: dict[str, Any]) -> str:
    """What a link shows, or would show."""
    only = "only the evidence of the" if link["evidence_only"] else "the"
    return f"{only} {link['target_type']} {link['target_id']}"


def withholds(redaction: dict[str, Any] | None) -> str:
    """By which profile a link withholds."""
    return "nothing" if redaction is None else f"{redaction['name']}, version {redaction['version']}"


def unwithheld(found: dict[str, Any]) -> str:
    """What whoever opens a link would read that the built-in profile finds; nothing where the link has a profile."""
    if found["redaction"]:
        return ""
    return f"{counted(sum(each['count'] for each in found['found']), 'place')} by the built-in profile, which anybody reads who opens it"


def _sessions(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for each in found["sessions"]:
        by = f", by {each['agent']}" if each["agent"] else ""
        yield "session", f"{shortened(each['name'])}{by}"


def _steps(found: dict[str, Any]) -> str:
    if found["evidence_only"]:
        return f"{found['steps']:,}, as a number; no recorded text of them"
    unread = found["read"] < found["steps"]
    return f"{found['steps']:,}" + (
        f", of which the first {found['read']:,} were looked through" if unread else ""
    )


def _place(line: dict[str, Any], found: dict[str, Any]) -> str:
    """The session where there are several, the step, and the field with where in it."""
    step = "session" if line["sequence"] is None else f"step {line['sequence']:,}"
    names = {each["id"]: shortened(each["name"], 40) for each in found["sessions"]}
    of = f" of {names[line['session']]}" if len(names) > 1 else ""
    return shortened(f"{step}{of}, {line['field']}", LONGEST)
