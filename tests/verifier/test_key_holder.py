"""What somebody may do to a bundle who holds the key: every signature and every hash is right, and it is found all the same."""

import base64
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from tests.verifier.bundles import Files, packed, unpacked
from tests.verifier.conftest import Made
from tests.verifier.forging import Forger
from timemachine.evidence.pure.tree import Tree, leaf_hash
from timemachine.verifier import tm_verify

pytestmark = pytest.mark.django_db  # for the fixture alone
NO_OTHER: Final[dict[int, bytes]] = {}


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


def says(**said: object) -> Any:
    """Say this of the first tree."""
    return lambda stated: stated["predicate"]["trees"][0].update(said)


@pytest.mark.parametrize(
    ("of", "kept", "named"),
    [
        ("session", (), "0–8."),
        ("session", (0, 1, 2, 3, 5, 6, 7, 8), " 4."),
        ("session", (0, 1, 2), " 3–8."),
        ("session", range(9), "claims to be a part"),
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


def sealed_again(
    files: Files, path: str, forger: Forger, links: dict[int, bytes], kinds: dict[int, bytes] = NO_OTHER
) -> None:
    """Seal a replay or comparison again, in which these records link others (nothing: none), and are of these kinds."""
    previous, made = b"0" * 64, []
    for index, written in enumerate(files[f"{path}/records.jsonl"].splitlines()):
        put = b'"links":{"recorded":"%b"},' % links[index] if links.get(index) else b""
        line = re.sub(rb'"links":\{[^}]*\},', put, written) if index in links else written
        line = re.sub(rb'"kind":"[a-z_]+"', b'"kind":"%b"' % kinds[index], line) if index in kinds else line
        made.append(re.sub(rb'"prev":"[0-9a-f]{64}"', b'"prev":"%b"' % previous, line))
        previous = leaf_hash(made[-1]).hex().encode()
    root = Tree([leaf_hash(line) for line in made]).root()
    files[f"{path}/records.jsonl"] = b"".join(line + b"\n" for line in made)

    def state(payload: bytes) -> bytes:
        origin, size, _, _, *rest = payload.split(b"\n")
        return b"\n".join([origin, size, base64.b64encode(root), b"last " + previous, *rest])

    last = json.loads(files[f"{path}/checkpoints.jsonl"].splitlines()[-1])
    files[f"{path}/checkpoints.jsonl"] = json.dumps(forger.signed(last, state)).encode() + b"\n"
    log = json.loads(files[f"{path}/log.json"])
    entry = json.dumps(json.loads(log["entry"]) | {"root": root.hex()})
    leaf = leaf_hash(entry.encode())

    def of_log(payload: bytes) -> bytes:
        origin, _, _, *rest = payload.split(b"\n")
        return b"\n".join([origin, b"1", base64.b64encode(leaf), *rest])

    signed = forger.signed(log["checkpoint"], of_log)
    files[f"{path}/log.json"] = json.dumps(
        {"index": 0, "entry": entry, "path": [], "checkpoint": signed}
    ).encode()

    def stated(said: Any) -> None:
        said["predicate"]["trees"][0]["root"] = said["subject"][0]["digest"]["sha256"] = root.hex()

    forger.seal(files, stated)


def linked_by(files: Files, path: str) -> dict[int, bytes]:
    """What each record of a tree links."""
    found = enumerate(files[f"{path}/records.jsonl"].splitlines())
    return {
        index: match[1]
        for index, line in found
        if (match := re.search(rb'"recorded":"([0-9a-f]{64})"', line))
    }


def untold(files: Files, path: str) -> None:
    """Tell no facts of a tree."""
    told = [json.loads(line) for line in files[f"{path}/disclosed.jsonl"].splitlines()]
    for each in told:
        each["fields"].pop("facts", None)
    files[f"{path}/disclosed.jsonl"] = b"".join(
        json.dumps(each, separators=(",", ":")).encode() + b"\n" for each in told
    )


@pytest.mark.parametrize("of", ["replay", "comparison"])
def test_a_step_repeats_the_record_that_it_says_and_no_other(made: Made, tmp_path: Path, of: str) -> None:
    whole, forger = unpacked(getattr(made, of)), Forger()
    links = linked_by(whole, of)
    other = min(links)
    one = next(index for index in links if links[index] != links[other])
    sealed_again(same := dict(whole), of, forger, {})
    assert checked(same, tmp_path, forger).problems == []
    sealed_again(files := dict(whole), of, forger, {one: links[other], other: links[one]})
    report = checked(files, tmp_path, forger)
    wrong = {f"{of} record {one}", f"{of} record {other}"}
    assert {(each["code"], each["where"]) for each in report.problems} == {("link", each) for each in wrong}
    assert report.checked["links"] == len(links) - 2


def test_where_no_facts_are_told_the_kinds_and_the_order_of_a_replay_are_compared(
    made: Made, tmp_path: Path
) -> None:
    whole, forger = unpacked(made.replay), Forger()
    untold(whole, "replay")
    links = linked_by(whole, "replay")
    sealed_again(files := dict(whole), "replay", forger, {})
    forger.seal(files, says(withholds=True))
    report = checked(files, tmp_path, forger)
    assert report.problems == []
    assert any("4 records of the replay" in each and "not disclosed" in each for each in report.not_checked)
    kinds = {
        index: json.loads(line)["kind"].encode()
        for index, line in enumerate(whole["replay/records.jsonl"].splitlines())
    }
    swapped = {1: links[2], 2: links[1]}
    for as_well, named in ((NO_OTHER, "something else"), ({1: kinds[2], 2: kinds[1]}, "after record")):
        sealed_again(files := dict(whole), "replay", forger, swapped, as_well)
        forger.seal(files, says(withholds=True))
        found = checked(files, tmp_path, forger).problems
        assert any(each["code"] == "link" and named in each["says"] for each in found)


def test_a_step_of_a_replay_links_a_recorded_step_and_nothing_else(made: Made, tmp_path: Path) -> None:
    whole, forger = unpacked(made.replay), Forger()
    own = leaf_hash(whole["replay/records.jsonl"].splitlines()[0]).hex().encode()
    session = leaf_hash(whole["session/records.jsonl"].splitlines()[0]).hex().encode()
    for link, named in (
        (own, "something else (session)"),
        (session, "something else (1)"),
        (b"", "does not name the record"),
    ):
        sealed_again(files := dict(whole), "replay", forger, {1: link})
        (fault,) = checked(files, tmp_path, forger).problems
        assert (fault["code"], fault["where"]) == ("link", "replay record 1")
        assert named in fault["says"]


def test_nobody_is_told_that_the_report_was_compared_with_the_records(made: Made, tmp_path: Path) -> None:
    files, forger = unpacked(made.session), Forger()
    page = files["report.html"].decode()
    assert "it does not compare its words with them" in page
    files["report.html"] = b"<h1>The agent refused the order.</h1>"
    forger.seal(files)
    said = "\n".join(tm_verify.report_lines(checked(files, tmp_path, forger)))
    assert "NOT PROVEN: That report.html, README.txt and the names in the statement" in said
    assert "That report.html, this text and the names in statement.json" in files["README.txt"].decode()


def test_a_key_that_is_said_to_be_another_one_is_named(made: Made, tmp_path: Path) -> None:
    other = Forger()
    for said in ({"fingerprint": other.key}, {"pem": "-----BEGIN PUBLIC KEY-----"}, {"fingerprint": None}):
        files, forger = unpacked(made.session), Forger()
        keys = json.loads(files["keys.json"])
        files["keys.json"] = json.dumps([keys[0] | said, *keys[1:]]).encode()
        forger.seal(files)
        (fault,) = checked(files, tmp_path, forger).problems
        assert (fault["code"], fault["where"]) == ("key", "keys.json key 1")
        assert made.key in fault["says"]
