"""Earlier seals: a bundle of a comparison resealed after an erasure, or of a replay that ran again, is compared with an older bundle."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import pytest
from django.db import transaction
from pytest_django.plugin import DjangoDbBlocker

from tests.builders import compared, recorded_session, replayed
from tests.governance.deletion.erasure.canary import erased
from tests.verifier.bundles import Change, document, packed, statement, unpacked, without
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.evidence.bundles import exporting
from timemachine.evidence.models import EarlierSeal
from timemachine.governance.sharing.commands.links import create_link
from timemachine.governance.sharing.pure.terms import Terms
from timemachine.governance.sharing.scope import Scope
from timemachine.replay.comparison.models import CellMark
from timemachine.replay.runs.models import Replay, ReplayStep
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.verifier import tm_verify

pytestmark = pytest.mark.django_db  # for the fixture only
MODELS = ("local:extractive-1", "local:extractive-3")
EARLIER = "comparison/earlier.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """Bundles of one comparison and of one replay, from before and after, and the log entry that replaced the comparison's seal."""

    older: bytes
    marked: bytes
    newer: bytes
    older_link: bytes
    newer_link: bytes
    first_run: bytes
    second_run: bytes
    entry: int


def written(write: Callable[[BytesIO], object]) -> bytes:
    target = BytesIO()
    write(target)
    return target.getvalue()


