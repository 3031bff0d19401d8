"""The rendered rows of a timeline: their links, their content, and the bar of their duration."""

import re
from dataclasses import replace
from typing import Any

import pytest
from django.template import Context, Template

from timemachine.recording.timeline.pure.nesting import Place, Row
from timemachine.recording.timeline.rows import Window
from timemachine.web.sessions.presenters.rows import BAR_STEPS, bar


def place(sequence: int, *, folds: bool = False, unfolded: bool = False, **about: Any) -> Place:
    facts: dict[str, Any] = {
        "kind": "ask",
        "label": "Why?",
        "name": None,
        "tool": None,
        "duration_ms": None,
        "significance": None,
        "client_id": None,
        "parent_id_given": None,
        "parent_sequence": None,
        "failed": False,
    }
    row = Row(sequence=sequence, **(facts | about))
    return Place(step=row, above=(), inside=2 if folds else 0, folds=folds, unfolded=unfolded, hidden=False)


def written(*places: Place, **here: object) -> str:
    context = Context(
        {"window": Window(rows=places, earlier=None, later=None), "here": {"step": 7, **here}, "sequence": 7}
    )
    return Template("{% step_rows window %}").render(context)


def test_a_row_links_to_its_step_and_keeps_the_filter_and_the_tab() -> None:
    page = written(place(3), tab="state", filter="kind:ask")
    assert 'href="?step=3&amp;tab=state&amp;filter=kind:ask#s3"' in page
    assert (
        'hx-get="?step=3&amp;filter=kind:ask"' in page
    )  # the tab is included by htmx: it may have changed since


def test_only_the_selected_row_is_current() -> None:
    page = written(place(3), place(7))
    assert re.findall(r'id="s(\d+)"[^>]*><a [^>]*aria-current="step"', page) == ["7"]


def test_a_fold_opens_and_closing_it_selects_the_remaining_row() -> None:
    closed = written(place(3, folds=True), open="9")
    assert 'href="?step=7&amp;open=3,9&amp;near=3#s3"' in closed
    assert 'aria-expanded="false"' in closed
    assert "2 inside" in closed
    opened = written(place(3, folds=True, unfolded=True), open="3,9")
    assert 'href="?step=3&amp;open=9&amp;near=3#s3"' in opened
    assert 'aria-expanded="true"' in opened


@pytest.mark.parametrize(
    ("about", "words"),
    [
        ({"label": "Bash npm test", "tool": "Bash"}, "<b>Bash</b> npm test"),
        ({"label": "npm test", "tool": "Bash"}, '<span class="label">npm test</span>'),
        ({"label": ""}, "no text"),
        ({"failed": True}, '<span class="mark">error</span>'),
        ({"significance": "decision"}, '<span class="significance">marked: decision</span>'),
        ({"duration_ms": 1_900.0}, ">1.9 s</span>"),
        ({"duration_ms": None}, "duration not recorded"),
        ({"kind": "tool_call"}, 'aria-label="tool call">T</span>'),
    ],
)
def test_a_row_shows_what_was_recorded(about: dict[str, Any], words: str) -> None:
    assert words in written(place(1, **about))


def test_an_ordinary_step_has_no_mark() -> None:
    page = written(place(1, significance="normal"))
    assert 'class="mark"' not in page
    assert 'class="significance"' not in page


@pytest.mark.parametrize(
    ("milliseconds", "length"),
    [(0, 0), (2.9, 0), (3, 1), (9, 2), (1_000, 6), (600_000, BAR_STEPS), (1e12, BAR_STEPS)],
)
def test_a_bar_grows_by_one_for_every_factor_of_three(milliseconds: float, length: int) -> None:
    assert bar(milliseconds) == length


ANSWER = "I'll read the file first."


def call_and_message(label: str, message: str, **about: Any) -> str:
    call = place(4, kind="llm_call", label=label)
    inside = place(5, kind="message", label=message, **about)
    return written(call, replace(inside, above=(4,)))


@pytest.mark.parametrize(
    ("label", "message"),
    [
        (ANSWER, ANSWER),
        (f"read ×2 · {ANSWER}", ANSWER),
        (f"a · b · {'word ' * 30}…", "word " * 40),
    ],
)
def test_the_message_of_a_model_call_does_not_repeat_its_words(label: str, message: str) -> None:
    page = call_and_message(label, message)
    assert "the answer of 4" in page
    assert message[:4] not in page.split('id="s5"')[1]


@pytest.mark.parametrize(
    ("label", "message"),
    [
        (ANSWER, "Another sentence."),
        (f"{ANSWER} And more.", ANSWER),
        ("read · The…", "The other words of it"),
        ("", ""),
        (deleted := "[deleted: turn] 2026-11-27 10:00 UTC", deleted),
        (withheld := "Write to [withheld: e-mail]", withheld),
    ],
)
def test_a_message_with_words_of_its_own_shows_them(label: str, message: str) -> None:
    assert "the answer of 4" not in call_and_message(label, message)


def test_a_message_shows_its_words_where_its_call_is_not_in_the_row_before() -> None:
    message = place(5, kind="message", label=ANSWER)
    call = place(4, kind="llm_call", label=ANSWER)
    for rows in (
        (replace(message, above=(4,)),),
        (call, message),
        (call, place(6), replace(message, above=(4,))),
    ):
        assert "the answer of" not in written(*rows)
