"""Patterns of real recordings, compared with a count independent of importers and pattern rules."""

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from tests.memory.patterns.recorded import imported, pattern_counts, patterns, read
from tests.memory.transcripts.labelled import labelled_errors, labelled_pairs, problems
from timemachine.core.accounts.models import Project
from timemachine.memory.patterns.models import PatternStep
from timemachine.recording.sessions.models import Action

pytestmark = [pytest.mark.django_db, pytest.mark.recordings]
TAU = "airline_tasks_0_to_7.json"


def counted(recordings: Path) -> dict[str, tuple[int, int]]:
    """Count the failed calls of tau-bench and their runs, by their text without digits."""
    runs: list[dict[str, Any]] = json.loads((recordings / "tau_bench" / TAU).read_text(encoding="utf-8"))
    found: dict[str, list[int]] = defaultdict(list)
    for run, record in enumerate(runs):
        for message in record["traj"]:
            if message["role"] == "tool" and message["content"].startswith("Error"):
                found[re.sub(r"\d+", "", message["content"])].append(run)
    return {text: (len(places), len(set(places))) for text, places in found.items()}


@pytest.fixture(scope="module")
def tau(shared_rows: None, recordings: Path) -> Project:
    project = Project.objects.create(name="tau-bench")
    imported(project, [recordings / "tau_bench" / TAU], "tau_bench")
    read(project)
    return project


def test_exactly_the_failed_calls_of_tau_bench_are_in_patterns(tau: Project, recordings: Path) -> None:
    texts = counted(recordings)
    assert sum(number for number, _ in texts.values()) == 16
    errors = PatternStep.objects.filter(project=tau, wording__kind="error")
    labelled = {(each.run, each.action_id) for each in labelled_errors().values() if each.set == "tau_bench"}
    assert errors.count() == len(labelled) == 16
    client_ids = Action.objects.filter(id__in=errors.values("action")).values_list("client_id", flat=True)
    assert sorted(map(str, client_ids)) == sorted(action for _, action in labelled)


def test_the_patterns_of_tau_bench_match_an_independent_count(tau: Project, recordings: Path) -> None:
    """Two wordings that the labels call one problem are one pattern; the others have the counted numbers."""
    texts = counted(recordings)
    short = [text for text in texts if "gift card" in text or "gift_card" in text]
    assert len(short) == 2
    merged = (sum(texts[text][0] for text in short), 4)
    others = [number for text, number in texts.items() if text not in short]
    found = pattern_counts(tau, kind="error", min_sessions=1)
    assert sorted(found.values()) == sorted([merged, *others])
    assert found["Error: gift card balance is not enough"] == merged


def test_the_recurring_patterns_are_those_of_the_labels(tau: Project) -> None:
    errors = labelled_errors()
    several = [
        (len(names), len({errors[name].run for name in names}))
        for names in problems(labelled_pairs())
        if all(errors[name].set == "tau_bench" for name in names)
    ]
    recurring = sorted(each for each in several if each[1] > 1)
    assert recurring == [(2, 2), (4, 4), (6, 4)]
    assert sorted(pattern_counts(tau, kind="error").values()) == recurring


def test_who_and_when_has_five_errors_none_of_which_recurs(project: Project, recordings: Path) -> None:
    paths = sorted((recordings / "who_and_when").glob("*.json"))
    imported(project, paths, "who_and_when")
    read(project)
    failed = mistakes = 0
    for path in paths:
        document = json.loads(path.read_text(encoding="utf-8"))
        mistakes += 1
        for message in document["history"]:
            code = re.match(r"exitcode: (\d+)", message["content"])
            failed += message["name"] == "Computer_terminal" and code is not None and code[1] != "0"
    assert (failed, mistakes) == (1, 4)
    assert PatternStep.objects.filter(project=project, wording__kind="error").count() == failed + mistakes
    assert patterns(project, kind="error") == []
    assert sorted(pattern_counts(project, kind="error", min_sessions=1).values()) == [(1, 1)] * 5
