"""The key is replaced while something is sealed."""

from concurrent.futures import ThreadPoolExecutor

from django.db import connection, transaction

from tests.evidence.sessions import long_session, message
from tests.threads import in_a_thread
from tests.waiting import wait_until
from timemachine.accounts.models import Project
from timemachine.evidence import log, sealing
from timemachine.evidence.models import SealCheckpoint
from timemachine.recording.commands import append


def somebody_waits() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
        return bool(cursor.fetchone()[0])


def test_what_is_sealed_while_the_key_is_replaced_is_signed_by_the_new_one(
    transactional_db: None, project: Project
) -> None:
    session = long_session(project, 2)
    sealing.seal_session(session.id)
    append(session.id, [message("later")])
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            new = log.replace_key(project, by="ada@example.org")
            sealed = in_a_thread(pool, lambda: sealing.seal_session(session.id))
            wait_until(somebody_waits, seconds=20)
        sealed.result(20)
    assert SealCheckpoint.objects.latest("id").key == new
