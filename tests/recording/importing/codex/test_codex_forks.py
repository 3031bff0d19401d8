"""Forks and sub-agents of Codex: which lines are copies, and what was used in the session itself."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.recording.importing.sample_files import lines
from timemachine.core.accounts.models import Project
from timemachine.recording.importing.commands import import_file
from timemachine.recording.importing.pure.registry import FORMATS
from timemachine.recording.importing.pure.report import SessionDraft
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft, copy_of
from timemachine.recording.timeline.copies import original_of
from timemachine.recording.timeline.totals import summary_of

BEGAN = datetime(2026, 6, 9, 12, tzinfo=UTC)
PARENT, FORK = "019eaaaa-0000-7000-8000-000000000001", "019ebbbb-0000-7000-8000-000000000002"


def line(kind: str, ms: float, _ordinal: int | None = None, **payload: Any) -> dict[str, Any]:
    """Return a line that was written this long after the fork."""
    written = (BEGAN + timedelta(milliseconds=ms)).isoformat().replace("+00:00", "Z")
    place = {} if _ordinal is None else {"ordinal": _ordinal}
    return {"timestamp": written, **place, "type": kind, "payload": payload}


def meta(name: str, ms: float = 0, **fields: Any) -> dict[str, Any]:
    at = BEGAN if name == FORK else BEGAN - timedelta(hours=2)
    return line("session_meta", ms, id=name, timestamp=at.isoformat(), model_provider="openai", **fields)


def turn(ms: float, turn_id: str = "t", **fields: Any) -> dict[str, Any]:
    return line("turn_context", ms, turn_id=turn_id, model="gpt-5", **fields)


def said(ms: float, role: str, text: str, **fields: Any) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return line(
        "response_item", ms, type="message", role=role, content=[{"type": kind, "text": text}], **fields
    )


def used(ms: float, total: int, last: int | None, **fields: Any) -> dict[str, Any]:
    """Return a count of so many input tokens, and a tenth of it in output tokens."""
    info = {"total_token_usage": {"input_tokens": total, "output_tokens": total // 10}}
    if last is not None:
        info["last_token_usage"] = {"input_tokens": last, "output_tokens": last // 10}
    return line("event_msg", ms, type="token_count", info=info, **fields)


def uuid7(at: datetime) -> str:
    digits = f"{round(at.timestamp() * 1000):012x}"
    return f"{digits[:8]}-{digits[8:]}-7abc-8def-0123456789ab"


def history(ms: float = 10, step: float = 0, turn_id: str = "t", **fields: Any) -> list[dict[str, Any]]:
    """Return a copied turn of the parent, with its call."""
    return [
        turn(ms, turn_id, **fields),
        said(ms + step, "user", "Count the jars."),
        said(ms + 2 * step, "assistant", "Forty jars."),
        used(ms + 3 * step, 1_000, 1_000),
    ]


def own(ms: float, turn_id: str = "t", total: int = 1_050) -> list[dict[str, Any]]:
    return [
        turn(ms, turn_id),
        said(ms, "user", "And lids?"),
        said(ms + 900, "assistant", "Nine lids."),
        used(ms + 900, total, 50),
    ]


def read(*records: dict[str, Any]) -> SessionDraft:
    (found,) = FORMATS["codex"].read(lines(*records)).sessions
    return found


def spoken(actions: tuple[ActionDraft, ...], *, copied: bool) -> list[Any]:
    return [
        each.output for each in actions if each.kind == "message" and (each.copied_from is not None) == copied
    ]


def tokens(found: SessionDraft) -> tuple[int, int]:
    """Return the input tokens of the session's own calls, and of copied ones."""
    both = [0, 0]
    for each in found.actions:
        if each.usage is not None:
            both[each.copied_from is not None] += each.usage.input_tokens or 0
    return both[0], both[1]


