"""A visitor takes the evidence of a link along: written for one of them at a time, and so often a minute at most.

Writing it reads all that the link shows, in the process that answers: whoever asked on and on would have every process of the server
busy with one link.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Final

from django.db import connection, transaction

from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import TooManyRequests
from timemachine.core.pure.numbers import counted
from timemachine.governance.sharing import log
from timemachine.governance.sharing.log import DOWNLOADED
from timemachine.governance.sharing.models import ShareLink
from timemachine.governance.sharing.pure.refusal import link_not_valid
from timemachine.governance.sharing.pure.throttle import Limit, seconds_to_wait
from timemachine.governance.sharing.pure.visitor import visitor

# A download, and a check of it in the browser; and both again by somebody who did not trust the first.
DOWNLOADS: Final = Limit(most=6, window=timedelta(minutes=1))
A_MOMENT: Final = 5  # seconds until whoever waits for another one's download may ask again


@contextmanager
def download(link: ShareLink, *, address: str | None = None, browser: str | None = None) -> Iterator[None]:
    """Whatever is written inside is one download of the link; once it is written, a line of the access log says that it was taken.

    Raises `TooManyRequests` while the link's evidence is written for somebody, and after six times in a minute; `NotFound` where the link
    went meanwhile.
    """
    with _alone(link):
        _check_patience(link)
        yield
        _note(link, address, browser)


@contextmanager
def _alone(link: ShareLink) -> Iterator[None]:
    """A lock of the connection, for writing evidence takes several transactions; it goes with a process that is killed."""
    name = f"evidence of share link {link.pk}"
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(hashtextextended(%s, 0))", [name])
        if cursor.fetchone() != (True,):
            raise _refused("The evidence of this link is being written for somebody.", A_MOMENT)
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(hashtextextended(%s, 0))", [name])


def _check_patience(link: ShareLink) -> None:
    taken = link.openings.filter(result=DOWNLOADED).order_by("-sequence").values_list("at", flat=True)
    if wait := seconds_to_wait(taken[: DOWNLOADS.most], DOWNLOADS, now()):
        raise _refused(
            f"The evidence of this link was downloaded {DOWNLOADS.most} times within a minute.", wait
        )


def _refused(why: str, wait: int) -> TooManyRequests:
    return TooManyRequests(
        f"{why} Try again in {counted(wait, 'second')}.", code="too_many_downloads", retry_after_seconds=wait
    )


@transaction.atomic
def _note(link: ShareLink, address: str | None, browser: str | None) -> None:
    if not ShareLink.objects.filter(pk=link.pk).exists():
        raise link_not_valid()
    log.append(link, DOWNLOADED, visitor(address, browser))
