"""A step in search results: its excerpt with marked words, and why it matched."""

from collections.abc import Iterator
from typing import Final

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from timemachine.core.pure import safe_text
from timemachine.memory.search.hits import Hit
from timemachine.web.template_library import NOTHING, register

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