OLD, NEW = uuid7(BEGAN - timedelta(hours=2)), uuid7(BEGAN + timedelta(milliseconds=90))
FORKS = {
    "the copies end at the first pause": [meta(FORK, forked_from_id=PARENT), meta(PARENT, 10), *history(), *own(1_000)],
    "writing the copies takes seconds": [
        meta(FORK, forked_from_id=PARENT), meta(PARENT, 10), *history(10, 150), *history(600, 150), *own(9_000, total=2_050)
    ],
    "a fast turn has a time in its id": [
        meta(FORK, forked_from_id=PARENT), meta(PARENT, 10), *history(20, 1, OLD), *own(100, NEW)
    ],
    "a pause inside the copies": [
        meta(FORK, forked_from_id=PARENT), meta(PARENT, 10), *history(20, 1, OLD), *history(2_000, 1, OLD), *own(4_000, total=2_050)
    ],
    "the copies have their own times": [
        meta(FORK, forked_from_id=PARENT), meta(PARENT, -7_000_000), *history(-6_000_000, 5_000), *own(50)
    ],
    "without the line of the parent": [meta(FORK, forked_from_id=PARENT), *history(), *own(1_000)],
    "without forked_from_id": [meta(FORK), meta(PARENT, 10), *history(), *own(1_000)],
    "its own line comes again": [
        meta(FORK, forked_from_id=PARENT), meta(PARENT, 10), *history(), meta(FORK, 20), *own(30)
    ],
    "a fork of a fork": [
        meta(FORK, forked_from_id=PARENT), meta(PARENT, 10, forked_from_id="019e-other"), meta("019e-other", 20), *history(30, 1), *own(900)
    ],
}  # fmt: skip


@pytest.mark.parametrize("records", FORKS.values(), ids=FORKS)
def test_copied_history_is_marked_and_the_rest_is_the_session_s_own(records: list[dict[str, Any]]) -> None:
    found = read(*records)
    assert (found.key, found.name, found.forked_from) == (FORK, "And lids?", PARENT)
    assert spoken(found.actions, copied=False) == ["And lids?", "Nine lids."]
    assert set(spoken(found.actions, copied=True)) == {"Count the jars.", "Forty jars."}
    assert tokens(found)[0] == 50
    assert tokens(found)[1] % 1_000 == 0
    copies = [each for each in found.actions if each.copied_from is not None]
    assert [each.copied_from for each in copies] == [copy_of(PARENT, each.id) for each in copies]
    assert {each.started_at for each in copies} == {None}
    assert found.started_at == BEGAN


def test_started_at_of_a_task_tells_whose_it_is() -> None:
    def started(ms: float, after: float) -> dict[str, Any]:
        return line(
            "event_msg", ms, type="task_started", turn_id="4d1f", started_at=int(BEGAN.timestamp() + after)
        )

    begin = [meta(FORK, forked_from_id=PARENT), meta(PARENT, 10)]
    for copied, first in (
        (started(20, -7_200), started(2_050, 2)),
        (started(20, -7_200), started(2_050, 9_999)),
    ):
        found = read(*begin, copied, *history(20, 1), *history(2_000, 1), first, *own(2_060, total=2_050))
        later = [] if first["payload"]["started_at"] < BEGAN.timestamp() + 9_999 else ["And lids?"]
        assert set(spoken(found.actions, copied=True)) <= {"Count the jars.", "Forty jars.", *later}
        assert "Nine lids." in spoken(found.actions, copied=False)
    same_second = read(*begin, started(20, 0), *history(20, 1), *own(1_000))
    assert tokens(same_second) == (50, 1_000)


@pytest.mark.parametrize(
    "turn_id",
    [
        "ffffffff-ffff-7fff-bfff-ffffffffffff",
        "00000000-0000-7000-8000-000000000000",
        "4d1f2c1e-1111-4222-8333-444455556666",
        "",
    ],
)
def test_an_id_that_was_not_made_from_the_clock_tells_nothing(turn_id: str) -> None:
    found = read(
        meta(FORK, forked_from_id=PARENT), meta(PARENT, 10), *history(10, 1, turn_id), *own(1_000, turn_id)
    )
    assert tokens(found) == (50, 1_000)


