"""Where events are sent: a webhook, or a syslog server. The operator configures them."""

import errno
import hashlib
import hmac
import logging
import socket
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from django.conf import settings

from timemachine.core.audit.models import AuditEvent
from timemachine.core.pure.errors import InvalidInput
from timemachine.governance.audit_log.addresses import SyslogServer, syslog_server
from timemachine.governance.audit_log.models import SYSLOG, WEBHOOK
from timemachine.governance.audit_log.schemas import ForwardedEvent
from timemachine.llm.outbound_posts import Unreachable, post

SIGNATURE: Final = "X-Time-Machine-Signature"
_ACCEPTED: Final = range(200, 300)
_SYSLOG_SECONDS: Final = 10.0
_PRIORITY: Final = 13 * 8 + 5
"""The facility "log audit" and the severity "notice" of RFC 5424."""
_TOO_LONG: Final = {"left_out": "too long for UDP"}

log = logging.getLogger(__name__)


class NotAccepted(Exception):
    """The destination did not accept the events. The message says why."""


class NotReached(NotAccepted):
    """The destination did not answer, so it would not accept the events of other projects either."""


def configured() -> dict[str, Callable[[Sequence[AuditEvent]], None]]:
    """Return the configured destinations. Each sends events in order, and raises `NotAccepted`."""
    senders = {WEBHOOK: (settings.AUDIT_WEBHOOK, _post), SYSLOG: (settings.AUDIT_SYSLOG, _log)}
    return {name: send for name, (address, send) in senders.items() if address}


def _post(events: Sequence[AuditEvent]) -> None:
    """Post JSON lines, signed with HMAC-SHA-256 of the body if there is a secret."""
    body = b"".join(ForwardedEvent.of(event).line() + b"\n" for event in events)
    try:
        answer = post(settings.AUDIT_WEBHOOK, body, "application/x-ndjson", headers=_signed(body))
    except Unreachable as why:
        raise NotReached(str(why)) from why
    if answer.status not in _ACCEPTED:
        raise NotAccepted(answer.refusal)


def _signed(body: bytes) -> Mapping[str, str]:
    secret = settings.AUDIT_WEBHOOK_SECRET
    return (
        {SIGNATURE: f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"} if secret else {}
    )


def _log(events: Sequence[AuditEvent]) -> None:
    """Send a message of RFC 5424 for each event, over TCP with the length before it (RFC 6587), or over UDP."""
    sent = [ForwardedEvent.of(event) for event in events]
    try:
        server = syslog_server(settings.AUDIT_SYSLOG)
        (_over_udp if server.protocol == "udp" else _over_tcp)(server, sent)
    except InvalidInput as why:
        raise NotReached(why.message) from why
    except (OSError, UnicodeError) as why:
        raise NotReached(f"{settings.AUDIT_SYSLOG} cannot be reached: {why}") from why


def _over_tcp(server: SyslogServer, events: Sequence[ForwardedEvent]) -> None:
    messages = [_message(event) for event in events]
    with socket.create_connection((server.host, server.port), _SYSLOG_SECONDS) as connection:
        connection.sendall(b"".join(b"%d %s" % (len(message), message) for message in messages))


def _over_udp(server: SyslogServer, events: Sequence[ForwardedEvent]) -> None:
    family, kind, protocol, _, address = socket.getaddrinfo(server.host, server.port, type=socket.SOCK_DGRAM)[
        0
    ]
    with socket.socket(family, kind, protocol) as sender:
        for event in events:
            try:
                sender.sendto(_message(event), address)
            except OSError as why:
                if why.errno != errno.EMSGSIZE:
                    raise
                log.warning(
                    "the audit event %s is too long for UDP and is sent without its facts", event.sha256
                )
                sender.sendto(_message(event.model_copy(update={"facts": _TOO_LONG})), address)


def _message(event: ForwardedEvent) -> bytes:
    head = f"<{_PRIORITY}>1 {event.at} {socket.gethostname() or '-'} time-machine - {event.action} - "
    return head.encode() + event.line()
