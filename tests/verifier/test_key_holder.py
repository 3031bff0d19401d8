"""Manipulations by a holder of the key: every signature and every hash is right, and they are still detected."""

import base64
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from tests.verifier.bundles import Files, packed, unpacked
from tests.verifier.conftest import Made
from tests.verifier.forging import Forger
from timemachine.evidence.pure.tree import Tree, leaf_hash
from timemachine.verifier import tm_verify

pytestmark = pytest.mark.django_db  # for the fixture only
UNCHANGED_KINDS: Final[dict[int, bytes]] = {}


def in_part(files: Files, path: str, indexes: Sequence[int]) -> None:
    """Remove the other records of a tree, and prove each of these by its path."""
    records, disclosed = (files[f"{path}/{name}.jsonl"].splitlines() for name in ("records", "disclosed"))
    tree = Tree([leaf_hash(line) for line in records])
    proofs = [
        json.dumps({"index": index, "path": [each.hex() for each in tree.inclusion(index)]}).encode()
        for index in indexes
    ]
    last = files[f"{path}/checkpoints.jsonl"].splitlines()[-1]
    for name, found in (
        ("records", [records[index] for index in indexes]),
        ("disclosed", [disclosed[index] for index in indexes]),
        ("proofs", proofs),
        ("checkpoints", [last]),
    ):
        files[f"{path}/{name}.jsonl"] = b"".join(line + b"\n" for line in found)


def checked(files: Files, folder: Path, forger: Forger) -> tm_verify.Report:
    return tm_verify.verify(str(packed(files, folder / "x.zip")), forger.key)


def in_first_tree(**values: object) -> Any:
    """Return a change of the statement's first tree."""
    return lambda stated: stated["predicate"]["trees"][0].update(values)


def of_session(values: Mapping[str, object]) -> Any:
    """Return a change of what the statement says about its only or first session."""

    def change(stated: Any) -> None:
        about = stated["predicate"]["about"]
        (about["session"] if "session" in about else about["sessions"][0]).update(values)

    return change


@pytest.mark.parametrize(
    ("of", "indexes", "named"),
    [
        ("session", (), "0–8."),
        ("session", (0, 1, 2, 3, 5, 6, 7, 8), " 4."),
        ("session", (0, 1, 2), " 3–8."),
        ("session", range(9), "claims to be partial"),
        ("replay", (0, 2, 3, 4), " 1."),
        ("comparison", (0, 1, 4), " 2–3, 5–"),
    ],
)
@pytest.mark.parametrize("withholds", [False, True])
def test_records_left_out_of_the_subject_are_reported(
    made: Made, tmp_path: Path, of: str, indexes: Sequence[int], named: str, withholds: bool
) -> None:
    files, forger = unpacked(getattr(made, of)), Forger()
    in_part(files, of, indexes)
    forger.seal(files, in_first_tree(complete=False, withholds=withholds))
    report = checked(files, tmp_path, forger)
    wrong = [each["says"] for each in report.problems if each["code"] == "missing"]
    if of == "comparison" and withholds:
        assert report.problems == []
        wrong = report.not_checked
    assert any(named in each for each in wrong), wrong


def test_a_bundle_that_shows_nothing_is_evidence_of_nothing(made: Made, tmp_path: Path) -> None:
    for path, indexes in (("comparison", ()), ("comparison", (1, 2)), ("session-1", ())):
        files, forger = unpacked(made.comparison), Forger()
        if path == "comparison":
            in_part(files, path, indexes)
            forger.seal(files, in_first_tree(complete=False, withholds=True))
        else:
            for name in ("records", "disclosed", "proofs"):
                files[f"{path}/{name}.jsonl"] = b""
            forger.seal(files)
        found = [(each["code"], each["where"]) for each in checked(files, tmp_path, forger).problems]
        assert ("missing", f"{path} records") in found


def test_a_large_number_of_gaps_is_counted() -> None:
    named = tm_verify._ranges(range(0, 100, 2), 100)
    assert named.startswith("1, 3, 5")
    assert named.endswith("39, and 30 more ranges")


def reseal(
    files: Files,
    path: str,
    forger: Forger,
    links: dict[int, bytes],
    kinds: dict[int, bytes] = UNCHANGED_KINDS,
) -> None:
    """Seal a replay or comparison again, with other links (empty: none) and kinds of these records."""
    previous, made = b"0" * 64, []
    for index, written in enumerate(files[f"{path}/records.jsonl"].splitlines()):
        link = b'"links":{"recorded":"%b"},' % links[index] if links.get(index) else b""
        line = re.sub(rb'"links":\{[^}]*\},', link, written) if index in links else written
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

    def stated(content: Any) -> None:
        content["predicate"]["trees"][0]["root"] = content["subject"][0]["digest"]["sha256"] = root.hex()

    forger.seal(files, stated)


