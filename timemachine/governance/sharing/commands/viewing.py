"""A visitor looks at a page of a link that they have open: counted, so that nobody reads on faster than people do."""

from datetime import datetime, timedelta
from typing import Final

from django.db import connection

from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import TooManyRequests
from timemachine.governance.sharing.models import ShareGrant
from timemachine.governance.sharing.pure.throttle import Limit, seconds_left
from timemachine.governance.sharing.queries import grant_of
from timemachine.governance.sharing.scope import Scope

# Sixty pages a minute. A part of a page is a tenth of one: who walks with a key held down asks for ten a second.
PAGE, PART = 10, 1
VIEWS: Final = Limit(most=60 * PAGE, window=timedelta(minutes=1))

_COUNT = """
UPDATE tm_share_grant SET
    views = CASE WHEN views_since > %(since)s THEN views + %(more)s ELSE %(more)s END,
    views_since = CASE WHEN views_since > %(since)s THEN views_since ELSE %(now)s END
WHERE id = %(grant)s RETURNING views, views_since
"""


def view(public_id: str, cookie: str | None, *, part: bool = False) -> Scope:
    """What the holder of this cookie may read now. Raises the one `NotFound`, `TooManyRequests` for more than sixty pages in a minute."""
    grant = grant_of(public_id, cookie)
    _count(grant, PART if part else PAGE)
    return Scope(link=grant.link)


def _count(grant: ShareGrant, more: int) -> None:
    moment = now()
    asked: dict[str, int | datetime] = {
        "grant": grant.pk,
        "more": more,
        "now": moment,
        "since": moment - VIEWS.window,
    }
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, asked)
        views, since = cursor.fetchone() or (0, moment)
    if views > VIEWS.most:
        _refuse(since, moment)


def _refuse(since: datetime, moment: datetime) -> None:
    wait = seconds_left(since + VIEWS.window, moment)
    raise TooManyRequests(
        f"These were more pages than anybody reads in a minute. Go on in {wait} second{'' if wait == 1 else 's'}; what you have open stays open.",
        code="too_many_views",
        retry_after_seconds=wait,
    )
