"""Kombu's transports, with what Time Machine needs of each broker.

All of them give a worker at most as many unacknowledged messages of a queue as that queue may take places
(`timemachine.jobs.places`), and connect again within `LONGEST_PAUSE` seconds.
"""

from collections.abc import Callable
from queue import Empty
from threading import Lock
from typing import Any, Final

import kombu
from amqp.exceptions import ChannelError, MessageNacked
from amqp.method_framing import frame_writer
from celery.app.amqp import AMQP
from kombu.exceptions import OperationalError
from kombu.transport import TRANSPORT_ALIASES, pgmq, pyamqp, redis, virtual
from psycopg import sql
from psycopg_pool import ConnectionPool

MOST: Final = "most_unacknowledged"
"""The transport option with the maximum number of unacknowledged messages of each queue. Only workers have it."""
LONGEST_WAIT: Final = 0.3
SHORT_WAIT: Final = 0.1
"""How long to wait for messages while a queue may get none, because an acknowledgement does not end the wait."""
LONGEST_PAUSE: Final = 3
CONFIRM_SECONDS: Final = 3
LONGEST_JOB: Final = 24 * 60 * 60
"""Seconds after which a broker sends a message that was not acknowledged to another worker. This is harmless but useless:
the sweep has sent another one long before.
"""
RABBITMQ_QUEUE: Final = {"x-queue-type": "quorum", "x-consumer-timeout": LONGEST_JOB * 1000}
"""Other brokers ignore it. A quorum queue keeps its messages when RabbitMQ loses a node. Before 3.12, RabbitMQ takes the timeout
only from its own configuration.
"""
_EXISTS: Final = "SELECT EXISTS (SELECT FROM pgmq.meta WHERE queue_name = %s)"
_HAS_TRIGGER: Final = """
SELECT EXISTS (
    SELECT FROM pg_trigger WHERE tgrelid = to_regclass(%s) AND tgname = 'trigger_notify_queue_insert_listeners'
)
"""
_UNTHROTTLED: Final = """
INSERT INTO pgmq.notify_insert_throttle (queue_name, throttle_interval_ms) VALUES (%s, %s) ON CONFLICT DO NOTHING
"""
"""Without this row, the trigger notifies nobody. Its table is unlogged, so a crash of the server empties it."""


class Connection(kombu.Connection):  # type: ignore[misc]  # the types of kombu are skipped
    """Tries again every few seconds. Kombu would wait up to 30 s, and notice that late that a broker is back."""

    def _ensure_connection(
        self,
        errback: Any = None,
        max_retries: int | None = None,
        interval_start: float = 1,
        interval_step: float = 1,
        interval_max: float = LONGEST_PAUSE,
        **more: Any,
    ) -> Any:
        pauses = (interval_start, interval_step, interval_max)
        return super()._ensure_connection(errback, max_retries, *pauses, **more)


class Amqp(AMQP):
    """Celery's messages over these connections."""

    Connection = Connection


def _may_read(channel: virtual.Channel, queue: str) -> int | None:
    """Return how many more messages of a queue this channel may read; None if any number."""
    most = channel.connection.client.transport_options.get(MOST, {}).get(queue)
    if most is None:
        return None
    qos = channel.qos
    held = [
        tag
        for tag, message in qos._delivered.items()
        if message.delivery_info.get("routing_key") == queue and tag not in qos._dirty
    ]
    return max(int(most) - len(held), 0)


def _is_full(channel: virtual.Channel) -> bool:
    return any(_may_read(channel, queue) == 0 for queue in channel._active_queues)


class _Channel(virtual.Channel):  # type: ignore[misc]  # the types of kombu are skipped
    """A channel on which a publish after a lost connection is tried again; kombu would raise AttributeError."""

    def basic_publish(self, *args: Any, **more: Any) -> Any:
        if self.connection is None:
            raise ConnectionResetError("the channel was closed")
        return super().basic_publish(*args, **more)


class PgmqChannel(_Channel, pgmq.Channel):  # type: ignore[misc]  # the types of kombu are skipped
    """PGMQ that reads no more of a queue than it may, and creates queues and notifications only if they are missing, which a
    role that does not own the tables cannot even try. Usually, `timemachine manage prepare` has created them.
    """

    def _new_queue(self, queue: str, **more: Any) -> None:
        with self.pgmq.pool.connection() as connection:
            exists = connection.execute(_EXISTS, [self._queue_name(queue)]).fetchone()
        if exists == (True,):
            self._maybe_enable_notify(queue)
        else:
            super()._new_queue(queue, **more)

    def _get_bulk(
        self, queue: str, *args: Any, max_if_unlimited: int = pgmq.PGMQ_MAX_MESSAGES, **more: Any
    ) -> Any:
        room = _may_read(self, queue)
        if room == 0:
            raise Empty
        most = max_if_unlimited if room is None else min(room, max_if_unlimited)
        return super()._get_bulk(queue, *args, max_if_unlimited=most, **more)

    def _maybe_enable_notify(self, queue: str, queue_name: str | None = None) -> None:
        """Enable notifications unless they are. PGMQ would drop and create the trigger whenever a worker or beat
        connects, and lock the row of its settings before the queue, which a sender locks in the other order.
        """
        if not self.use_notify:
            return
        name = queue_name or self._queue_name(queue)
        table = sql.Identifier("pgmq", f"q_{name}")
        with self.pgmq.pool.connection() as connection:  # in one transaction
            has_trigger = connection.execute(_HAS_TRIGGER, [f"pgmq.q_{name}"]).fetchone()
            if has_trigger == (False,):
                connection.execute(sql.SQL("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE").format(table))
                connection.execute(
                    "SELECT pgmq.enable_notify_insert(%s, %s)", [name, self.notify_throttle_interval_ms]
                )
            else:
                connection.execute(_UNTHROTTLED, [name, self.notify_throttle_interval_ms])
        self.connection._register_notify_queue(name)


