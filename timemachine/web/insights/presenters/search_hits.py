"""A step in search results: its excerpt with marked words, and why it matched."""

from collections.abc import Iterator
from typing import Final

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from timemachine.core.pure import safe_text
from timemachine.core.pure.numbers import counted
from timemachine.memory.search.hits import Hit
from timemachine.memory.search.queries import SearchResult
from timemachine.web.template_library import NOTHING, register

LABEL: Final = 40
"""The first characters of a label are enough to see it in an excerpt."""
LEGS: Final = {"text": "words", "semantic": "meaning"}


@register.simple_tag
def marked_passage(hit: Hit) -> SafeString:
    """Return the excerpt of a step with `<mark>` elements, and an ellipsis where text was cut; empty if it has none."""
    if hit.passage is None:
        return NOTHING
    return format_html(
        "{}<bdi>{}</bdi>{}",
        "" if hit.passage.begins else "… ",
        format_html_join("", "{}", ((piece,) for piece in _pieces(hit.passage.text, hit.marks))),
        "" if hit.passage.ends else " …",
    )


@register.filter
def has_other_label(hit: Hit) -> bool:
    """Return whether the row of a step in a timeline says something else than its excerpt here."""
    if hit.passage is None or not hit.action.label:
        return False
    return " ".join(hit.action.label.split())[:LABEL] not in " ".join(hit.passage.text.split())


@register.simple_tag
def search_finding(found: SearchResult, after: str | None) -> str:
    """Return how much was found, in one sentence."""
    steps = sum(len(group.hits) + group.more for group in found.groups)
    sessions = counted(len(found.groups), "session")
    where = f"the next {sessions}" if after else f"the best {sessions}" if found.next else sessions
    if steps and found.only_similar:
        named = sum(bool(group.named) for group in found.groups)
        but = (
            f", but {counted(named, 'session')} {'matches' if named == 1 else 'match'} by name, key or tag"
            if named
            else ""
        )
        return f"No step has these words{but}. {counted(steps, 'similar step')} in {where}:"
    return f"{counted(steps, 'step')} in {where}." if steps else f"No step, but {where} by name, key or tag."


@register.simple_tag
def found_by(hit: Hit) -> str:
    """Return why a step matched, with the scores: `words 3.74 · meaning 0.52`."""
    return " · ".join(f"{LEGS[name]} {score:.2f}" for name, score in hit.scores.items())


def _pieces(text: str, marks: tuple[tuple[int, int], ...]) -> Iterator[SafeString | str]:
    at = 0
    for start, end in marks:
        yield safe_text.shown(text[at:start])
        yield format_html("<mark>{}</mark>", safe_text.shown(text[start:end]))
        at = end
    yield safe_text.shown(text[at:])
