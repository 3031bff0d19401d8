"""Signing keys in a PKCS#11 token, such as a hardware security module."""

from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from typing import Final, cast
from uuid import uuid4

import pkcs11
from pkcs11 import Attribute, Key, KeyType, Mechanism, ObjectClass, Session
from pkcs11 import exceptions as errors
from pkcs11.types import SignMixin
from pkcs11.util.ec import encode_named_curve_parameters

from timemachine.core.pure.errors import Unavailable
from timemachine.evidence.key_stores.interface import NewKey

_ED25519: Final = encode_named_curve_parameters("1.3.101.112")  # RFC 8410
_PUBLIC_KEY_BYTES: Final = 32
_PATIENCE: Final = 2.0
"""How many seconds a thread waits for others that use the token. A module that hangs must not take every thread."""
_LOCKED_OUT: Final = (errors.PinIncorrect, errors.PinInvalid, errors.PinLenRange, errors.PinExpired)
_SENTENCES: Final[dict[tuple[type[errors.PKCS11Error], ...], str]] = {
    _LOCKED_OUT: "The token {token} refuses PKCS11_PIN. Correct it and restart; until then it is not tried again, "
    "because tokens lock after several attempts.",
    (errors.PinLocked,): "The token {token} has locked its PIN. Unlock it and restart.",
    (errors.NoSuchToken,): "There is no token {token}. Connect it, or correct PKCS11_TOKEN and restart.",
    (
        errors.MultipleTokensReturned,
    ): "Several tokens are named {token}. Rename one, or set PKCS11_TOKEN to another one.",
    (errors.NoSuchKey,): "The token {token} does not have the signing key. Connect the token that has it, "
    "or replace the key under Sharing, Evidence key and log.",
    (errors.MechanismInvalid, errors.FunctionNotSupported): "The token {token} has no Ed25519 keys (EdDSA), "
    "which evidence needs.",
}
_OTHERWISE: Final = "The token {token} does not work ({error}). Connect it, or see the log of its library."
_LATER: Final = "What is sealed meanwhile is signed later."


class TokenKeys:
    """The keys of one token, which one thread at a time uses: not every module can do more.

    A wrong PIN is not tried again before a restart, because tokens lock themselves after several attempts.
    """

    def __init__(self, module: str, token: str, pin: str) -> None:
        self._module, self._token, self._pin = module, token, pin
        self._lock = Lock()
        self._session: Session | None = None
        self._refused: Unavailable | None = None

    def check(self) -> None:
        """Return if the token is there."""
        self._use(lambda session: session.token.slot.get_token())

    def create(self, project: str) -> NewKey:
        """Create a key that cannot be extracted, in the token."""
        name = f"timemachine-{project}-{uuid4().hex[:8]}"
        public = self._use(lambda session: _create(session, name))
        return NewKey(public_key=public, name=name)

    def public_key(self, name: str) -> bytes:
        """Return the public key, if the private key is there too."""

        def read(session: Session) -> bytes:
            _private_key(session, name)
            return _point(session.get_key(object_class=ObjectClass.PUBLIC_KEY, label=name))

        return self._use(read)

    def sign(self, name: str, data: bytes) -> bytes:
        """Return the signature."""
        return self._use(
            lambda session: bytes(_private_key(session, name).sign(data, mechanism=Mechanism.EDDSA))
        )

    def _use[T](self, action: Callable[[Session], T]) -> T:
        """Run an action in the open session, and in a new one if that fails: the token may have been away."""
        if not self._lock.acquire(timeout=_PATIENCE):
            raise _unavailable(
                f"The token {self._token} does not respond. {_LATER} If it stays so, see the log of its library."
            )
        try:
            if self._session is not None:
                try:
                    return action(self._session)
                except errors.PKCS11Error:
                    self._close()
            self._session = self._opened()
            return action(self._session)
        except errors.PKCS11Error as why:
            self._close()
            raise _unavailable(self._sentence(why)) from why
        finally:
            self._lock.release()

    def _opened(self) -> Session:
        if self._refused is not None:
            raise self._refused
        try:
            return (
                pkcs11.lib(self._module).get_token(token_label=self._token).open(rw=True, user_pin=self._pin)
            )
        except (*_LOCKED_OUT, errors.PinLocked) as why:
            self._refused = _unavailable(self._sentence(why))
            raise

    def _close(self) -> None:
        """Forget the session and what the module knows of its slots: a token that comes back is a new one."""
        self._session = None
        with suppress(errors.PKCS11Error):
            pkcs11.lib(self._module).finalize()

    def _sentence(self, why: errors.PKCS11Error) -> str:
        """Return what is wrong and what to do."""
        if str(why).startswith("OS exception"):  # the class of every error
            said = (
                "The library in PKCS11_MODULE cannot be loaded. Install it, or correct the path and restart."
            )
        else:
            fitting = (words for kinds, words in _SENTENCES.items() if isinstance(why, kinds))
            said = next(fitting, _OTHERWISE).format(token=self._token, error=type(why).__name__)
        return f"{said} {_LATER}"


def _create(session: Session, name: str) -> bytes:
    curve = session.create_domain_parameters(KeyType.EC_EDWARDS, {Attribute.EC_PARAMS: _ED25519}, local=True)
    private_only = {Attribute.SENSITIVE: True, Attribute.EXTRACTABLE: False}
    public, _private = curve.generate_keypair(
        mechanism=Mechanism.EC_EDWARDS_KEY_PAIR_GEN,
        label=name,
        id=name.encode(),
        store=True,
        private_template=private_only,
    )
    return _point(public)


def _private_key(session: Session, name: str) -> SignMixin:
    return cast("SignMixin", session.get_key(object_class=ObjectClass.PRIVATE_KEY, label=name))


def _point(public: Key) -> bytes:
    """Return the 32 bytes of a public key: some tokens wrap them as a DER string, as PKCS#11 2.40 says."""
    point: bytes = public[Attribute.EC_POINT]
    return point[-_PUBLIC_KEY_BYTES:]


def _unavailable(message: str) -> Unavailable:
    return Unavailable(message, code="key_store_unavailable")
