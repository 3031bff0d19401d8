"""The report in a bundle: a page with the bundle's content that is harmless whatever was recorded."""

import json
import re
from html.parser import HTMLParser
from typing import Any, Final

import pytest

from tests.e2e.hostile import CORPUS
from timemachine.evidence.bundles.report import Counts, Shown, log_report, report
from timemachine.evidence.pure.envelope import Place, envelope
from timemachine.evidence.pure.readme import About, log_readme, readme
from timemachine.evidence.pure.report_rows import FIRST, Rows, first_line

KEY: Final = "ed25519:" + "0" * 64
STATED: Final[dict[str, Any]] = {
    "of": "session",
    "id": "01a20546-e091-783d-92e6-45403c810691",
    "size": 3,
    "root": "ab" * 32,
    "sealed_at": "2026-11-22T22:01:00Z",
    "state": "open",
}


def rows(fields_of_records: list[dict[str, Any]], of: str = "session", sealed: tuple[str, ...] = ()) -> Rows:
    """Return the rows of records that disclose these fields; fields with the names in `sealed` are committed to as well."""
    found = Rows(of=of)
    place = Place(of=of, id=STATED["id"], index=1)
    for index, fields in enumerate(fields_of_records):
        commitments = dict.fromkeys([*fields, *sealed], "0" * 64)
        found.envelope(
            envelope(
                place,
                kind="tool_call",
                at="2026-11-22T22:01:01.5Z",
                previous=bytes(32),
                commitments=commitments,
            )
        )
        found.disclose(
            index,
            {
                name: ["00", value] if value is not None else ["00", None, "ff" * 32]
                for name, value in fields.items()
            },
        )
    return found


def page(disclosed: Rows, about: dict[str, Any] | None = None, **stated: Any) -> str:
    return report(
        [Shown(stated=STATED | {"of": disclosed.of} | stated, rows=disclosed, sealed_by=KEY)],
        about or {},
        KEY,
    )


def test_it_states_what_is_disclosed_and_what_is_not() -> None:
    made = page(
        rows(
            [{"input": "\n\nfirst\nsecond", "hit.1": "{}", "hit.1.text": None}, {"output": None}],
            sealed=("hit.2.text", "words"),
        )
    )
    assert "<bdi>first</bdi>" in made
    assert "second" not in made
    assert "in payloads.jsonl, ffff" in made
    assert "The bundle contains 2 records of the first 3 and discloses 4 of 8 fields." in made
    assert "hit.N.text of 2 records, words of 2 records" in made
    assert "<dt>more may come</dt><dd><bdi>yes</bdi>" in made
    assert "Withheld: " in made
    assert f"--key {KEY}" in made
    assert "2026-11-22 22:01:01 UTC" in made


@pytest.mark.parametrize("withholds", [True, False])
def test_erased_and_withheld_fields_are_distinguished(withholds: bool) -> None:
    disclosed = rows([{"output": "x"}], sealed=("input", "words"))
    disclosed.erase(0, {"input": "2026-11-22T22:09:00Z"})
    made = page(disclosed, withholds=withholds)
    assert "1 field erased permanently, most recently at 2026-11-22 22:09:00 UTC" in made
    assert ("Tombstones in the log name them: input of 1 record" in made) is not withholds
    why = "Withheld" if withholds else "Missing without a known tombstone"
    assert f"{why}: words of 1 record." in made


def test_a_replay_s_verdicts_are_counted_and_its_failures_are_highlighted() -> None:
    facts: list[dict[str, Any]] = [
        {"status": "done", "sequence": 1, "verdict": "identical"},
        {"status": "failed", "sequence": 2},
        {"kind": "audit"},
    ]
    words = json.dumps({"error": {"type": "Timeout", "message": "late"}}, separators=(",", ":"))
    disclosed = [
        {"facts": json.dumps(each), "words": words if each.get("status") == "failed" else "{}"}
        for each in facts
    ]
    made = page(rows(disclosed, of="replay"))
    assert "2 steps: 1 done, 1 failed. Verdicts: 1 identical." in made
    assert "<bdi>failed, Timeout: late</bdi>" in made
    assert made.count('class="wrong"') == 1
    assert "Verdicts" not in page(rows([{"facts": json.dumps(facts[1])}, {"facts": "[]"}], of="replay"))


def test_a_long_session_is_shortened_to_both_ends_and_the_errors_with_a_notice() -> None:
    error = {"words": '{"error":{"message":"lost","type":null}}'}
    disclosed = [error if 150 <= index < 300 else {"input": f"step {index}."} for index in range(500)]
    made = page(rows(disclosed))
    assert "step 99." in made
    assert "step 100." not in made
    assert "step 400." in made
    assert made.count('class="wrong"') == FIRST
    assert (
        "200 records not listed, 50 of them with an error. The list has the first and the last records, and the first ones with an error"
        in made
    )
    quiet = page(rows([{"input": "x"}] * 201))
    assert "1 record not listed. The list has the first and the last records; the" in quiet


