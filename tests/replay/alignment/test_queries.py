"""Aligning two runs of a project: sessions, a session and its replay, and two replays."""

import pytest
from pytest_django import DjangoAssertNumQueries

from tests.builders import QUESTIONS, recorded_session, replayed, worked
from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import NotFound, TooLarge
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.deletions import erase_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft, RetrievalDraft
from timemachine.replay.alignment import steps
from timemachine.replay.alignment.details import detail_of
from timemachine.replay.alignment.queries import MOST_STEPS, Aligned, SizedCache, aligned
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.runs.trials import try_step


def pair_outline(found: Aligned) -> list[tuple[str, int | None, int | None, tuple[str, ...]]]:
    return [
        (
            pair.status,
            pair.left.sequence if pair.left else None,
            pair.right.sequence if pair.right else None,
            pair.differs_in,
        )
        for pair in found.pairs
    ]


def session_of(project: Project, drafts: list[ActionDraft]) -> Session:
    session = start_session(project, name="a run", by="test")
    append(session.id, drafts)
    return session


def call(tool: str, **arguments: object) -> ActionDraft:
    return ActionDraft(kind="tool_call", tool=tool, input=arguments)


def test_exactly_the_inserted_steps_are_reported(project: Project) -> None:
    drafts = [call("read", path=f"{number}.py") for number in range(20)]
    grown = [
        call("look", at=1),
        *drafts[:7],
        call("read", path="other.py"),
        *drafts[7:],
        call("read", path="0.py"),
    ]
    one, other = session_of(project, drafts), session_of(project, grown)
    found = aligned(project, str(one.id), other.key)
    assert found.counts == {
        "same": 20,
        "modified": 0,
        "moved": 0,
        "only_left": 0,
        "only_right": 3,
        "not_asked": 0,
    }
    only = [right for status, _, right, _ in pair_outline(found) if status == "only_right"]
    assert only == [1, 9, 23]


def test_differences_are_named_and_values_that_always_vary_are_ignored(project: Project) -> None:
    def ask_draft(answer: str, frames: tuple[str, ...], model: str, took: float) -> ActionDraft:
        hits = tuple(HitDraft(rank=rank, text=text) for rank, text in enumerate(frames, 1))
        return ActionDraft(
            kind="ask",
            input="How long?",
            output=answer,
            model=model,
            duration_ms=took,
            retrieval=RetrievalDraft(hits=hits),
        )

    first = session_of(
        project,
        [
            ask_draft("Ten years.", ("a", "b"), "m", 1),
            ask_draft("Ten years.", ("a", "b"), "m", 1),
            ActionDraft(kind="tool_result", tool="read", output={"a": 1, "b": [2]}),
        ],
    )
    second = session_of(
        project,
        [
            ask_draft("Ten years.", ("a", "b"), "m", 99),
            ask_draft("Six years.", ("b", "a"), "n", 1),
            ActionDraft(kind="tool_result", tool="read", output={"b": [2], "a": 1}),
        ],
    )
    assert pair_outline(aligned(project, first.key, second.key)) == [
        ("same", 1, 1, ()),
        ("modified", 2, 2, ("output", "model", "frames")),
        ("same", 3, 3, ()),
    ]


def test_an_audit_with_another_model_differs_in_model_and_answer(
    project: Project,
) -> None:
    session = recorded_session(project)
    replay = replayed(session, ReplayOptions(audit=True, use_model="local:extractive-3", reason="to see"))
    found = aligned(project, session.key, str(replay.id))
    assert found.only_replayed
    asks = [pair for pair in found.pairs if pair.left and pair.left.kind == "ask"]
    assert [pair.status for pair in asks] == ["modified"] * 3
    assert all("model" in pair.differs_in and "frames" not in pair.differs_in for pair in asks)
    assert all(pair.left.sequence == pair.right.sequence for pair in found.pairs if pair.left and pair.right)


