"""Where private signing keys are kept: the database, a PKCS#11 token, or a class of the operator's own.

`SIGNING_KEY_STORE` names the store of new keys. Each key remembers its own, so that changing the setting changes nothing until
the key is replaced.
"""

from functools import cache
from typing import Final

from django.conf import settings

from timemachine.core.pure.errors import Unavailable
from timemachine.evidence.key_stores.database import DatabaseKeys
from timemachine.evidence.key_stores.interface import KeyStore
from timemachine.evidence.key_stores.operators import OperatorsKeys
from timemachine.evidence.pure.key_store_names import DATABASE, PKCS11

PKCS11_SETTINGS: Final = ("PKCS11_MODULE", "PKCS11_TOKEN", "PKCS11_PIN")


def key_store(name: str) -> KeyStore:
    """Return a store by name. Raises `Unavailable` if its settings, or what it needs to be installed, are missing."""
    if name == DATABASE:
        return DatabaseKeys()
    if name == PKCS11:
        return _token(*(getattr(settings, each) for each in PKCS11_SETTINGS))
    return _of_the_operator(name)


@cache
def _token(module: str, label: str, pin: str) -> KeyStore:
    if not (module and label and pin):
        raise Unavailable(
            "The signing key is in a PKCS#11 token. Set PKCS11_MODULE, PKCS11_TOKEN and PKCS11_PIN.",
            code="key_store_unavailable",
        )
    try:
        from timemachine.evidence.key_stores.token import TokenKeys
    except ImportError as why:
        raise Unavailable(
            "The package python-pkcs11, which PKCS#11 tokens need, is not installed. Install timemachine[pkcs11].",
            code="key_store_unavailable",
        ) from why
    return TokenKeys(module, label, pin)


@cache
def _of_the_operator(path: str) -> KeyStore:
    return OperatorsKeys(path)