class Elements(HTMLParser):
    """The elements and attributes of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags, self.attributes = set[str](), set[str]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


@pytest.mark.parametrize("name", CORPUS)
def test_recorded_markup_remains_text(name: str) -> None:
    text = CORPUS[name]
    words = json.dumps({"error": {"type": text, "message": text}}, separators=(",", ":"))
    disclosed = rows([{"input": text, "output": text, "words": words}])
    made = page(disclosed, {"session": {"name": text, text: [text]}})
    elements = Elements()
    elements.feed(made)
    assert not elements.tags & {"script", "img", "svg", "iframe", "b", "base", "link", "div", "object"}
    assert elements.attributes <= {
        "lang",
        "charset",
        "http-equiv",
        "content",
        "name",
        "class",
        "scope",
        "colspan",
    }
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", made)
    assert "{{" in made or name != "template"
    made.encode()


def test_nothing_is_fetched_and_long_metadata_is_cut() -> None:
    made = page(
        rows([{}]), {"session": {"metadata": {f"n{number}": number for number in range(99)}, "key": None}}
    )
    assert "default-src 'none'; style-src 'unsafe-inline'" in made
    assert not re.search(r"(src|href)=|url\(|@import", made)
    assert "<dd><bdi>39</bdi>" in made
    assert "<dd><bdi>40</bdi>" not in made
    assert len(first_line("x" * 500)) == 161


def test_the_log_s_report_counts_the_entries() -> None:
    counts = Counts(entries=1234, present=2, kinds={"sealed": 1233, "erased": 1})
    named = {name: STATED[name] for name in ("id", "size", "root", "sealed_at")} | {"of": "log"}
    made = log_report(named, {"project": "<P>"}, KEY, counts)
    assert "<dt>erased</dt><dd><bdi>1</bdi>" in made
    assert "<bdi>&lt;P&gt;</bdi>" in made
    assert "more may come" not in made


def test_the_log_s_report_lists_each_erasure_with_its_subject_time_user_and_reason() -> None:
    records = [[index, ["input", "output"]] for index in range(1, 31)]
    entry = {"of": "session", "id": "S", "at": "2026-11-22T22:01:00Z", "by": "ada@example.org"}
    erasures: list[tuple[int, dict[str, Any]]] = [
        (3, entry | {"entry": "erased_fields", "records": records, "reason": "<asked for>"}),
        (4, {"entry": "erased", "of": "access", "id": "L"}),
        (5, {"entry": "erased", "of": "comparison", "id": "C", "sealed_anew": 2}),
    ]
    named = {name: STATED[name] for name in ("id", "size", "root", "sealed_at")} | {"of": "log"}
    kinds = {"sealed": 3, "erased": 1_500, "erased_fields": 1}
    made = log_report(named, {}, KEY, Counts(entries=9, present=2, kinds=kinds, erasures=erasures))
    assert "session S, record 1: input, output; record 2: input, output" in made
    assert "and 10 more records" in made
    assert "record 21:" not in made
    assert "&lt;asked for&gt;" in made
    assert "ada@example.org" in made
    assert "access L, all of it" in made
    assert "comparison C, resealed after an erasure as run 2" in made
    assert "<bdi>not recorded</bdi>" in made
    assert "<bdi>unknown</bdi>" in made
    assert "1,498 more entries are not listed" in made
    assert "erased permanently" not in log_report(named, {}, KEY, Counts(entries=9, present=2, kinds={}))
    truncated = Counts(entries=9, present=2, kinds={"erased": 2}, erasures=erasures[1:2])
    assert "1 more entry is not listed" in log_report(named, {}, KEY, truncated)


def test_the_readme_matches_its_bundle_and_makes_no_unmeasured_claims() -> None:
    named = STATED | {"withholds": False}
    of_session = readme(named, KEY, About(sealed_by=KEY, erased=3, withheld=1_200))
    assert "its first 3 records (record 0 is the session itself)" in of_session
    assert "Not disclosed:    3 fields erased permanently, 1,200 withheld" in of_session
    assert "tombstones in erased.json\n  name the fields" in of_session
    assert "has been replaced" not in of_session
    link = {"id": "abc", "evidence_only": True, "redaction": {"name": "Auditors", "version": 2}}
    about = About(sealed_by=KEY[:-1] + "1", erased=1, withheld=0, link=link, dated=True, replayed=True)
    of_link = readme(named | {"withholds": True, "state": "closed"}, KEY, about)
    for words in (
        "all of its 3 records",
        "what the share link abc shows",
        "only the evidence",
        "Under the redaction profile Auditors, version 2",
        "statement has their number",
        "That a replay shows why",
        "has been replaced",
        "1 field erased permanently",
    ):
        assert words in of_link
    plain = readme(named, KEY, About(sealed_by=KEY, erased=0, withheld=0))
    assert not re.search("erased.json|timestamps|That a replay|share link", plain)
    of_log = log_readme(named | {"of": "log"}, KEY)
    assert "the log of project" in of_log
    assert "record 0" not in of_log
    of_log_dated = log_readme(named | {"of": "log"}, KEY, dated=True)
    assert "chain of certificates" not in of_log
    for text in (of_link, of_log_dated):
        assert "chain of certificates" in text
        assert "That nothing was recorded later" in text
        assert f"--key {KEY}" in text
        assert not re.search("quarter of an hour|published with each release|[{}]", text)
        assert max(map(len, text.splitlines())) <= 120


@pytest.mark.parametrize(
    ("disclosed", "result"),
    [
        ({"words": {"evidence": {"only_recorded": ["ls"]}}}, "done, fewer calls"),
        ({"words": {}, "evidence": {"evidence": {"only_new": ["ls"]}}}, "done, more calls"),
        ({"evidence": {"evidence": {"only_new": ["ls"], "only_recorded": ["cat"]}}}, "done, other tool"),
        ({"words": {"evidence": None}}, "done, calls differ"),
        ({}, "done, calls differ"),
    ],
)
def test_a_verdict_on_calls_reads_as_on_the_pages_as_far_as_its_evidence_is_disclosed(
    disclosed: dict[str, Any], result: str
) -> None:
    facts = {"status": "done", "sequence": 1, "verdict": "other_tool"}
    made = page(
        rows([{name: json.dumps(each) for name, each in ({"facts": facts} | disclosed).items()}], of="replay")
    )
    assert f"<bdi>{result}</bdi>" in made
    assert "Verdicts: calls differ in 1." in made


def test_a_comparison_s_cells_name_their_model_question_and_session() -> None:
    session = rows([{}, {"input": "When did it open?\nSay a year."}])
    facts: list[dict[str, Any]] = [
        {"arms": 2},
        {
            "arm": 0,
            "run": 1,
            "model": "m-1",
            "session": STATED["id"],
            "sequence": 1,
            "status": "done",
            "verdict": "identical",
        },
        {"arm": 1, "run": 1, "model": None, "session": "elsewhere", "sequence": 7, "status": "done"},
        {"columns": [1, 2], "pairs": [1]},
        {"columns": [1], "pairs": None},
    ]
    disclosed = rows([{"facts": json.dumps(each)} for each in facts], of="comparison", sealed=("output",))
    trees = [
        Shown(stated=STATED | {"of": "comparison", "state": "closed"}, rows=disclosed, sealed_by=KEY),
        Shown(stated=STATED, rows=session, sealed_by=KEY),
    ]
    about = {
        "sessions": [{"name": "One"}, {"name": "Two"}],
        "link": {"id": "L", "redaction": {"name": "P", "version": 3}},
    }
    made = report(trees, about, KEY)
    for name, value in (
        ("question", "When did it open?"),
        ("question", "not disclosed"),
        ("model", "m-1"),
        ("model", "not recorded"),
        ("session", f"{STATED['id']}, step 1"),
        ("figures", "2 columns, 1 pair"),
        ("figures", "1 column, 0 pairs"),
        ("output", "not disclosed"),
    ):
        assert f'<span class="quiet">{name}</span> <bdi>{value}</bdi>' in made
    assert "2 answers: 2 done." in made
    assert "<dt>session 2 name</dt><dd><bdi>Two</bdi>" in made
    assert "what the share link L shows" in made
    assert "profile P, version 3" in made
    assert "The bundle contains 5 records of 3" in made
    assert "That a replay shows why" in made
    assert "That a replay shows why" not in page(rows([{}]))


def test_an_undisclosed_record_of_a_replay_is_still_a_row() -> None:
    assert "The bundle contains 1 record of the first 3 and discloses 0 of 1 field." in page(
        rows([{}], of="replay", sealed=("facts",))
    )


def test_erased_parts_of_a_record_leave_a_mark_in_its_row() -> None:
    disclosed = Rows(of="session")
    commitments = {"output": "0" * 64}
    place = Place(of="session", id=STATED["id"], index=1)
    disclosed.envelope(
        envelope(place, kind="ask", at="2026-11-22T22:01:01Z", previous=bytes(32), commitments=commitments)
    )
    disclosed.erase(1, {"output": "2026-11-22T22:09:00Z"})
    disclosed.disclose(1, {})
    assert '<span class="quiet">output</span> <bdi>erased</bdi>' in page(disclosed)


def test_the_log_s_report_names_the_replaced_keys() -> None:
    named = {name: STATED[name] for name in ("id", "size", "root", "sealed_at")} | {"of": "log"}
    entry = {"entry": "key", "key": "NEW", "replaces": "OLD", "at": "2026-11-22T22:01:00Z"}
    counts = Counts(
        entries=2, present=0, kinds={"key": 2}, replaced=[(0, entry), (1, entry | {"replaced": "unreadable"})]
    )
    made = log_report(named, {}, KEY, counts)
    assert "<dt>entry 0, 2026-11-22 22:01:00 UTC</dt><dd><bdi>OLD by NEW</bdi>" in made
    assert "OLD by NEW (the earlier key could not be read" in made