def test_an_audit_without_a_model_is_the_same_as_its_session(project: Project) -> None:
    session = recorded_session(project)
    replay = replayed(session, ReplayOptions(audit=True, reason="to see"))
    found = aligned(project, str(replay.id), session.key)
    assert found.counts == {
        "same": 4,
        "modified": 0,
        "moved": 0,
        "only_left": 0,
        "only_right": 0,
        "not_asked": 0,
    }
    assert found.right.totals.steps == 4
    assert not any(pair.left.answered for pair in found.pairs if pair.left)


def test_two_replays_of_a_session_are_compared_by_answers_and_frames(project: Project) -> None:
    session = recorded_session(project)
    narrow = replayed(session, ReplayOptions(audit=False, top_k=1))
    wide = replayed(session, ReplayOptions(audit=False, top_k=3))
    repeated = replayed(session, ReplayOptions(audit=False, top_k=3))
    assert {pair.status for pair in aligned(project, str(wide.id), str(repeated.id)).pairs} == {"same"}
    found = aligned(project, str(narrow.id), str(wide.id))
    assert found.counts["same"] == 0
    assert all("frames" in pair.differs_in for pair in found.pairs)
    assert found.left.totals.steps == len(found.pairs)


def test_a_debug_replay_without_results_has_none_of_the_recorded_frames(project: Project) -> None:
    session = recorded_session(project, questions=QUESTIONS[:1])
    replay = replayed(session, ReplayOptions(audit=False, search_mode="lexical", min_score=10_000))
    assert not any(step.hits.exists() for step in replay.steps.all())
    found = aligned(project, session.key, str(replay.id))
    assert all("frames" in pair.differs_in for pair in found.pairs)
    assert [detail_of(found.right.run, sequence).frames for sequence in found.right.steps] == [[], []]
    assert all(detail_of(found.left.run, sequence).frames for sequence in found.left.steps)


def test_a_trial_without_frames_has_none_of_the_recorded_ones(project: Project) -> None:
    session = recorded_session(project, questions=QUESTIONS[:1])
    trial = worked(try_step(session, ReplayOptions(audit=False, step=2, frames=()), by="test"))
    assert "frames" in aligned(project, session.key, str(trial.id)).pairs[-1].differs_in


def test_frames_are_not_compared_if_repeating_a_find_failed(project: Project) -> None:
    collection = recorded_session(project).collection
    session = start_session(project, name="a run", by="test", collection=collection)
    hits = RetrievalDraft(hits=(HitDraft(rank=1, text="Invoices are kept for ten years."),))
    append(session.id, [ActionDraft(kind="find", input={"strange": 1}, retrieval=hits)])
    replay = replayed(session, ReplayOptions(audit=False))
    assert replay.steps.get().status == "failed"
    found = aligned(project, session.key, str(replay.id))
    assert pair_outline(found) == [("modified", 1, 1, ("error",))]
    assert detail_of(found.right.run, 1).frames is None
    audited = replayed(session, ReplayOptions(audit=True, reason="to see"))
    assert pair_outline(aligned(project, session.key, str(audited.id))) == [("same", 1, 1, ())]


@pytest.mark.parametrize("length", [10, 5_000])
def test_an_answer_in_an_object_equals_the_same_answer_as_text(project: Project, length: int) -> None:
    def ask_draft(output: object) -> ActionDraft:
        return ActionDraft(kind="ask", input="How long?", output=output, model="m")

    answer = "Zehn Jahre, " + "sehr lange. " * length
    one = session_of(project, [ask_draft({"answer": answer, "took": 3}), ask_draft({"took": answer})])
    other = session_of(project, [ask_draft(answer), ask_draft({"took": answer})])
    third = session_of(project, [ask_draft({"answer": answer + "?"}), ask_draft({"took": answer + "?"})])
    assert aligned(project, one.key, other.key).counts["same"] == 2
    assert pair_outline(aligned(project, one.key, third.key)) == [
        ("modified", 1, 1, ("output",)),
        ("modified", 2, 2, ("output",)),
    ]