def links_of(files: Files, path: str) -> dict[int, bytes]:
    """Return the links of each record of a tree."""
    found = enumerate(files[f"{path}/records.jsonl"].splitlines())
    return {
        index: match[1]
        for index, line in found
        if (match := re.search(rb'"recorded":"([0-9a-f]{64})"', line))
    }


def without_facts(files: Files, path: str) -> None:
    """Remove the disclosed facts of a tree."""
    disclosed = [json.loads(line) for line in files[f"{path}/disclosed.jsonl"].splitlines()]
    for each in disclosed:
        each["fields"].pop("facts", None)
    files[f"{path}/disclosed.jsonl"] = b"".join(
        json.dumps(each, separators=(",", ":")).encode() + b"\n" for each in disclosed
    )


@pytest.mark.parametrize("of", ["replay", "comparison"])
def test_a_step_repeats_exactly_the_record_that_it_names(made: Made, tmp_path: Path, of: str) -> None:
    original, forger = unpacked(getattr(made, of)), Forger()
    links = links_of(original, of)
    other = min(links)
    one = next(index for index in links if links[index] != links[other])
    reseal(same := dict(original), of, forger, {})
    assert checked(same, tmp_path, forger).problems == []
    reseal(files := dict(original), of, forger, {one: links[other], other: links[one]})
    report = checked(files, tmp_path, forger)
    wrong = {f"{of} record {one}", f"{of} record {other}"}
    assert {(each["code"], each["where"]) for each in report.problems} == {("link", each) for each in wrong}
    assert report.checked["links"] == len(links) - 2


def test_without_disclosed_facts_the_kinds_and_the_order_of_a_replay_are_compared(
    made: Made, tmp_path: Path
) -> None:
    original, forger = unpacked(made.replay), Forger()
    without_facts(original, "replay")
    links = links_of(original, "replay")
    reseal(files := dict(original), "replay", forger, {})
    forger.seal(files, in_first_tree(withholds=True))
    report = checked(files, tmp_path, forger)
    assert report.problems == []
    assert any("4 records of the replay" in each and "not disclosed" in each for each in report.not_checked)
    kinds = {
        index: json.loads(line)["kind"].encode()
        for index, line in enumerate(original["replay/records.jsonl"].splitlines())
    }
    swapped = {1: links[2], 2: links[1]}
    for as_well, named in ((UNCHANGED_KINDS, "something else"), ({1: kinds[2], 2: kinds[1]}, "after record")):
        reseal(files := dict(original), "replay", forger, swapped, as_well)
        forger.seal(files, in_first_tree(withholds=True))
        found = checked(files, tmp_path, forger).problems
        assert any(each["code"] == "link" and named in each["says"] for each in found)


def test_a_step_of_a_replay_links_only_a_recorded_step(made: Made, tmp_path: Path) -> None:
    original, forger = unpacked(made.replay), Forger()
    own = leaf_hash(original["replay/records.jsonl"].splitlines()[0]).hex().encode()
    session = leaf_hash(original["session/records.jsonl"].splitlines()[0]).hex().encode()
    for link, named in (
        (own, "something else (session)"),
        (session, "something else (1)"),
        (b"", "does not name the record"),
    ):
        reseal(files := dict(original), "replay", forger, {1: link})
        (fault,) = checked(files, tmp_path, forger).problems
        assert (fault["code"], fault["where"]) == ("link", "replay record 1")
        assert named in fault["says"]


def test_the_report_is_never_claimed_to_match_the_records(made: Made, tmp_path: Path) -> None:
    files, forger = unpacked(made.session), Forger()
    page = files["report.html"].decode()
    assert "it does not compare this page with the records" in page
    files["report.html"] = b"<h1>The agent refused the order.</h1>"
    forger.seal(files)
    report_text = "\n".join(tm_verify.report_lines(checked(files, tmp_path, forger)))
    assert "NOT PROVEN: That report.html, README.txt and the names in the statement" in report_text
    assert "That report.html, this text and the names in statement.json" in files["README.txt"].decode()


@pytest.mark.parametrize(
    ("about", "code", "says"),
    [
        (
            {"status": "recording"},
            "status",
            "status is recording. It must be ended, as sealed in session",
        ),
        ({"ended_at": "2020-02-20T20:20:20Z"}, "time", "ended at 2020-02-20T20:20:20Z. It must be 2"),
        ({"ended_at": None}, "time", "ended at unknown. It must be 2"),
        ({"started_at": None}, "time", "started at unknown. It must be 2"),
    ],
)
def test_the_status_and_times_in_the_statement_are_the_sealed_ones(
    made: Made, tmp_path: Path, about: dict[str, object], code: str, says: str
) -> None:
    for of in ("session", "replay", "comparison"):
        files, forger = unpacked(getattr(made, of)), Forger()
        forger.seal(files, of_session(about))
        (fault,) = checked(files, tmp_path, forger).problems
        assert (fault["code"], fault["where"]) == (code, "statement.json")
        assert says in fault["says"]


