"""Encrypts secrets that the database stores, under SECRET_KEY.

What was encrypted under an earlier SECRET_KEY can be read while that is in SECRET_KEY_FALLBACKS.
"""

from dataclasses import dataclass
from typing import Any

from cryptography.fernet import InvalidToken, MultiFernet
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from timemachine.core.pure.secret_ciphers import cipher_under


def cipher(purpose: bytes) -> MultiFernet:
    """Return the cipher for one purpose."""
    return cipher_under([settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS], purpose)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reencrypted:
    """How many secrets of a kind are encrypted under the current SECRET_KEY now, and how many cannot be read."""

    noun: str
    done: int
    unreadable: int


def reencrypt(rows: QuerySet[Any], column: str, *, purpose: bytes, noun: str) -> Reencrypted:
    """Encrypt a column again, under the current SECRET_KEY. What cannot be read stays as it is."""
    under = cipher(purpose)
    done = unreadable = 0
    for pk in rows.values_list("pk", flat=True):
        with transaction.atomic():
            row = rows.select_for_update().filter(pk=pk).values_list(column).first()
            if row is None:
                continue
            try:
                rows.filter(pk=pk).update(**{column: under.rotate(bytes(row[0]))})
                done += 1
            except InvalidToken:
                unreadable += 1
    return Reencrypted(noun=noun, done=done, unreadable=unreadable)
