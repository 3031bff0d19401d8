"""The labelled pairs of errors: they refer to existing texts, do not contradict each other, and cover every error.

The counts are made from the raw files by the simple rules of README.md, independently of the importers."""

import json
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.memory.transcripts.labelled import (
    LabelledError,
    labelled_errors,
    labelled_pairs,
    problems,
    sessions_of,
    unlisted,
)
from timemachine.recording.importing.pure.report import SessionDraft

FAILED = "Error"
RAN = "exitcode: "
RAN_WELL = "exitcode: 0 "
TERMINAL = "Computer_terminal"


def test_there_are_enough_pairs_of_both_labels_and_of_both_sets() -> None:
    errors, pairs = labelled_errors(), labelled_pairs()
    assert Counter(pair.label for pair in pairs) == {"same": 29, "different": 151}
    sets = Counter(frozenset({errors[pair.one].set, errors[pair.other].set}) for pair in pairs)
    assert sets == {
        frozenset({"tau_bench"}): 120,
        frozenset({"who_and_when"}): 21,
        frozenset({"tau_bench", "who_and_when"}): 39,
    }


def test_every_pair_is_listed_once_with_a_reason() -> None:
    pairs = labelled_pairs()
    assert len({frozenset({pair.one, pair.other}) for pair in pairs}) == len(pairs)
    assert all(pair.one != pair.other and pair.reason for pair in pairs)
    assert {name for pair in pairs for name in (pair.one, pair.other)} == set(labelled_errors())


def test_labels_are_transitive() -> None:
    pairs = labelled_pairs()
    of = {name: problem for problem in problems(pairs) for name in problem}
    assert [pair for pair in pairs if (of[pair.one] == of[pair.other]) != (pair.label == "same")] == []


def test_only_pairs_across_the_two_sets_are_unlisted_and_they_are_different() -> None:
    errors, pairs = labelled_errors(), labelled_pairs()
    of = {name: problem for problem in problems(pairs) for name in problem}
    missing = [sorted(both) for both in unlisted(errors, pairs)]
    assert len(missing) == 73
    assert all(errors[one].set != errors[other].set and of[one] != of[other] for one, other in missing)


@pytest.mark.recordings
@pytest.mark.parametrize("name", labelled_errors())
def test_the_referenced_text_exists_unchanged(recordings: Path, name: str) -> None:
    error = labelled_errors()[name]
    assert sha256(error.text(recordings).encode()).hexdigest() == error.sha256


@pytest.mark.recordings
def test_no_reason_contains_recorded_text(recordings: Path) -> None:
    errors = labelled_errors()
    for pair in labelled_pairs():
        texts = [errors[name].text(recordings) for name in (pair.one, pair.other)]
        words = pair.reason.lower().split()
        runs = [" ".join(words[at : at + 6]) for at in range(len(words) - 5)]
        assert not [run for run in runs if any(run in " ".join(text.lower().split()) for text in texts)]


@pytest.mark.recordings
@pytest.mark.parametrize("name", labelled_errors())
def test_the_importer_makes_an_action_of_the_referenced_text(recordings: Path, name: str) -> None:
    error = labelled_errors()[name]
    sessions = sessions_of(error.path(recordings), error.set)
    session: SessionDraft = sessions[error.run or 0]
    outputs = {action.id: action.output for action in session.actions}
    assert outputs[error.action_id] == error.text(recordings)


@pytest.mark.recordings
def test_all_failed_calls_of_tau_bench_are_labelled_and_match_the_readme(
    recordings: Path,
) -> None:
    runs: list[dict[str, Any]] = json.loads(
        (recordings / "tau_bench" / "airline_tasks_0_to_7.json").read_text(encoding="utf-8")
    )
    results = [
        (run, at, message["content"])
        for run, found in enumerate(runs)
        for at, message in enumerate(found["traj"])
        if message["role"] == "tool"
    ]
    failed = [(run, at) for run, at, content in results if content.startswith(FAILED)]
    assert (len(runs), len(results), len(failed), len({run for run, _ in failed})) == (32, 234, 16, 9)
    labelled = [(each.run, each.message) for each in labelled_errors().values() if each.set == "tau_bench"]
    assert sorted(failed) == sorted(labelled)


@pytest.mark.recordings
def test_all_failures_of_who_and_when_are_labelled_and_match_the_readme(
    recordings: Path,
) -> None:
    found = Counter[str]()
    places = set()
    for path in sorted((recordings / "who_and_when").glob("*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        found["labelled_mistake"] += 1
        places.add((path.name, int(document["mistake_step"]), "labelled_mistake"))
        for at, message in enumerate(document["history"]):
            if message.get("name") == TERMINAL:
                kind = _kind(message["content"])
                found[kind] += 1
                places.add((path.name, at, kind))
    assert found == {"ran": 6, "failed_run": 1, "nothing_to_run": 2, "labelled_mistake": 4}
    labelled = {
        (each.file, each.message, each.kind)
        for each in labelled_errors().values()
        if each.set == "who_and_when"
    }
    assert labelled == {each for each in places if each[2] != "ran"}


def _kind(output: str) -> str:
    if not output.startswith(RAN):
        return "nothing_to_run"
    return "ran" if output.startswith(RAN_WELL) else "failed_run"


def test_the_problems_recur_in_as_many_sessions_as_the_readme_states() -> None:
    errors = labelled_errors()
    met = Counter(
        (len(problem), len({_session(errors[name]) for name in problem}))
        for problem in problems(labelled_pairs())
    )
    assert met == {(6, 4): 1, (4, 4): 1, (3, 3): 1, (3, 1): 1, (2, 2): 2, (1, 1): 3}


def test_most_pairs_are_across_sessions() -> None:
    errors = labelled_errors()
    within = Counter(
        pair.label for pair in labelled_pairs() if _session(errors[pair.one]) == _session(errors[pair.other])
    )
    assert within == {"same": 6, "different": 14}


def _session(error: LabelledError) -> tuple[str, int | None]:
    return error.file, error.run
