"""The report in a bundle: a page that tells what the bundle tells, harmless whatever was recorded."""

import json
import re
from html.parser import HTMLParser
from typing import Any, Final

import pytest

from tests.e2e.hostile import CORPUS
from timemachine.evidence.envelope import Place, envelope
from timemachine.evidence.report import Counts, Shown, log_report, report
from timemachine.evidence.report_rows import FIRST, Rows, first_line

KEY: Final = "ed25519:" + "0" * 64
STATED: Final[dict[str, Any]] = {
    "of": "session",
    "id": "01a20546-e091-783d-92e6-45403c810691",
    "size": 3,
    "root": "ab" * 32,
    "sealed_at": "2026-11-22T22:01:00Z",
    "state": "open",
}


def rows(told: list[dict[str, Any]], of: str = "session", sealed: tuple[str, ...] = ()) -> Rows:
    """The rows of records of which these fields are told, and others of these names are sealed beside."""
    found = Rows(of=of)
    place = Place(of=of, id=STATED["id"], index=1)
    for index, fields in enumerate(told):
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
        found.tell(
            index,
            {
                name: ["00", value] if value is not None else ["00", None, "ff" * 32]
                for name, value in fields.items()
            },
        )
    return found


def page(told: Rows, about: dict[str, Any] | None = None, **stated: Any) -> str:
    return report([Shown(stated=STATED | {"of": told.of} | stated, rows=told)], about or {}, KEY)


def test_it_says_what_is_told_and_what_is_not() -> None:
    made = page(
        rows(
            [{"input": "\n\nfirst\nsecond", "hit.1": "{}", "hit.1.text": None}, {"output": None}],
            sealed=("hit.2.text", "words"),
        )
    )
    assert "<bdi>first</bdi>" in made
    assert "second" not in made
    assert "in payloads.jsonl, ffff" in made
    assert "2 records of 3 in the bundle, 4 of 8 fields told" in made
    assert "hit.N.text of 2 records, words of 2 records" in made
    assert "<dt>more may come</dt><dd><bdi>yes</bdi>" in made
    assert "it is withheld or erased: " in made
    assert f"--key {KEY}" in made
    assert "2026-11-22 22:01:01 UTC" in made


def test_where_nothing_is_withheld_what_is_not_told_was_erased() -> None:
    made = page(rows([{}], sealed=("input",)), withholds=False)
    assert "it is erased for good, with a tombstone in the log: input of 1 record." in made


def test_a_replay_s_verdicts_are_counted_and_its_failures_stand_out() -> None:
    facts: list[dict[str, Any]] = [
        {"status": "done", "sequence": 1, "verdict": "identical"},
        {"status": "failed", "sequence": 2},
        {"kind": "audit"},
    ]
    words = json.dumps({"error": {"type": "Timeout", "message": "late"}}, separators=(",", ":"))
    told = [
        {"facts": json.dumps(each), "words": words if each.get("status") == "failed" else "{}"}
        for each in facts
    ]
    made = page(rows(told, of="replay"))
    assert "2 steps: 1 done, 1 failed. Verdicts: 1 identical." in made
    assert "<bdi>failed, Timeout: late</bdi>" in made
    assert made.count('class="wrong"') == 1
    assert "Verdicts" not in page(rows([{"facts": json.dumps(facts[1])}, {"facts": "[]"}], of="replay"))


def test_of_a_long_session_both_ends_and_the_errors_are_shown_and_it_says_so() -> None:
    error = {"words": '{"error":{"message":"lost","type":null}}'}
    told = [error if 150 <= index < 300 else {"input": f"step {index}."} for index in range(500)]
    made = page(rows(told))
    assert "step 99." in made
    assert "step 100." not in made
    assert "step 400." in made
    assert made.count('class="wrong"') == FIRST
    assert (
        "200 records left out here, 50 of them with an error: the first and the last are shown, and of those between them the first"
        in made
    )
    quiet = page(rows([{"input": "x"}] * 201))
    assert "1 record left out here: the first and the last are shown. All" in quiet


class Seen(HTMLParser):
    """The elements and attributes of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags, self.attributes = set[str](), set[str]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


@pytest.mark.parametrize("name", CORPUS)
def test_whatever_was_recorded_stays_text(name: str) -> None:
    text = CORPUS[name]
    words = json.dumps({"error": {"type": text, "message": text}}, separators=(",", ":"))
    told = rows([{"input": text, "output": text, "words": words}])
    made = page(told, {"session": {"name": text, text: [text]}})
    seen = Seen()
    seen.feed(made)
    assert not seen.tags & {"script", "img", "svg", "iframe", "b", "base", "link", "div", "object"}
    assert seen.attributes <= {
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


def test_nothing_is_fetched_and_a_lot_of_metadata_is_cut() -> None:
    made = page(
        rows([{}]), {"session": {"metadata": {f"n{number}": number for number in range(99)}, "key": None}}
    )
    assert "default-src 'none'; style-src 'unsafe-inline'" in made
    assert not re.search(r"(src|href)=|url\(|@import", made)
    assert "<dd><bdi>39</bdi>" in made
    assert "<dd><bdi>40</bdi>" not in made
    assert len(first_line("x" * 500)) == 161


def test_the_log_s_counts_what_was_entered() -> None:
    counts = Counts(entries=1234, present=2, kinds={"sealed": 1233, "erased": 1})
    named = {name: STATED[name] for name in ("id", "size", "root", "sealed_at")} | {"of": "log"}
    made = log_report(named, {"project": "<P>"}, KEY, counts)
    assert "<dt>erased</dt><dd><bdi>1</bdi>" in made
    assert "<bdi>&lt;P&gt;</bdi>" in made
    assert "more may come" not in made
