"""Checking: the database is compared with what was sealed, and each difference is reported."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connections, transaction
from pytest_django.fixtures import Settings

from tests.builders import recorded_session, tamper
from tests.evidence.sessions import checked, compared_with_its_seal, long_session, message
from timemachine.core.accounts.models import Project
from timemachine.core.database import snapshot
from timemachine.core.pure.clock import now
from timemachine.core.pure.content import canonical_json
from timemachine.core.pure.errors import Conflict, Unavailable
from timemachine.evidence import commands
from timemachine.evidence.log import project_log
from timemachine.evidence.models import ErasedField, LogEntry
from timemachine.evidence.pure.record import Record
from timemachine.evidence.pure.tree import leaf_hash
from timemachine.evidence.queries import sealed_session
from timemachine.evidence.sealing import checking, seals
from timemachine.evidence.sealing.subjects import SessionSubject
from timemachine.evidence.tasks import check_seal
from timemachine.jobs.registry import overdue
from timemachine.recording.sessions.commands import append

pytestmark = pytest.mark.django_db
OF_THREE = "UPDATE tm_sealed_record r"
OF_SESSION = " FROM tm_seal s WHERE r.seal_id = s.id AND s.session_id = %s AND r.index = 3"
ALTERATIONS = {
    "an answer": (
        "UPDATE tm_payload SET data = 'x', size = 1, packed = false WHERE id = (SELECT output_id FROM tm_action WHERE session_id = %s AND sequence = 2)",
        2,
        "field output ",
    ),
    "a model": (
        "UPDATE tm_action SET model = 'other:one' WHERE session_id = %s AND sequence = 2",
        2,
        "field facts ",
    ),
    "a name": (
        "UPDATE tm_action SET agent = 'nobody' WHERE session_id = %s AND sequence = 4",
        4,
        "field words ",
    ),
    "a time": (
        "UPDATE tm_action SET recorded_at = now() WHERE session_id = %s AND sequence = 4",
        4,
        "Its time is ",
    ),
    "a step": (
        "UPDATE tm_action SET sequence = 1000 WHERE session_id = %s AND sequence = 6",
        6,
        "missing from the database",
    ),
    "a passage": (
        "DELETE FROM tm_hit USING tm_action a WHERE action_id = a.id AND a.session_id = %s AND a.sequence = 1 AND rank = 2",
        1,
        "field hit.2 ",
    ),
    "the session's own facts": ("UPDATE tm_session SET agent = 'nobody' WHERE id = %s", 0, "field about "),
    "a sealed record": (
        "DELETE FROM tm_sealed_record r USING tm_seal s WHERE r.seal_id = s.id AND s.session_id = %s AND r.index = 6",
        6,
        "sealed form",
    ),
    "a leaf": (
        "UPDATE tm_sealed_record r SET leaf = decode(repeat('00', 32), 'hex') FROM tm_seal s WHERE r.seal_id = s.id AND s.session_id = %s AND r.index = 3",
        3,
        "sealed form",
    ),
    "a checkpoint": (
        'UPDATE tm_seal_checkpoint c SET signed = replace(signed, \'"sig":"\', \'"sig":"AAAA\') FROM tm_seal s WHERE c.seal_id = s.id AND s.session_id = %s',
        None,
        "signature",
    ),
    "an invalid checkpoint": (
        "UPDATE tm_seal_checkpoint c SET signed = '{}' FROM tm_seal s WHERE c.seal_id = s.id AND s.session_id = %s",
        None,
        "cannot be read",
    ),
    "an envelope that is not JSON": (f"{OF_THREE} SET envelope = 'x'{OF_SESSION}", 3, "cannot be read"),
    "an envelope of another form": (f"{OF_THREE} SET envelope = '[1]'{OF_SESSION}", 3, "cannot be read"),
    "an invalid salt": (
        f'{OF_THREE} SET salts = salts || \'{{"facts": "salt"}}\'{OF_SESSION}',
        3,
        "field facts ",
    ),
    "salts of another form": (f"{OF_THREE} SET salts = '[]'{OF_SESSION}", 3, "cannot be read"),
    "the log": ("DELETE FROM tm_log_entry WHERE %s <> ''", None, "log"),
    "an entry of the log": ("UPDATE tm_log_entry SET entry = '{}' WHERE %s <> ''", None, "log"),
    "the log's signature": ("UPDATE tm_log_checkpoint SET signed = 'x' WHERE %s <> ''", None, "log"),
}


def test_a_check_reports_what_was_altered_in_the_database(project: Project) -> None:
    session = recorded_session(project)
    assert checked(session) == []
    for name, (statement, index, says) in ALTERATIONS.items():
        with transaction.atomic():
            assert tamper(statement, [str(session.id)]) >= 1, name
            found = checked(session)
            transaction.set_rollback(True)
        assert any(each["index"] == index and says in str(each["says"]) for each in found), (name, found)


def test_unsigned_records_are_not_reported_as_altered(project: Project, settings: Settings) -> None:
    session, other = long_session(project, 3), long_session(project, 3)
    seals.seal_session(session.id)
    append(session.id, [message("later")])
    settings.SECRET_KEY = "another one" * 5
    for each in (session, other):
        with pytest.raises(Unavailable):
            seals.seal_session(each.id)
    done = compared_with_its_seal(session)
    assert (done.problems, done.records) == ([], 4)
    with pytest.raises(Conflict, match="Nothing is sealed"):
        compared_with_its_seal(other)


def test_a_seal_restored_to_an_earlier_state_is_noticed(project: Project) -> None:
    session = long_session(project, 3)
    seals.seal_session(session.id)
    append(session.id, [message("an answer that somebody regrets")])
    seals.seal_session(session.id)
    for statement in (
        "DELETE FROM tm_seal_checkpoint c USING tm_seal s WHERE c.seal_id = s.id AND s.session_id = %s AND c.size = 5",
        "DELETE FROM tm_sealed_record r USING tm_seal s WHERE r.seal_id = s.id AND s.session_id = %s AND r.index = 4",
        "DELETE FROM tm_action WHERE session_id = %s AND sequence = 4",
        "UPDATE tm_session SET last_sequence = 3 WHERE id = %s",
        "UPDATE tm_seal SET size = 4, signed_size = 4 WHERE session_id = %s",
    ):
        assert tamper(statement, [str(session.id)]) == 1
    done = compared_with_its_seal(session)
    assert {each["code"] for each in done.problems} == {"checkpoint", "total", "time"}
    assert any("5 records" in each["says"] for each in done.problems)


def test_a_tombstone_missing_from_the_signed_log_excuses_nothing(project: Project) -> None:
    session = recorded_session(project)
    assert checked(session) == []
    change, _, _ = ALTERATIONS["an answer"]
    tamper(change, [str(session.id)])
    tamper(
        f"UPDATE tm_sealed_record r SET salts = salts - 'output'{OF_SESSION}".replace("= 3", "= 2"),
        [str(session.id)],
    )
    named = {"of": "session", "id": str(session.id), "generation": 1, "records": [[2, ["output"]]]}
    line = canonical_json({"v": 1, "at": "2026-11-22T18:00:00Z", "entry": project_log.ERASED_FIELDS, **named})
    LogEntry.objects.create(project=project, index=7, entry=line, leaf=leaf_hash(line))
    ErasedField.objects.create(
        project=project,
        session=session,
        sequence=2,
        index=2,
        field="output",
        log_index=7,
        erased_at=now(),
        erased_by="nobody",
        reason="none",
    )
    done = compared_with_its_seal(session)
    assert (done.erased, {each["code"] for each in done.problems}) == (0, {"changed", "log"})


class Growing(SessionSubject):
    """A session that continues, and is sealed further, while it is compared."""

    def records(self, first: int, last: int) -> Iterator[Record]:
        def go_on() -> None:
            append(self.thing.id, [message("later")])
            seals.seal_session(self.thing.id)
            connections.close_all()

        with ThreadPoolExecutor(1) as pool:
            pool.submit(go_on).result()
        yield from super().records(first, last)


def test_a_session_sealed_further_during_a_check_is_compared_as_it_was(committed: Project) -> None:
    session = long_session(committed, 3)
    seal = seals.seal_session(session.id)
    assert seal is not None
    with snapshot():
        found = checking.compare(Growing(session), seal)
    assert (found.problems, found.records) == ([], 4)


def test_two_requests_for_a_check_start_only_one(project: Project) -> None:
    session = recorded_session(project)
    with pytest.raises(Conflict, match="Nothing is sealed"):
        commands.request_check(None, by="test")
    seal = seals.seal_session(session.id)
    first, second = commands.request_check(seal, by="a"), commands.request_check(seal, by="b")
    assert (first.id, sealed_session(session).checking) == (second.id, first)
    assert overdue(check_seal) == []
    type(first).objects.update(enqueued_at=now() - timedelta(minutes=1))
    assert overdue(check_seal) == [first.id]
    assert commands.run_check(first.id) == commands.run_check(first.id)
    assert commands.run_check(uuid4()) is None
