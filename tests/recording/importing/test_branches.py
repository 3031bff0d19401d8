"""Sessions that continue others: they are branches with copies, whichever file is imported first."""

import json
from collections.abc import Sequence
from itertools import permutations
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.database_roles import as_owner
from tests.evidence.sessions import checked, compared_with_its_seal
from tests.recording.importing.claude_code.test_copies import FENCE, FIRST, GATE, RESUMED, ROOF, forked, of
from tests.recording.importing.codex.test_codex_forks import FORK, PARENT, history, meta, own
from tests.recording.importing.exports.test_exporting import exported
from tests.recording.importing.sample_files import document, lines
from timemachine.core.accounts.models import Project
from timemachine.governance.sharing.commands.links import create_link
from timemachine.recording.importing.commands import import_file
from timemachine.recording.sessions.commands import append, end_session, start_session
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage, copy_of
from timemachine.recording.timeline.copies import original_of
from timemachine.recording.timeline.totals import summary_of

pytestmark = pytest.mark.django_db
GRANDCHILD = "019ecccc-0000-7000-8000-000000000003"


def later(records: Sequence[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """The line of another session, then these as it repeats them."""
    first = meta(FORK) | {"payload": meta(FORK, forked_from_id=name)["payload"] | {"id": GRANDCHILD}}
    return [first, *({**each, "timestamp": first["timestamp"]} for each in records)]


CODEX_PARENT = [meta(PARENT), *history()]
CODEX_FORK = [meta(FORK, forked_from_id=PARENT), meta(PARENT, 10), *history(), *own(1_000)]
CODEX_FORK_OF_A_FORK = [*later(CODEX_FORK, FORK), *own(5_000, total=1_100)]
CLAUDE = [
    FIRST,
    [*forked(of("fork", FENCE), "first"), *of("fork", GATE)],
    [*forked(of("fork-2", FENCE, GATE), "fork"), *of("fork-2", ROOF)],
]
CLAUDE_WITH_THE_FIRST_ORIGIN = [
    *CLAUDE[:2],
    [*forked(of("fork-2", FENCE), "first"), *forked(of("fork-2", GATE), "fork"), *of("fork-2", ROOF)],
]


def step(number: int, source: str, message: str, **fields: Any) -> dict[str, Any]:
    return {"step_id": number, "source": source, "message": message, **fields}


def trajectory(name: str, copied: int, **extra: Any) -> dict[str, Any]:
    """A trajectory of Harbor: copied steps have no metrics, and the sums are those of the whole series."""
    steps = [
        step(n + 1, "agent", f"Answer {n}.", is_copied_context=True, extra={"note": "Metrics omitted"})
        for n in range(copied)
    ]
    metrics = {"prompt_tokens": 10, "completion_tokens": 1, "cost_usd": 0.25}
    sums = {"total_prompt_tokens": 10 * (copied + 1), "total_completion_tokens": copied + 1}
    return {
        "schema_version": "ATIF-v1.6",
        "session_id": name,
        "agent": {"name": "terminus-2", "version": "2", "model_name": "m", "extra": extra},
        "steps": [*steps, step(copied + 1, "agent", f"Answer {copied}.", metrics=metrics)],
        "final_metrics": sums,
    }


ATIF = [
    trajectory("run", 0),
    trajectory("run-cont-1", 1, continuation_index=1),
    trajectory("run-cont-2", 2, continuation_index=2),
]
THREE: dict[str, tuple[list[bytes], list[str]]] = {
    "codex": (
        [lines(*each) for each in (CODEX_PARENT, CODEX_FORK, CODEX_FORK_OF_A_FORK)],
        [PARENT, FORK, GRANDCHILD],
    ),
    "claude_code": ([lines(*each) for each in CLAUDE], ["first", "fork", "fork-2"]),
    "claude_code, the first origin kept": (
        [lines(*each) for each in CLAUDE_WITH_THE_FIRST_ORIGIN],
        ["first", "fork", "fork-2"],
    ),
    "atif": ([document(each) for each in ATIF], ["run", "run-cont-1", "run-cont-2"]),
}


def imported(project: Project, *files: bytes) -> None:
    for each in files:
        import_file(project, each, by="test")


def parents() -> dict[str, str | None]:
    return dict(Session.objects.values_list("key", "parent__key"))


def own_calls(keys: Sequence[str]) -> list[int]:
    """How many model calls each session made itself."""
    return [summary_of(Session.objects.get(key=key)).kinds["llm_call"] for key in keys]


@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
@pytest.mark.parametrize("name", THREE)
def test_three_generations_are_linked_and_count_once_in_any_order(
    project: Project, name: str, order: Sequence[int]
) -> None:
    files, keys = THREE[name]
    imported(project, *(files[each] for each in order))
    assert parents() == dict(zip(keys, [None, *keys[:2]], strict=True))
    assert own_calls(keys) == [1, 1, 1]
    before = Action.objects.count()
    imported(project, *files)
    assert Action.objects.count() == before


def family(project: Project) -> list[Session]:
    """Three generations, recorded here: each has a call of its own, after copies of those before it."""
    sessions: list[Session] = []
    for number in range(3):
        above = sessions[-1] if sessions else None
        session = start_session(
            project, name=f"g{number}", key=f"g{number}", by="test", parent=(above, number) if above else None
        )
        call = ActionDraft(kind="llm_call", model="acme:m", usage=Usage(input_tokens=10))
        copies = [
            ActionDraft(kind="llm_call", model="acme:m", copied_from=copy_of(f"g{number - 1}", place))
            for place in range(1, number + 1)
        ]
        append(session.id, [*copies, call])
        sessions.append(end_session(session.id))
    return sessions


def test_exports_of_three_generations_are_linked_in_any_order(
    project: Project, other_project: Project
) -> None:
    files = [exported(each, "timemachine") for each in family(project)]
    imported(other_project, files[2], files[0], files[1], *files)
    found = {each.key: each for each in Session.objects.filter(project=other_project)}
    assert {key: each.parent and each.parent.key for key, each in found.items()} == {
        "g0": None,
        "g1": "g0",
        "g2": "g1",
    }
    assert [found[f"g{n}"].parent_sequence for n in range(3)] == [None, 1, 2]
    assert [summary_of(found[f"g{n}"]).input_tokens for n in range(3)] == [10, 10, 10]
    original = original_of(found["g2"], found["g2"].actions.get(sequence=2).copied_from)
    assert original is not None
    assert (original.session, original.sequence) == (found["g1"], 2)


@pytest.mark.parametrize("name", THREE)
def test_a_fork_whose_parent_is_never_imported_waits_for_it(project: Project, name: str) -> None:
    files, keys = THREE[name]
    imported(project, files[2])
    found = Session.objects.get(key=keys[2])
    assert (found.parent, found.parent_key) == (None, keys[1])
    assert own_calls(keys[2:]) == [1]
    copy = found.actions.filter(copied_from__isnull=False).first()
    assert copy is not None
    original = original_of(found, copy.copied_from)
    assert original is not None
    assert (original.session, original.sequence) == (None, None)


LATE = {name: files for name, (files, _) in THREE.items()} | {
    "claude_code, resumed": [lines(*FIRST), lines(*RESUMED)]
}


@pytest.mark.parametrize("name", LATE)
def test_a_parent_can_be_imported_after_its_child_was_sealed_and_shared(project: Project, name: str) -> None:
    parent, child, *_ = LATE[name]
    imported(project, child)
    session = Session.objects.get()
    assert checked(session) == []
    link, _ = create_link(project, session, by="test")
    imported(project, parent)
    session.refresh_from_db()
    assert session.parent is not None
    assert list(compared_with_its_seal(session).problems) == []
    link.refresh_from_db()
    assert (link.session_id, link.through_sequence) == (session.id, session.last_sequence)


def test_an_edited_prompt_of_a_resumed_session_is_its_own_and_the_answers_are_copies(
    project: Project,
) -> None:
    edited = json.loads(json.dumps(RESUMED))
    edited[0]["message"]["content"] = "Paint the fence red."
    for files in ([FIRST, edited], [edited, FIRST]):
        imported(project, *(lines(*each) for each in files))
    own_steps = Action.objects.filter(copied_from__isnull=True)
    answers = own_steps.filter(kind="llm_call").order_by("client_id")
    assert list(answers.values_list("client_id", flat=True)) == ["a0", "a1"]
    assert own_steps.filter(client_id="u0").count() == 2
    assert parents() == {"first": None, "resumed": "first"}


def test_sessions_with_the_same_answers_or_prompts_are_found_by_indexes(project: Project) -> None:
    imported(project, lines(*FIRST))
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
    with CaptureQueriesContext(connection) as captured:
        imported(project, lines(*RESUMED))
    sql = next(each["sql"] for each in captured.captured_queries if "'user'" in each["sql"])
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {sql}")
        assert "Seq Scan" not in str(cursor.fetchall())
    with as_owner() as cursor:  # which is what the function for answers runs as
        cursor.execute("SELECT prosrc FROM pg_proc WHERE proname = 'tm_answers_with'")
        (body,) = cursor.fetchone()
        conditions = body.partition("project AND ")[2].partition("AND current_setting")[0]
        cursor.execute(
            f"EXPLAIN SELECT FROM tm_action WHERE {conditions.replace('answers', "'{a,b}'::text[]")}"
        )
        assert "tm_action_answer" in str(cursor.fetchall())
