"""Django's PostgreSQL backend, which tells the database whose rows to show (`timemachine.core.row_security`)."""

from typing import Any, Final

from django.db.backends.postgresql import base
from psycopg import Connection, Cursor
from psycopg.pq import TransactionStatus

from timemachine.core.row_security import visible_rows

_SHOW: Final = "SELECT set_config('timemachine.project', %s, false)"


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection that tells the database before a statement whose rows to show, if that has changed since the last one."""

    connection: Connection[Any] | None
    _shown: str | None = None
    _changes_mode = False

    def connect(self) -> None:
        """Connect. What an earlier user of a pooled connection saw is unknown."""
        self._shown, self._changes_mode = None, True
        try:
            super().connect()
        finally:
            self._changes_mode = False

    def ensure_connection(self) -> None:
        """Connect if needed. Everything that uses the connection calls this first."""
        super().ensure_connection()
        visible = visible_rows()
        if self._shown != visible and self.connection is not None and not self._changes_mode:
            self._show(self.connection, visible)

    def _show(self, connection: Connection[Any], visible: str) -> None:
        if connection.info.transaction_status == TransactionStatus.INERROR:
            return  # only a rollback can follow
        with self.wrap_database_errors, Cursor(connection) as cursor:
            cursor.execute(_SHOW, [visible])
        self._shown = visible

    def close_if_unusable_or_obsolete(self) -> None:
        """Close the connection if it is broken. Django reads its mode first, which must not send anything."""
        before, self._changes_mode = self._changes_mode, True
        try:
            super().close_if_unusable_or_obsolete()
        finally:
            self._changes_mode = before

    def set_autocommit(self, *args: Any, **options: Any) -> None:
        """Begin or end a transaction. A statement in between would begin one that nobody ends."""
        before, self._changes_mode = self._changes_mode, True
        try:
            super().set_autocommit(*args, **options)
        finally:
            self._changes_mode = before

    def _rollback(self) -> Any:
        self._shown = None  # the setting is rolled back, too
        return super()._rollback()  # type: ignore[misc]  # the stubs have only what is public

    def _savepoint_rollback(self, sid: str) -> None:
        super()._savepoint_rollback(sid)  # type: ignore[misc]
        self._shown = None