def test_the_ordinal_of_the_first_own_line_is_exact() -> None:
    records = [meta(FORK, subagent_history_start_ordinal=6), meta(PARENT, 10), *history(), *own(11)]
    numbered = [record | {"ordinal": place} for place, record in enumerate(records)]
    found = read(*numbered)
    assert (tokens(found), spoken(found.actions, copied=False)) == ((50, 1_000), ["And lids?", "Nine lids."])
    assert tokens(read(*numbered[:6])) == (0, 1_000)
    as_text = numbered[0] | meta(FORK, subagent_history_start_ordinal="6")
    assert tokens(read(as_text, *numbered[1:])) == (50, 1_000)
    nothing = [meta(FORK, subagent_history_start_ordinal=1, parent_thread_id=PARENT), *own(11, total=50)]
    alone = read(*(record | {"ordinal": place} for place, record in enumerate(nothing)))
    assert (tokens(alone), alone.forked_from) == ((50, 0), PARENT)


def test_a_fork_whose_history_is_in_another_file_has_no_copies() -> None:
    base = {"thread_id": PARENT, "end_ordinal_exclusive": 6, "end_byte_offset": 900}
    found = read(meta(FORK, forked_from_id=PARENT, history_base=base), *own(10))
    assert (tokens(found), found.forked_from) == ((50, 0), PARENT)


def test_what_a_sub_agent_inherited_was_not_used_by_it() -> None:
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": PARENT, "depth": 1}}}
    for inherited in (used(200, 1_000, 0), used(200, 1_000, 700), used(200, 1_000, None)):
        found = read(meta(FORK, source=spawn), inherited, *own(1_000))
        assert (tokens(found), found.forked_from) == ((50, 0), PARENT)
    only = read(meta(FORK, source=spawn), used(200, 1_000, 700))
    assert tokens(only) == (0, 0)


def test_a_rollout_of_its_own_has_no_copies() -> None:
    found = read(meta(FORK), *history(), *own(1_000), meta(FORK, 5_000), *own(6_000, total=1_100))
    assert (tokens(found), found.forked_from) == ((1_100, 0), None)
    assert not read(*own(10)).forked_from
    assert not read(meta(FORK, forked_from_id=PARENT)).actions[0].copied_from


def test_a_repeated_count_is_no_second_call() -> None:
    found = read(
        meta(FORK), *own(10, total=50), used(950, 50, 50), *own(2_000, total=100), used(3_000, 100, 50)
    )
    calls = [each.usage.input_tokens for each in found.actions if each.kind == "llm_call" and each.usage]
    assert calls == [50, 50]


def test_a_sum_without_its_last_part_tells_the_difference() -> None:
    def counted(ms: float, total: int) -> list[dict[str, Any]]:
        return [*own(ms)[:3], used(ms + 900, total, None)]

    found = read(meta(FORK), *counted(10, 100), *counted(2_000, 150), *counted(4_000, 30))
    assert [each.usage.input_tokens for each in found.actions if each.usage] == [100, 50, 30]


@pytest.mark.django_db
@pytest.mark.parametrize("parent_first", [True, False])
def test_a_fork_is_a_branch_of_its_parent_and_spends_only_its_own(
    project: Project, parent_first: bool
) -> None:
    parent = [meta(PARENT), *history()]
    fork = [meta(FORK, forked_from_id=PARENT), meta(PARENT, 10), *history(), *own(1_000)]
    for records in (parent, fork) if parent_first else (fork, parent):
        import_file(project, lines(*records), by="test")
    found = Session.objects.get(project=project, key=FORK)
    assert found.parent is not None
    assert found.parent.key == PARENT
    totals = summary_of(found)
    assert (totals.kinds["llm_call"], totals.input_tokens) == (1, 50)
    copies = found.actions.filter(copied_from__isnull=False).order_by("sequence")
    originals = [original_of(found, each) for each in copies.values_list("copied_from", flat=True)]
    assert [each and each.sequence for each in originals] == list(range(1, found.parent.last_sequence + 1))
    assert found.parent_sequence == found.parent.last_sequence


def test_without_times_what_follows_the_parent_s_line_is_copied() -> None:
    records = [meta(FORK, forked_from_id=PARENT), meta(PARENT, 10), *history()]
    found = read(*({name: value for name, value in each.items() if name != "timestamp"} for each in records))
    assert tokens(found) == (0, 1_000)
