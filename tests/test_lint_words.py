"""The check of prose finds a phrase in prose and ignores code."""

import pytest

from tests.lint_words import findings


@pytest.mark.parametrize(
    ("suffix", "text", "line", "phrase"),
    [
        (".md", "A session\nis sealed anew.", 2, "anew"),
        (".md", "| replay | sealed behind the\nsession |", 1, "behind the"),
        (".py", 'ERROR = (\n    f"{name} is kept for "\n    "good"\n)', 2, "for good"),
        (".py", "x = 1  # sealed\n# anew\n", 2, "anew"),
        (".sql", "SELECT 1;\n-- sealed anew", 2, "anew"),
        (".html", "<p>{% if held %}Kept for\ngood{% endif %}</p>", 1, "for good"),
    ],
)
def test_a_banned_phrase_is_found_with_its_line(suffix: str, text: str, line: int, phrase: str) -> None:
    assert [(at, what) for at, what, _ in findings(text, suffix)] == [(line, phrase)]


@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        (".md", "```console\nsealed anew\n```\nThe option `--for good` exists."),
        (".html", "{# sealed anew #}<a title='anew'>Again</a><script>anew</script>"),
        (".md", "It runs behind a proxy."),
        (".py", 'anew = "`for good` is code"\n'),
        (".sql", "SELECT anew;"),
    ],
)
def test_code_and_plain_english_pass(suffix: str, text: str) -> None:
    assert findings(text, suffix) == []
