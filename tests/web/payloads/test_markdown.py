"""A line in which nothing can be markup is shown as the Markdown reader would show it."""

from django.utils.html import escape
from hypothesis import given
from hypothesis import strategies as st

from timemachine.web.payloads import markdown

SIGNS = st.text(st.sampled_from("aZ 09.):;,\t!?'\"&/-+=#$%^@{}(~|*_`<>[]\\\n\xa0é"), max_size=12)


@given(SIGNS)
def test_a_plain_line_needs_no_reader_and_looks_the_same(text: str) -> None:
    alone = markdown.as_html(text, escape, 100)
    [read, _] = markdown.as_html(f"{text}\n\n# End", escape, 100) or ("", 0)
    assert alone is not None
    assert read == f'{alone[0]}<p class="heading level-1">End</p>'
