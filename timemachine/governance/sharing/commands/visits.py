"""A visitor views pages and downloads evidence. Both are rate-limited.

Writing evidence reads everything that the link shows, in the web process: without a limit, repeated requests
could keep all of the server's processes busy with one link.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Final

from django.db import connection, transaction

from timemachine.core.database import lock_if_free
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import TooManyRequests
from timemachine.core.pure.numbers import counted
from timemachine.core.pure.throttle import Limit, seconds_to_wait, seconds_until
from timemachine.governance.sharing import log
from timemachine.governance.sharing.log import DOWNLOADED
from timemachine.governance.sharing.models import ShareGrant, ShareLink
from timemachine.governance.sharing.pure.log_line import visitor
from timemachine.governance.sharing.pure.token import link_not_valid
from timemachine.governance.sharing.queries import grant_of
from timemachine.governance.sharing.scope import Scope

# Sixty pages a minute. A part of a page is a tenth of one: holding down an arrow key requests ten a second. A print reads everything.
PAGE, PART, PRINT = 10, 1, 100
VIEWS: Final = Limit(most=60 * PAGE, window=timedelta(minutes=1))

_COUNT = """
UPDATE tm_share_grant SET
    views = CASE WHEN views_since > %(since)s THEN views + %(more)s ELSE %(more)s END,
    views_since = CASE WHEN views_since > %(since)s THEN views_since ELSE %(now)s END
WHERE id = %(grant)s RETURNING views, views_since
"""


def view(public_id: str, cookie: str | None, weight: int = PAGE) -> Scope:
    """Return what the holder of this cookie may read now; it counts with this weight. Raises `NotFound`, and `TooManyRequests`."""
    grant = grant_of(public_id, cookie)
    _count(grant, weight)
    return Scope(link=grant.link)


def _count(grant: ShareGrant, more: int) -> None:
    moment = now()
    parameters: dict[str, int | datetime] = {
        "grant": grant.pk,
        "more": more,
        "now": moment,
        "since": moment - VIEWS.window,
    }
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, parameters)
        views, since = cursor.fetchone() or (0, moment)
    if views > VIEWS.most:
        wait = seconds_until(since + VIEWS.window, moment)
        raise TooManyRequests(
            f"Too many pages in one minute. Try again in {counted(wait, 'second')}; the link stays open.",
            code="too_many_views",
            retry_after_seconds=wait,
        )


# A download and a check of it in the browser, and both twice more.
DOWNLOADS: Final = Limit(most=6, window=timedelta(minutes=1))
RETRY_SECONDS: Final = 5  # after a refusal because someone else is downloading


@contextmanager
def download(link: ShareLink, *, address: str | None = None, browser: str | None = None) -> Iterator[None]:
    """Count what is written inside as one download of the link; the access log gets a line when it is done.

    Raises `TooManyRequests` while the link's evidence is being written for someone, and after six downloads
    in a minute; `NotFound` if the link was deleted in the meantime.
    """
    with lock_if_free(f"evidence of share link {link.pk}") as is_free:
        if not is_free:
            raise _refused("The evidence for this link is being prepared for someone else.", RETRY_SECONDS)
        _check_rate(link)
        yield
        _note(link, address, browser)


@contextmanager
def printing(link: ShareLink) -> Iterator[None]:
    """Do what is inside as the only print of the link. Raises `TooManyRequests` while another one is made."""
    with lock_if_free(f"print of share link {link.pk}") as is_free:
        if not is_free:
            raise _refused("This link is being printed for someone else.", RETRY_SECONDS)
        yield


def _check_rate(link: ShareLink) -> None:
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
