"""Signing keys in a store that the operator has programmed."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.utils.module_loading import import_string

from timemachine.core.pure.errors import TimeMachineError, Unavailable
from timemachine.evidence.key_stores.interface import KeyStore, NewKey


class OperatorsKeys:
    """The keys of the class with a dotted path, whatever errors it raises. Raises `Unavailable` if it cannot be created."""

    def __init__(self, path: str) -> None:
        self._path = path
        with self._explained():
            self._store: KeyStore = import_string(path)()

    def check(self) -> None:
        """Return if it says that it works."""
        with self._explained():
            self._store.check()

    def create(self, project: str) -> NewKey:
        """Create a key there."""
        with self._explained():
            return self._store.create(project)

    def public_key(self, name: str) -> bytes:
        """Return the public key."""
        with self._explained():
            return self._store.public_key(name)

    def sign(self, name: str, data: bytes) -> bytes:
        """Return the signature."""
        with self._explained():
            return self._store.sign(name, data)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except TimeMachineError:
            raise
        except Exception as why:  # an error of one store must not stop the seals of projects that use another
            raise Unavailable(
                f"The key store {self._path} does not work: {type(why).__name__}. What is sealed meanwhile is signed later. "
                "The log of the worker says more.",
                code="key_store_unavailable",
            ) from why
