"""Timestamps of RFC 3161: what an authority is asked, and whether its answer is one. Whether to trust it is for who holds its certificate."""

from datetime import datetime
from typing import Final

from rfc3161_client import PKIStatus, TimeStampRequest, TimestampRequestBuilder, decode_timestamp_response

from timemachine.evidence.pure.der import with_sorted_certificates

QUERY_TYPE: Final = "application/timestamp-query"
_GRANTED: Final = (PKIStatus.GRANTED, PKIStatus.GRANTED_WITH_MODS)


def query(data: bytes) -> TimeStampRequest:
    """A request for a timestamp over the SHA-512 of these bytes, with a nonce, and for the authority's certificate."""
    return TimestampRequestBuilder().data(data).build()


def time_told(answer: bytes) -> datetime:
    """When an authority says that it answered, by its clock. Of an answer that was taken before."""
    return decode_timestamp_response(with_sorted_certificates(answer)).tst_info.gen_time


def refusal(asked: TimeStampRequest, answer: bytes) -> str | None:
    """Why the answer is no timestamp of what was asked for, in words; None where it is one."""
    try:
        found = decode_timestamp_response(with_sorted_certificates(answer))
        if found.status not in _GRANTED:
            return f"It gave no timestamp: {'; '.join(found.status_string) or f'status {found.status}'}."
        told, nonce = found.tst_info.message_imprint.message, found.tst_info.nonce
    except (ValueError, KeyError):
        return "Its answer is no timestamp: it has not the form of one (RFC 3161)."
    if told != asked.message_imprint.message or nonce != asked.nonce:
        return "Its answer is a timestamp of something else."
    return None
