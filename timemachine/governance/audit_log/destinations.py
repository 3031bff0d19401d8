"""Where events are sent: a webhook, or a syslog server. The operator configures them."""

import hashlib
import hmac
import socket
from collections.abc import Callable, Mapping, Sequence
from typing import Final
from urllib.parse import urlsplit

from django.conf import settings

from timemachine.core.audit.models import AuditEvent
from timemachine.governance.audit_log.export import json_line
from timemachine.llm.outbound_posts import Unreachable, post

WEBHOOK, SYSLOG = "webhook", "syslog"
SIGNATURE: Final = "X-Time-Machine-Signature"
_ACCEPTED: Final = range(200, 300)
_SYSLOG_PORT: Final = 514
_SYSLOG_SECONDS: Final = 10.0
_PRIORITY: Final = 13 * 8 + 5
"""The facility "log audit" and the severity "notice" of RFC 5424."""


class NotAccepted(Exception):
    """The destination did not accept the events. The message says why."""


def configured() -> dict[str, Callable[[Sequence[AuditEvent]], None]]:
    """Return the configured destinations. Each sends events in order, and raises `NotAccepted`."""
    senders = {WEBHOOK: (settings.AUDIT_WEBHOOK, _post), SYSLOG: (settings.AUDIT_SYSLOG, _log)}
    return {name: send for name, (address, send) in senders.items() if address}


def _post(events: Sequence[AuditEvent]) -> None:
    """Post JSON lines, signed with HMAC-SHA-256 of the body if there is a secret."""
    body = "".join(f"{json_line(event)}\n" for event in events).encode("utf-8", "replace")
    try:
        answer = post(settings.AUDIT_WEBHOOK, body, "application/x-ndjson", headers=_signed(body))
    except Unreachable as why:
        raise NotAccepted(str(why)) from why
    if answer.status not in _ACCEPTED:
        raise NotAccepted(answer.refusal)


def _signed(body: bytes) -> Mapping[str, str]:
    secret = settings.AUDIT_WEBHOOK_SECRET
    return (
        {SIGNATURE: f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"} if secret else {}
    )


def _log(events: Sequence[AuditEvent]) -> None:
    """Send a message of RFC 5424 for each event, over TCP with the length before it (RFC 6587), or over UDP."""
    address = urlsplit(settings.AUDIT_SYSLOG)
    if address.scheme not in {"tcp", "udp"} or not address.hostname:
        raise NotAccepted(
            f"AUDIT_SYSLOG is {settings.AUDIT_SYSLOG!r}; write it like tcp://logs.example.com:514."
        )
    place = (address.hostname, address.port or _SYSLOG_PORT)
    messages = [_message(event) for event in events]
    try:
        if address.scheme == "udp":
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
                for message in messages:
                    sender.sendto(message, place)
        else:
            with socket.create_connection(place, _SYSLOG_SECONDS) as connection:
                connection.sendall(b"".join(b"%d %s" % (len(message), message) for message in messages))
    except OSError as why:
        raise NotAccepted(f"{settings.AUDIT_SYSLOG} cannot be reached: {why}") from why


def _message(event: AuditEvent) -> bytes:
    at = event.at.isoformat(timespec="milliseconds")
    head = f"<{_PRIORITY}>1 {at} {socket.gethostname() or '-'} time-machine - {event.action} - "
    return head.encode() + json_line(event).encode("utf-8", "replace")
