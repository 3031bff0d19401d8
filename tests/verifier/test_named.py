"""Of removed, moved, duplicated or changed records, exactly those are reported."""

import re
from pathlib import Path
from typing import Final

import pytest

from tests.verifier.bundles import Change, Files, lines, packed, replaced, statement, unpacked
from tests.verifier.conftest import Made
from tests.verifier.test_check_here import Checks, browser_report
from timemachine.verifier import tm_verify

__all__ = ["browser_report"]
pytestmark = pytest.mark.django_db  # for the fixture only
RECORDS: Final = "session/records.jsonl"


def removed(*numbers: int) -> Change:
    """Remove these lines."""
    return lines(
        RECORDS,
        lambda found: found.__setitem__(slice(None), [x for i, x in enumerate(found) if i not in numbers]),
    )


def swapped(one: int, other: int) -> Change:
    def change(found: list[bytes]) -> None:
        found[one], found[other] = found[other], found[one]

    return lines(RECORDS, change)


def at(number: int, old: str, new: str) -> Change:
    return replaced(RECORDS, number, old.encode(), new.encode())


def first_hash_of(number: int, name: str) -> Change:
    """Change the first digit of the first hash after a name."""

    def change(found: list[bytes]) -> None:
        begin = found[number].index(f'"{name}":'.encode())
        digit = re.compile(rb'":"[0-9a-f]{64}"').search(found[number], begin).start() + 3  # type: ignore[union-attr]
        other = b"2" if found[number][digit : digit + 1] == b"1" else b"1"
        found[number] = found[number][:digit] + other + found[number][digit + 1 :]

    return lines(RECORDS, change)


def both(*changes: Change) -> Change:
    def change(files: Files) -> None:
        for each in changes:
            each(files)

    return change


CASES: Final[dict[str, tuple[Change, set[int]]]] = {
    **{f"{number} taken out": (removed(number), {number}) for number in range(9)},
    "5 and 7 taken out": (removed(5, 7), {5, 7}),
    "0 and the last taken out": (removed(0, 8), {0, 8}),
    "3 and 4 taken out": (removed(3, 4), {3, 4}),
    "neighbours swapped": (swapped(3, 4), {3}),
    "the first two swapped": (swapped(0, 1), {0}),
    "the last two swapped": (swapped(7, 8), {7}),
    "distant ones swapped": (swapped(2, 7), {2, 7}),
    "distant ones swapped, and one of them changed": (
        both(first_hash_of(2, "fields"), swapped(2, 7)),
        {2, 7},
    ),
    "one moved to the end": (lines(RECORDS, lambda found: found.append(found.pop(3))), {3}),
    "one doubled": (lines(RECORDS, lambda found: found.insert(5, found[4])), {4}),
    "one changed and doubled": (
        both(first_hash_of(4, "fields"), lines(RECORDS, lambda found: found.insert(5, found[4]))),
        {4},
    ),
    "one doubled at the end": (lines(RECORDS, lambda found: found.append(found[4])), {4}),
    "the last doubled": (lines(RECORDS, lambda found: found.append(found[8])), {8}),
    "one with the index of another": (at(5, '"index":5', '"index":7'), {5}),
    "one with an index that never existed": (at(5, '"index":5', '"index":70'), {5}),
    "one of another form": (at(3, '"v":1', '"v":2'), {3}),
    "the first of another form": (at(0, '"v":1', '"v":2'), {0}),
    "the last of another form": (at(8, '"v":1', '"v":2'), {8}),
    "two of another form, and one taken out": (
        both(at(2, '"v":1', '"v":2'), at(3, '"v":1', '"v":2'), removed(6)),
        {2, 3, 6},
    ),
    **{f"the hash in {number}": (first_hash_of(number, "prev"), {number}) for number in (0, 1, 4, 7, 8)},
    **{
        f"a commitment of {number}": (first_hash_of(number, "fields"), {number}) for number in (0, 1, 4, 7, 8)
    },
}


@pytest.mark.parametrize("name", CASES)
def test_exactly_the_affected_records_are_reported(made: Made, tmp_path: Path, name: str) -> None:
    change, expected = CASES[name]
    files = unpacked(made.session)
    change(files)
    found = tm_verify.verify(str(packed(files, tmp_path / "evidence.zip")), made.key).problems
    places = {each["where"] for each in found} - {RECORDS}
    assert {
        int(place.split(" ")[2]) for place in places if place.startswith("session record ")
    } == expected, found
    assert not [each for each in found if each["where"].startswith("session checkpoint")], found


@pytest.mark.parametrize("name", CASES)
def test_the_reader_s_browser_reports_the_same(made: Made, browser_report: Checks, name: str) -> None:
    change, expected = CASES[name]
    files = unpacked(made.session)
    change(files)
    shown = browser_report(files)
    found = [
        line for line in shown.splitlines() if line.startswith(("session record ", "session checkpoint"))
    ]
    assert {int(line.split(" ")[2].rstrip(":")) for line in found if "checkpoint" not in line} == expected, (
        shown
    )
    assert not [line for line in found if "checkpoint" in line], shown


def test_an_invalid_statement_signature_is_not_blamed_on_another_key(made: Made, tmp_path: Path) -> None:
    files = unpacked(made.session)
    statement(lambda content: content["predicate"]["about"].update(name="x"))(files)
    report_lines = list(
        tm_verify.report_lines(tm_verify.verify(str(packed(files, tmp_path / "evidence.zip"))))
    )
    assert "signed by no valid key" in report_lines
    assert not [line for line in report_lines if "another key" in line]


@pytest.mark.parametrize(
    ("name", "one", "two"),
    [
        ("withheld", "1 field withheld", "2 fields withheld"),
        ("proofs", "1 proof", "2 proofs"),
        ("unfit_fields", "1 field that does not match", "2 fields that do not match"),
        ("erased_fields", "1 erased field", "2 erased fields"),
        ("sealed", "1 sealed", "2 sealed"),
    ],
)
def test_a_count_of_one_is_singular(name: str, one: str, two: str) -> None:
    for count, words in ((1, one), (2, two)):
        report = tm_verify.Report()
        report.checked[name] = count
        assert f"checked: {words}" in tm_verify.report_lines(report)
