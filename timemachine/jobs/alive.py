"""`python -m timemachine.jobs.alive`: end with 0 if the worker of this container was seen recently. Without Django, which takes seconds."""

import socket
import sys
from datetime import timedelta
from typing import Final

import psycopg

from timemachine.core.pure.errors import TimeMachineError
from timemachine.core.pure.secret_settings import secret

SILENT_AFTER: Final = timedelta(seconds=45)
"""A worker counts as lost if it was not seen for this long."""
_SEEN: Final = """
SELECT EXISTS (SELECT FROM tm_worker WHERE host = %s AND seen_at > now() - %s)
"""


def main() -> str | None:
    """Return why the worker does not count as running, None if it does."""
    try:
        with psycopg.connect(secret("DATABASE_URL"), connect_timeout=5) as connection:
            (seen,) = connection.execute(_SEEN, [socket.gethostname(), SILENT_AFTER]).fetchone() or (False,)
    except (TimeMachineError, psycopg.Error) as why:
        return f"The database does not answer: {str(why).partition('\n')[0]}"
    if seen:
        return None
    return f"No worker on {socket.gethostname()} was seen in the last {SILENT_AFTER.seconds} seconds."


if __name__ == "__main__":
    sys.exit(main())
