"""A project's log: what was dropped, changed or slipped in is named."""

import json
from pathlib import Path
from typing import Final

import pytest

from tests.verifier.bundles import Change, document, drop, faults, lines, packed, replaced, unpacked
from tests.verifier.conftest import Made
from tests.verifier.forging import Forger

pytestmark = pytest.mark.django_db  # for the fixture alone
ENTRIES, STATES, PRESENT = "log/entries.jsonl", "log/checkpoints.jsonl", "log/present.jsonl"
CLASSES: Final[dict[str, tuple[Change, tuple[str, str]]]] = {
    "a session dropped": (lines(PRESENT, drop(0)), ("dropped", "session ")),
    "a session under another root": (
        document(PRESENT, lambda each: each.update(root="00"), 0),
        ("changed", "session "),
    ),
    "a session that was never sealed": (
        lines(PRESENT, lambda found: found.append(found[0].replace(b'"generation":1', b'"generation":2'))),
        ("log", "session "),
    ),
    "a line that names nothing": (
        lines(PRESENT, lambda found: found.append(b"{}")),
        ("log", "log present line 4"),
    ),
    "an entry changed": (
        replaced(ENTRIES, 0, b'"of":"session"', b'"of":"lesson"'),
        ("root", "log checkpoint 1"),
    ),
    "an entry that is none": (lines(ENTRIES, lambda found: found.append(b"{}")), ("log", "log entry 5")),
    "an entry taken out": (lines(ENTRIES, drop(1)), ("root", "log checkpoint 2")),
    "another root for the same records": (
        lines(ENTRIES, lambda found: found.append(found[0].replace(b'"root":"', b'"root":"00'))),
        ("changed", "log entry 5"),
    ),
    "a state that is no JSON": (replaced(STATES, 0, b"{", b"["), ("signature", "log checkpoint 1")),
    "no state": (lines(STATES, lambda found: found.clear()), ("checkpoint", "log checkpoints")),
    "a state dropped": (lines(STATES, drop(-1)), ("checkpoint", "log checkpoints")),
}


@pytest.mark.parametrize("name", CLASSES)
def test_what_was_done_to_a_log_is_named(made: Made, tmp_path: Path, name: str) -> None:
    change, (code, where) = CLASSES[name]
    files = unpacked(made.log)
    change(files)
    found = faults(packed(files, tmp_path / "x.zip"), made.key)
    assert any(each == code and place.startswith(where) for each, place in found), found


def test_an_untouched_log_holds_together(made: Made, tmp_path: Path) -> None:
    assert faults(packed(unpacked(made.log), tmp_path / "x.zip"), made.key) == []


def test_a_state_of_another_log_is_named(made: Made, tmp_path: Path) -> None:
    forger, files = Forger(), unpacked(made.log)
    forger.slip_in(files)
    signed = forger.signed(
        json.loads(files[STATES].splitlines()[0]), lambda text: text.replace(b"/log", b"/dog")
    )
    files[STATES] += json.dumps(signed).encode() + b"\n"
    assert ("checkpoint", "log checkpoint 6") in faults(packed(files, tmp_path / "x.zip"), made.key)
