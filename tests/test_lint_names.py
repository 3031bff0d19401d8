"""The check of names finds banned words, and allows terms of the field."""

import pytest

from tests.lint_names import findings, settings


@pytest.mark.parametrize(
    ("source", "module", "names"),
    [
        ("", "told", ["told"]),
        ("", "frames_left", ["frames_left"]),
        ("class SessionKept: ...", "sessions", ["SessionKept"]),
        ("def tell_room(): ...", "sessions", ["tell_room"]),
        ("class Query:\n    async def _asked(self): ...", "sessions", ["_asked"]),
    ],
)
def test_a_banned_name_is_found(source: str, module: str, names: list[str]) -> None:
    assert [name for _, name, _ in findings(source, module)] == names


@pytest.mark.parametrize(
    "source",
    ["class NotFound(Exception): ...", "def left_out(): ...", "def found_by(): ...", "def weight_of(): ..."],
)
def test_terms_of_the_field_pass(source: str) -> None:
    assert list(findings(source, "search")) == []


def test_a_setting_is_found_and_another_constant_is_not_a_setting() -> None:
    assert [name for _, name, _ in settings("RING_SECONDS = 3\nTIMEOUT: int = 4")] == ["RING_SECONDS"]
    assert list(findings("RING_SECONDS = 3", "queue")) == []