@pytest.mark.parametrize(
    ("one", "other", "differs"),
    [
        (1, 1.0, ()),
        ([{"a": 2.0}], [{"a": 2}], ()),
        (1, 2, ("output",)),
        (1, True, ("output",)),
        (1, "1", ("output",)),
    ],
)
def test_numbers_equal_in_json_are_not_a_difference(
    project: Project, one: object, other: object, differs: tuple[str, ...]
) -> None:
    def returned(value: object) -> Session:
        return session_of(project, [ActionDraft(kind="tool_result", tool="count", output={"found": value})])

    status = "modified" if differs else "same"
    assert pair_outline(aligned(project, returned(one).key, returned(other).key)) == [(status, 1, 1, differs)]


def test_a_replay_and_another_session_are_paired_by_question(project: Project) -> None:
    replay = replayed(recorded_session(project), ReplayOptions(audit=False))
    shorter = recorded_session(project, questions=("How long are invoices kept?",))
    found = aligned(project, str(replay.id), shorter.key)
    asks = [pair for pair in found.pairs if pair.left and pair.left.kind == "ask"]
    assert [pair.status for pair in asks] == ["same", "only_left", "only_left"]


def test_totals_cover_the_compared_steps(project: Project) -> None:
    drafts = [
        ActionDraft(kind="llm_call", input="hello", output="hi", model="openai:gpt-5"),
        ActionDraft(kind="tool_call", tool="read", error_message="no such file"),
    ]
    session = session_of(project, drafts)
    totals = aligned(project, session.key, session.key).left.totals
    assert (totals.steps, totals.errors, totals.unknown_cost_calls) == (2, 1, 1)
    assert (totals.cost_usd, totals.input_tokens, totals.duration_ms) == (None, None, None)


def test_the_number_of_queries_does_not_grow_with_the_steps(
    project: Project, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    session = recorded_session(project)
    replay = replayed(session, ReplayOptions(audit=False))
    with django_assert_max_num_queries(20):
        aligned(project, session.key, str(replay.id))


def test_only_runs_of_the_project_are_found(project: Project, other_project: Project) -> None:
    theirs = recorded_session(other_project)
    replay = replayed(theirs, ReplayOptions(audit=False))
    mine = session_of(project, [call("read")])
    for name in (str(theirs.id), str(replay.id), "nothing of the kind"):
        with pytest.raises(NotFound):
            aligned(project, mine.key, name)


def test_runs_with_too_many_steps_are_refused(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "MOST_STEPS", 2)
    session = session_of(project, [call("read"), call("read"), call("read")])
    with pytest.raises(TooLarge):
        aligned(project, session.key, session.key)


def test_an_alignment_is_cached_until_one_side_grows_or_is_erased(
    project: Project, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    one, other = session_of(project, [call("read")]), session_of(project, [call("read")])
    first = aligned(project, one.key, other.key)
    with django_assert_max_num_queries(3):
        assert aligned(project, one.key, other.key).pairs == first.pairs
    append(one.id, [call("look")])
    assert aligned(project, one.key, other.key).counts["only_left"] == 1
    erase_session(other)
    with pytest.raises(NotFound):
        aligned(project, one.key, other.key)


def test_the_largest_alignment_fits_the_cache() -> None:
    cache = SizedCache[str]()
    cache.store("largest", "value", 2 * steps.MOST_STEPS)
    assert cache.get("largest") == "value"


def test_the_least_recently_used_alignments_are_evicted() -> None:
    cache = SizedCache[int]()
    for number in range(4):
        cache.store(number, number, MOST_STEPS // 4)
        assert cache.get(1) in (None, 1)
    assert [cache.get(number) for number in (0, 2, 3, 1)] == [0, 2, 3, 1]
    cache.store("large", 5, MOST_STEPS // 2)
    assert [cache.get(key) for key in (0, 1, 2, 3, "large")] == [None, 1, None, 3, 5]
    cache.store("too large", 6, MOST_STEPS + 1)
    assert cache.get("too large") is None


def test_an_entry_stored_again_counts_once() -> None:
    cache = SizedCache[int]()
    for number in range(3):
        cache.store("same", number, MOST_STEPS)
    assert cache.get("same") == 2
