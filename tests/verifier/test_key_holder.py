"""What somebody may do to a bundle who holds the key: every signature and every hash is right, and it is found all the same."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.verifier.bundles import Files, packed, unpacked
from tests.verifier.conftest import Made
from tests.verifier.forging import Forger
from timemachine.evidence.tree import Tree, leaf_hash
from timemachine.verifier import tm_verify

pytestmark = pytest.mark.django_db  # for the fixture alone


def in_part(files: Files, path: str, kept: Sequence[int]) -> None:
    """Leave the other records of a tree out, and prove each of these by its path."""
    records, told = (files[f"{path}/{name}.jsonl"].splitlines() for name in ("records", "disclosed"))
    tree = Tree([leaf_hash(line) for line in records])
    proofs = [
        json.dumps({"index": index, "path": [each.hex() for each in tree.inclusion(index)]}).encode()
        for index in kept
    ]
    last = files[f"{path}/checkpoints.jsonl"].splitlines()[-1]
    for name, found in (
        ("records", [records[index] for index in kept]),
        ("disclosed", [told[index] for index in kept]),
        ("proofs", proofs),
        ("checkpoints", [last]),
    ):
        files[f"{path}/{name}.jsonl"] = b"".join(line + b"\n" for line in found)


def checked(files: Files, folder: Path, forger: Forger) -> tm_verify.Report:
    return tm_verify.verify(str(packed(files, folder / "x.zip")), forger.key)


def says(**said: bool) -> Any:
    """Say this of the first tree."""
    return lambda stated: stated["predicate"]["trees"][0].update(said)


@pytest.mark.parametrize(
    ("of", "kept", "named"),
    [
        ("session", (), "0–8."),
        ("session", (0, 1, 2, 3, 5, 6, 7, 8), " 4."),
        ("session", (0, 1, 2), " 3–8."),
        ("session", range(9), "calls itself a part"),
        ("replay", (0, 2, 3, 4), " 1."),
        ("comparison", (0, 1, 4), " 2–3, 5–"),
    ],
)
@pytest.mark.parametrize("withholds", [False, True])
def test_records_that_are_left_out_of_what_it_is_evidence_of_are_named(
    made: Made, tmp_path: Path, of: str, kept: Sequence[int], named: str, withholds: bool
) -> None:
    files, forger = unpacked(getattr(made, of)), Forger()
    in_part(files, of, kept)
    forger.seal(files, says(complete=False, withholds=withholds))
    report = checked(files, tmp_path, forger)
    wrong = [each["says"] for each in report.problems if each["code"] == "missing"]
    if of == "comparison" and withholds:
        assert report.problems == []
        wrong = report.not_checked
    assert any(named in each for each in wrong), wrong


def test_what_shows_nothing_is_evidence_of_nothing(made: Made, tmp_path: Path) -> None:
    for path, kept in (("comparison", ()), ("comparison", (1, 2)), ("session-1", ())):
        files, forger = unpacked(made.comparison), Forger()
        if path == "comparison":
            in_part(files, path, kept)
            forger.seal(files, says(complete=False, withholds=True))
        else:
            for name in ("records", "disclosed", "proofs"):
                files[f"{path}/{name}.jsonl"] = b""
            forger.seal(files)
        found = [(each["code"], each["where"]) for each in checked(files, tmp_path, forger).problems]
        assert ("missing", f"{path} records") in found


def test_so_many_holes_are_counted() -> None:
    named = tm_verify._ranges(range(0, 100, 2), 100)
    assert named.startswith("1, 3, 5")
    assert named.endswith("39, and 30 more ranges")