@pytest.fixture(scope="module")
def made(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Made:
    """Return the bundles and delete what they were created from."""
    with django_db_blocker.unblock(), transaction.atomic():
        project = Project.objects.create(name="Prüfung")
        session = recorded_session(project)
        comparison = compared(project, [session], *MODELS)
        link, _ = create_link(project, comparison, Terms(), by="test")
        older = written(lambda target: exporting.write_comparison(target, comparison))
        older_link = written(Scope(link=link).write_evidence)
        step = ReplayStep.objects.filter(replay__run__comparison=comparison).earliest("id")
        CellMark.objects.create(comparison=comparison, step=step, verdict="better", marked_by="test")
        marked = written(lambda target: exporting.write_comparison(target, comparison))
        replay = replayed(session, ReplayOptions(audit=True, reason="a test"))
        first_run = written(lambda target: exporting.write_replay(target, replay))
        ReplayStep.objects.filter(replay=replay).update(finished_at=now())
        Replay.objects.filter(pk=replay.pk).update(finished_at=now())
        replay.refresh_from_db()
        second_run = written(lambda target: exporting.write_replay(target, replay))
        erased(session, fields=["output"], steps=[2])
        found = Made(
            older=older,
            marked=marked,
            newer=written(lambda target: exporting.write_comparison(target, comparison)),
            older_link=older_link,
            newer_link=written(Scope(link=link).write_evidence),
            first_run=first_run,
            second_run=second_run,
            entry=EarlierSeal.objects.get().log_index,
        )
        transaction.set_rollback(True)
    return found


def path_of(folder: Path, name: str, data: bytes, *changes: Change) -> str:
    files = unpacked(data)
    for change in changes:
        change(files)
    if not changes:
        (folder / name).write_bytes(data)
        return str(folder / name)
    return str(packed(files, folder / name))


def compare(folder: Path, newer: bytes, older: bytes, *changes: Change) -> tm_verify.Report:
    """Return the report on the newer bundle, after the change, compared with the older one."""
    return tm_verify.verify(
        path_of(folder, "newer.zip", newer, *changes), None, path_of(folder, "older.zip", older)
    )


def codes(report: tm_verify.Report) -> list[tuple[str, str]]:
    return [(each["code"], each["where"]) for each in report.problems]


@pytest.mark.parametrize("before", ["older", "marked"])
def test_a_resealed_comparison_is_reported_with_the_log_entry(
    made: Made, tmp_path: Path, before: str, capsys: pytest.CaptureFixture[str]
) -> None:
    newer = path_of(tmp_path, "newer.zip", made.newer)
    older = path_of(tmp_path, "older.zip", getattr(made, before))
    assert tm_verify.main([newer, "--older", older]) == 3
    output = capsys.readouterr().out
    assert "THE OLDER ONE IS AN EARLIER SEAL OF IT, IN THE SAME LOG" in output
    assert f"was resealed after an erasure, as run 2, by log entry {made.entry};" in output
    assert "EARLIER SEAL comparison" in output
    assert "replaced after an erasure at 2" in output
    assert f"ERASED (log entry {made.entry}) comparison" in output
    assert "because: asked for by the person" in output
    assert tm_verify.main([newer, "--older", older, "--json"]) == 3
    report = json.loads(capsys.readouterr().out)
    assert report["older"]["holds"] is True
    assert [(each["generation"], each["because"]) for each in report["earlier_seals"]] == [(1, "erasure")]
    assert {"where": "session-1 record 2 output", "why": "erased"} in report["no_longer_told"]


def test_swapped_bundles_are_refused_with_their_order(made: Made, tmp_path: Path) -> None:
    with pytest.raises(
        tm_verify.Unreadable, match=r"of run 1 .* of run 2, which came after it: swap the two"
    ):
        compare(tmp_path, made.older, made.newer)


def test_a_link_s_bundle_shows_the_earlier_seal_and_which_claims_rest_on_the_statement_alone(
    made: Made, tmp_path: Path
) -> None:
    report = compare(tmp_path, made.newer_link, made.older_link)
    assert report.problems == []
    assert report.older is not None
    assert report.older.holds is True
    assert f"by log entry {made.entry}" in (report.older.anew or "")
    assert any(
        "only the statement reports this, because a link has no tombstones" in each
        for each in report.not_checked
    )
    assert report.erasures == []
    files = unpacked(made.newer_link)
    assert b"asked for by the person" not in b"".join(files.values())
    assert b"ada@example.org" not in b"".join(files.values())
    assert "Before it, run 1 was sealed at" in files["README.txt"].decode()
    assert "Before it, run 1 was sealed at" in files["report.html"].decode()


def test_a_state_that_a_link_does_not_show_is_not_checked(made: Made, tmp_path: Path) -> None:
    report = compare(tmp_path, made.newer_link, made.marked)
    assert (report.problems, report.older and report.older.holds) == ([], None)
    assert any("it does not show all of the earlier seals" in each for each in report.not_checked)
    assert any(
        line.startswith("THE OLDER ONE IS OF AN EARLIER SEAL, AND") for line in tm_verify.report_lines(report)
    )


def test_a_replay_that_ran_again_shows_its_earlier_seal(made: Made, tmp_path: Path) -> None:
    report = compare(tmp_path, made.second_run, made.first_run)
    assert report.problems == []
    assert report.older is not None
    assert (report.older.holds, "ran again: this is run 2" in (report.older.anew or "")) == (True, True)
    assert "replaced when it ran again" in "\n".join(tm_verify.report_lines(report))


def earlier(change: Callable[[list[dict[str, object]]], None]) -> Change:
    return document(EARLIER, lambda found: change(found["entries"]))


def is_of(kind: str) -> Callable[[dict[str, object]], bool]:
    return lambda each: json.loads(str(each["entry"]))["entry"] == kind


def without_entries(kind: str) -> Change:
    def change(entries: list[dict[str, object]]) -> None:
        entries[:] = [each for each in entries if not is_of(kind)(each)]

    return earlier(change)


def test_an_earlier_seal_missing_from_the_log_is_reported(made: Made, tmp_path: Path) -> None:
    report = compare(tmp_path, made.newer, made.older, without_entries("sealed"))
    assert ("log", "comparison earlier seals") in codes(report)
    assert any(code == "rewritten" and "comparison log entry" in where for code, where in codes(report))
    assert report.older is not None
    assert report.older.holds is False
    assert any(
        "THE OLDER ONE IS NOT AN EARLIER SEAL OF IT" in line for line in tm_verify.report_lines(report)
    )


def test_an_earlier_seal_with_another_log_entry_is_a_fault(made: Made, tmp_path: Path) -> None:
    older = path_of(
        tmp_path,
        "older.zip",
        made.older,
        statement(lambda content: content["predicate"]["trees"][0].update(root="0" * 64)),
    )
    report = tm_verify.verify(path_of(tmp_path, "newer.zip", made.newer), None, older)
    messages = [each["says"] for each in report.problems if each["code"] == "rewritten"]
    assert any("the log of this one has something else" in each for each in messages)


def test_an_erasure_without_a_tombstone_is_a_fault(made: Made, tmp_path: Path) -> None:
    report = compare(tmp_path, made.newer, made.older, without_entries("erased"))
    assert ("tombstone", "comparison earlier seals") in codes(report)


def test_a_bundle_without_earlier_seals_is_compared_in_part(made: Made, tmp_path: Path) -> None:
    unsaid = statement(lambda content: content["predicate"]["trees"][0].pop("earlier"))
    report = compare(tmp_path, made.newer, made.older, unsaid, without(EARLIER))
    assert report.older is not None
    assert "which this one does not report" in (report.older.anew or "")
    assert any("it does not show the earlier seals" in each for each in report.not_checked)


def test_an_older_bundle_without_its_own_entry_is_compared_in_part(made: Made, tmp_path: Path) -> None:
    older = path_of(tmp_path, "older.zip", made.older, without("comparison/log.json"))
    report = tm_verify.verify(path_of(tmp_path, "newer.zip", made.newer), None, older)
    assert any(each.startswith("Whether the older one's seal is in the log") for each in report.not_checked)


def other(change: Callable[[dict[str, object]], object], kind: str = "sealed") -> Change:
    """Change the content of an entry; its audit path no longer matches."""

    def changed(entries: list[dict[str, object]]) -> None:
        each = next(filter(is_of(kind), entries))
        entry = json.loads(str(each["entry"]))
        change(entry)
        each["entry"] = json.dumps(entry, separators=(",", ":"), sort_keys=True)

    return earlier(changed)


@pytest.mark.parametrize(
    "change",
    [
        document(EARLIER, lambda found: found.update(entries="none")),
        without(EARLIER),
        earlier(lambda entries: entries.insert(0, {"entry": 1})),
        other(lambda entry: entry.update(root="0" * 64)),
        lambda files: files.update({EARLIER: b"[]"}),
    ],
)
def test_changed_or_removed_entries_are_faults(made: Made, tmp_path: Path, change: Change) -> None:
    found = tm_verify.verify(path_of(tmp_path, "changed.zip", made.newer, change)).problems
    assert any(each["where"].startswith("comparison earlier seals") for each in found)


@pytest.mark.parametrize(
    "entry",
    [
        {"entry": "sealed", "of": "session", "id": "c", "generation": 1, "size": 3, "root": "0" * 64},
        {"entry": "sealed", "of": "comparison", "id": "c", "generation": 2, "size": 3, "root": "0" * 64},
        {"entry": "sealed", "of": "comparison", "id": "c", "generation": 1, "size": 3},
        {"entry": "erased", "of": "comparison", "id": "c", "generation": 1},
        {"entry": "key", "of": "comparison", "id": "c", "generation": 1},
    ],
)
def test_an_entry_for_something_else_is_not_an_earlier_seal(entry: dict[str, object]) -> None:
    tree = tm_verify.Tree(
        path="comparison",
        of="comparison",
        id="c",
        origin="o",
        log="l",
        generation=2,
        size=3,
        root="0" * 64,
        complete=True,
    )
    with pytest.raises((ValueError, KeyError)):
        tm_verify._earlier_entry(tree, 4, entry, {}, {}, tm_verify.Report())


def test_entries_of_another_log_prove_nothing(made: Made, tmp_path: Path) -> None:
    """A log state with another origin has no valid signature here, so it is checked as parsed."""
    files = unpacked(made.newer)
    strange = json.loads(files[EARLIER])
    strange["checkpoint"] = json.loads(files["comparison/checkpoints.jsonl"].splitlines()[0])
    files[EARLIER] = json.dumps(strange).encode()
    found = tm_verify.verify(str(packed(files, tmp_path / "strange.zip"))).problems
    assert any(each["says"].startswith("They are in timemachine/") for each in found)


def test_a_log_entry_for_something_else_is_a_fault(made: Made, tmp_path: Path) -> None:
    files = unpacked(made.newer)
    of_session = json.loads(files["session-1/log.json"])
    checkpoint = of_session.pop("checkpoint")
    files[EARLIER] = json.dumps({"checkpoint": checkpoint, "entries": [of_session]}).encode()
    found = tm_verify.verify(str(packed(files, tmp_path / "other.zip"))).problems
    assert any(each["says"].startswith("The entry is about something else than an earlier") for each in found)
