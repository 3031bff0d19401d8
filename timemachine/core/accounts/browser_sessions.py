"""Django's sessions of browsers, in a table that can be listed by person, and with two limits for those who are signed in.

A session ends after some time without use, and at the latest some time after signing in. The cookie only names it: ending it on
the server signs out the browser.
"""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore as DatabaseSessionStore

from timemachine.core.accounts.models import BrowserSession
from timemachine.core.pure.clock import now

USE_NOTED_EVERY: Final = timedelta(minutes=1)
WITHOUT_A_PERSON: Final = timedelta(hours=1)  # for the steps of signing in
_SIGNED_IN_AT, _DEVICE, _NETWORK = "signed_in_at", "device", "network"


class SessionStore(DatabaseSessionStore[BrowserSession]):
    """The session of one browser."""

    stored: BrowserSession | None = None
    """The row that was read, if any."""

    @classmethod
    def get_model_class(cls) -> type[BrowserSession]:
        """Return the model of the rows."""
        return BrowserSession

    def describe(self, *, device: str, network: str) -> None:
        """Note that a person has just signed in with this browser."""
        self.update({_SIGNED_IN_AT: now().timestamp(), _DEVICE: device, _NETWORK: network})

    def note_use(self) -> None:
        """Note that a signed-in browser is in use, at most once a minute."""
        row, moment = self.stored, now()
        if row is None or row.user_id is None or row.session_key != self.session_key:
            return
        if row.seen_at <= moment - USE_NOTED_EVERY:
            ends = end_of(moment, row.signed_in_at)
            BrowserSession.objects.filter(pk=row.pk).update(seen_at=moment, expire_date=ends)

    def load(self) -> dict[str, Any]:
        """Return the data of the session; of one that has ended or never existed, nothing."""
        row = BrowserSession.objects.filter(pk=self.session_key).first()
        if row is None or is_over(row):
            self._session_key = None
            return {}
        self.stored = row
        return self.decode(row.session_data)

    def create_model_instance(self, data: dict[str, Any]) -> BrowserSession:
        """Return the row that stores this data."""
        moment, user_id = now(), data.get(SESSION_KEY)
        if user_id is not None:
            data.setdefault(_SIGNED_IN_AT, moment.timestamp())
        row = super().create_model_instance(data)
        row.user_id = user_id
        row.signed_in_at = datetime.fromtimestamp(data[_SIGNED_IN_AT], UTC) if user_id else None
        row.seen_at = moment
        row.expire_date = end_of(moment, row.signed_in_at)
        row.device, row.network = data.get(_DEVICE, ""), data.get(_NETWORK, "")
        return row


def end_of(seen_at: datetime, signed_in_at: datetime | None) -> datetime:
    """Return when a session ends that was last used and signed in to at these times."""
    if signed_in_at is None:
        return seen_at + WITHOUT_A_PERSON
    return min(seen_at + settings.SIGN_IN_IDLE, signed_in_at + settings.SIGN_IN_LONGEST)


def is_over(row: BrowserSession) -> bool:
    """Return whether the session has ended, also if a limit was lowered since it was stored."""
    return min(row.expire_date, end_of(row.seen_at, row.signed_in_at)) <= now()
