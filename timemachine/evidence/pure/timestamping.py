"""Timestamps of RFC 3161: the request to an authority, and whether its answer matches. Whether to trust it is
up to those with its certificate.
"""

from datetime import datetime
from typing import Final

from rfc3161_client import PKIStatus, TimeStampRequest, TimestampRequestBuilder, decode_timestamp_response

from timemachine.evidence.pure.der import with_sorted_certificates

QUERY_TYPE: Final = "application/timestamp-query"
_GRANTED: Final = (PKIStatus.GRANTED, PKIStatus.GRANTED_WITH_MODS)


def timestamp_request(data: bytes) -> TimeStampRequest:
    """Return a request for a timestamp over the SHA-512 of these bytes, with a nonce."""
    return TimestampRequestBuilder().data(data).build()


def timestamp_of(answer: bytes) -> datetime:
    """Return when an authority answered, by its clock. The answer must have been accepted before."""
    return decode_timestamp_response(with_sorted_certificates(answer)).tst_info.gen_time


def refusal(request: TimeStampRequest, answer: bytes) -> str | None:
    """Return why the answer is not a timestamp of what was requested, or None if it is."""
    try:
        found = decode_timestamp_response(with_sorted_certificates(answer))
        if found.status not in _GRANTED:
            return f"The authority gave no timestamp: {'; '.join(found.status_string) or f'status {found.status}'}."
        imprint, nonce = found.tst_info.message_imprint.message, found.tst_info.nonce
    except (ValueError, KeyError):
        return "The authority's answer is not a timestamp (RFC 3161)."
    if imprint != request.message_imprint.message or nonce != request.nonce:
        return "The authority's answer is a timestamp of something else."
    return None
