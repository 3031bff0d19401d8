"""The stores of signing keys that `SIGNING_KEY_STORE` can name."""

from typing import Final

from timemachine.core.pure.errors import InvalidInput

DATABASE: Final = "database"
PKCS11: Final = "pkcs11"


def check_key_store(name: str) -> None:
    """Raise `InvalidInput` unless this is a store, or looks like the dotted path of a class."""
    parts = name.split(".")
    if name in (DATABASE, PKCS11) or (len(parts) > 1 and all(part.isidentifier() for part in parts)):
        return
    raise InvalidInput(
        f"SIGNING_KEY_STORE is {name!r}. Set it to {DATABASE}, {PKCS11}, or the dotted path of a class."
    )


def place_of(store: str) -> str:
    """Return where the keys of a store are, to follow "in"."""
    return {DATABASE: "the database, encrypted", PKCS11: "a PKCS#11 token"}.get(
        store, f"the key store {store}"
    )