class PgmqTransport(pgmq.Transport):  # type: ignore[misc]  # the types of kombu are skipped
    """PGMQ with short waits, so that an idle worker stops within half a second, and without leaked connection pools."""

    Channel = PgmqChannel
    _pgmq_client: Any

    def _create_pgmq_client(self) -> Any:
        """Check each connection before it is used: after a restart of PostgreSQL, all of the pool are broken, and Kombu
        gives up after the third.
        """
        client = super()._create_pgmq_client()
        client.pool._check = ConnectionPool.check_connection
        return client

    def establish_connection(self) -> Any:
        """Connect. If that fails, close the pool now, and not during a garbage collection in one of its threads."""
        try:
            return super().establish_connection()
        except Exception:  # whatever failed, the pool must be closed
            if self._pgmq_client is not None:
                self._pgmq_client.close()
            self._pgmq_client = None
            raise

    def drain_events(self, connection: Any, timeout: float | None = None, **more: Any) -> Any:
        """Wait for messages. Celery drains for 2 s at a time and can stop only in between."""
        longest = SHORT_WAIT if any(map(_is_full, self.channels)) else LONGEST_WAIT
        wait = longest if timeout is None else min(timeout, longest)
        return super().drain_events(connection, timeout=wait, **more)


class RedisChannel(_Channel, redis.Channel):  # type: ignore[misc]  # the types of kombu are skipped
    """Redis that asks only for messages of queues that it may read, in the order of `QUEUES`."""

    def _brpop_start(self, timeout: float | None = None) -> None:
        readable = [queue for queue in self.active_queues if _may_read(self, queue) != 0]
        self._queue_cycle.update(readable)
        is_full = len(readable) < len(self.active_queues)
        super()._brpop_start(SHORT_WAIT if is_full and timeout is None else timeout)


class RedisTransport(redis.Transport):  # type: ignore[misc]  # the types of kombu are skipped
    """Redis with those channels."""

    Channel = RedisChannel


def _one_at_a_time(*args: Any) -> Callable[..., None]:
    """Write frames from one thread at a time: jobs acknowledge their messages in their own threads."""
    write, lock = frame_writer(*args), Lock()

    def write_alone(*frame: Any) -> None:
        with lock:
            write(*frame)

    return write_alone


class RabbitChannel(pyamqp.Channel):  # type: ignore[misc]  # the types of kombu are skipped
    """RabbitMQ with a limit for each queue, and publishing that fails unless a queue has the message."""

    def basic_qos(self, prefetch_size: int, prefetch_count: int, _: object = None, **more: Any) -> Any:
        """Limit each consumer that begins after this. Quorum queues have no limit for a whole channel."""
        return super().basic_qos(prefetch_size, prefetch_count, a_global=False, **more)

    def basic_consume(self, queue: str = "", *args: Any, **more: Any) -> Any:
        """Begin to consume from a queue, with its own limit."""
        most = self.connection.client.transport_options.get(MOST, {}).get(queue)
        if most is not None:
            self.basic_qos(0, most)
        return super().basic_consume(queue, *args, **more)

    def basic_publish_confirm(self, *args: Any, **more: Any) -> Any:
        """Publish, and wait until RabbitMQ has stored the message in a queue.

        Raises: OperationalError if it refuses or has no such queue; an error of the connection if it does not answer.
        """
        more["confirm_timeout"] = more.get("confirm_timeout") or CONFIRM_SECONDS
        try:
            return super().basic_publish_confirm(*args, **more | {"mandatory": True})
        except MessageNacked as why:
            raise OperationalError("RabbitMQ refused the message") from why
        except ChannelError as why:
            self.close()  # or the next message would get the confirmation of this one
            raise OperationalError(f"RabbitMQ did not take the message: {why}") from why


class RabbitConnection(pyamqp.Connection):  # type: ignore[misc]  # the types of kombu are skipped
    """A connection that threads can share for acknowledgements."""

    Channel = RabbitChannel

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, frame_writer=_one_at_a_time, **options)


class RabbitTransport(pyamqp.Transport):  # type: ignore[misc]  # the types of kombu are skipped
    """RabbitMQ with those connections."""

    Connection = RabbitConnection


class RabbitTlsTransport(pyamqp.SSLTransport):  # type: ignore[misc]  # the types of kombu are skipped
    """The same over TLS."""

    Connection = RabbitConnection


def install() -> None:
    """Use these transports for the URLs of their brokers."""
    own = {
        "pgmq": PgmqTransport,
        "redis": RedisTransport,
        "rediss": RedisTransport,
        "amqp": RabbitTransport,
        "amqps": RabbitTlsTransport,
        "pyamqp": RabbitTransport,
    }
    TRANSPORT_ALIASES.update({name: f"{__name__}:{found.__name__}" for name, found in own.items()})