def test_a_later_end_than_that_of_the_part_that_a_replay_shows_is_no_fault(
    made: Made, tmp_path: Path
) -> None:
    for of, codes in (("session", ["time"]), ("replay", []), ("comparison", [])):
        files, forger = unpacked(getattr(made, of)), Forger()
        forger.seal(files, of_session({"ended_at": "2999-01-01T00:00:00Z"}))
        assert [each["code"] for each in checked(files, tmp_path, forger).problems] == codes


def test_sessions_that_the_statement_does_not_identify_are_not_compared(made: Made, tmp_path: Path) -> None:
    files, forger = unpacked(made.comparison), Forger()
    forger.seal(files, of_session({"status": "recording", "id": None}))
    assert checked(files, tmp_path, forger).problems == []


@pytest.mark.parametrize(
    ("line", "other", "code"),
    [
        (b"status ended", b"status recording", "status"),
        (b"started 20", b"started 19", "time"),
        (b"ended 20", b"ended 19", "time"),
    ],
)
def test_a_session_that_has_ended_does_not_go_on_or_end_earlier(
    made: Made, tmp_path: Path, line: bytes, other: bytes, code: str
) -> None:
    files, forger = unpacked(made.session), Forger()
    first, last = files["session/checkpoints.jsonl"].splitlines()
    again = forger.signed(json.loads(last), lambda payload: payload.replace(line, other, 1))
    files["session/checkpoints.jsonl"] = b"".join([first, b"\n", json.dumps(again).encode(), b"\n"])
    forger.seal(files)
    found = [(each["code"], each["where"]) for each in checked(files, tmp_path, forger).problems]
    assert (code, "session checkpoint 2") in found


def test_states_of_an_earlier_version_say_only_that_nothing_more_can_follow(
    made: Made, tmp_path: Path
) -> None:
    def without_session(payload: bytes) -> bytes:
        return b"\n".join(payload.split(b"\n")[:6]) + b"\n"

    files, forger = unpacked(made.session), Forger()
    states = [
        forger.signed(json.loads(line), without_session)
        for line in files["session/checkpoints.jsonl"].splitlines()
    ]
    files["session/checkpoints.jsonl"] = b"".join(json.dumps(each).encode() + b"\n" for each in states)
    forger.seal(files)
    assert checked(files, tmp_path, forger).problems == []
    forger.seal(files, of_session({"status": "recording", "ended_at": None}))
    assert [each["code"] for each in checked(files, tmp_path, forger).problems] == ["status"]


def test_a_statement_about_no_session_is_unreadable(made: Made, tmp_path: Path) -> None:
    files, forger = unpacked(made.session), Forger()
    forger.seal(files, lambda stated: stated["predicate"]["about"].update(session=[]))
    with pytest.raises(tm_verify.Unreadable, match="statement does not have the form"):
        checked(files, tmp_path, forger)


def test_without_a_key_a_bundle_is_consistent_but_never_verified(
    made: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files, forger = unpacked(made.session), Forger()
    for re_signed in (False, True):
        if re_signed:
            forger.seal(files)
        path = str(packed(files, tmp_path / "x.zip"))
        assert tm_verify.main([path]) == 3
        printed = capsys.readouterr().out
        assert printed.startswith("CONSISTENT, SIGNER NOT CHECKED  timemachine/")
        assert "anyone can sign a bundle with a key of their own" in printed
        assert "VERIFIED" not in printed
    assert tm_verify.main([path, "--key", made.key]) == 1
    assert tm_verify.main([path, "--key", forger.key, "--json"]) == 0


def test_a_statement_signed_by_a_key_that_replaced_none_of_the_others_is_a_fault(
    made: Made, tmp_path: Path
) -> None:
    for of in ("session", "replay", "comparison", "log"):
        files, forger = unpacked(getattr(made, of)), Forger()
        forger.seal(files, states=False)
        for key in (None, forger.key):
            report = tm_verify.verify(str(packed(files, tmp_path / "x.zip")), key)
            assert (report.result, report.problems[0]["code"]) == ("failed", "key")
            assert made.key in report.problems[0]["says"]


def test_a_key_with_the_details_of_another_is_reported(made: Made, tmp_path: Path) -> None:
    other = Forger()
    for details in ({"fingerprint": other.key}, {"pem": "-----BEGIN PUBLIC KEY-----"}, {"fingerprint": None}):
        files, forger = unpacked(made.session), Forger()
        keys = json.loads(files["keys.json"])
        files["keys.json"] = json.dumps([keys[0] | details, *keys[1:]]).encode()
        forger.seal(files)
        (fault,) = checked(files, tmp_path, forger).problems
        assert (fault["code"], fault["where"]) == ("key", "keys.json key 1")
        assert made.key in fault["says"]
