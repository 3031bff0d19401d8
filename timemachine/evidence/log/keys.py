"""A project's Ed25519 keys: created on first use in the chosen store, replaced by administrators."""

from typing import Any
from uuid import UUID

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from timemachine.core.accounts.models import Project
from timemachine.core.database import lock_until_commit
from timemachine.core.encryption import Reencrypted, reencrypt
from timemachine.core.pure.clock import now
from timemachine.core.pure.content import sha256_hex
from timemachine.core.pure.errors import Unavailable
from timemachine.core.pure.secret_ciphers import SIGNING_KEYS
from timemachine.evidence.key_stores import key_store
from timemachine.evidence.models import SigningKey
from timemachine.evidence.pure.dsse import Signed, pre_authentication_encoding
from timemachine.evidence.pure.key_store_names import DATABASE


def key_in_use(project: Project) -> SigningKey:
    """Return the key that signs now; the project's first key is created here."""
    return existing_key(project) or _first_key(project)


def existing_key(project: Project) -> SigningKey | None:
    """Return the key that signs now, or None if nothing has been sealed yet. One query."""
    return SigningKey.objects.filter(project=project, replaced_at=None).first()


def earlier_keys(project: Project) -> list[SigningKey]:
    """Return the replaced keys, the most recent first. What they signed can still be verified."""
    return list(SigningKey.objects.filter(project=project).exclude(replaced_at=None).order_by("-replaced_at"))


@transaction.atomic
def replace_key(project: Project, *, by: str) -> tuple[SigningKey, SigningKey]:
    """Create a new signing key and return it with the old one, which still verifies what it signed."""
    lock_until_commit(f"signing key of {project.pk}")
    old = key_in_use(project)
    SigningKey.objects.filter(pk=old.pk).update(replaced_at=now(), replaced_by=by[:254])
    return _create_key(project, by=by), old


def sign(key: SigningKey, payload_type: str, payload: bytes) -> Signed:
    """Sign bytes with that key. Raises `Unavailable` if its store cannot, for example because SECRET_KEY has changed."""
    signature = sign_bytes(key, pre_authentication_encoding(payload_type, payload))
    return Signed(payload_type=payload_type, payload=payload, key=key.fingerprint, signature=signature)


def sign_bytes(key: SigningKey, data: bytes) -> bytes:
    """Return the key's signature over these bytes, which it verifies. Raises `Unavailable` as `sign` does."""
    signature = key_store(key.store).sign(_name(key), data)
    if not _verifies(key, signature, data):
        raise _other_key(key)
    return signature


def why_unusable(key: SigningKey) -> str | None:
    """Return why the key cannot sign now and what to do, None if it can."""
    try:
        if key_store(key.store).public_key(_name(key)) != bytes(key.public_key):
            raise _other_key(key)
    except Unavailable as why:
        return why.message
    return None


def why_store_unusable(store: str) -> str | None:
    """Return why a key store does not work now and what to do, None if it does."""
    try:
        key_store(store).check()
    except Unavailable as why:
        return why.message
    return None


def stores_outside_the_database() -> list[str]:
    """Return the stores of keys that sign, and of new keys, other than the database. One query."""
    used = SigningKey.objects.filter(replaced_at=None).order_by().values_list("store", flat=True).distinct()
    return sorted({*used, settings.SIGNING_KEY_STORE} - {DATABASE})


def reencrypt_keys() -> Reencrypted:
    """Encrypt the keys under the current SECRET_KEY. They stay the same keys, with the same fingerprints."""
    stored = SigningKey.objects.filter(store=DATABASE)
    return reencrypt(stored, "private_key", purpose=SIGNING_KEYS, noun="signing key")


def projects_with_unusable_key(projects: QuerySet[Any]) -> list[UUID]:
    """Return those of the projects (a query of ids) whose key in use cannot sign. One query.

    The keys of a store that does not work are not tried one by one: each might wait for it.
    """
    found = list(SigningKey.objects.filter(replaced_at=None, project__in=projects))
    broken = {store for store in {key.store for key in found} if why_store_unusable(store)}
    return [key.project_id for key in found if key.store in broken or why_unusable(key)]


def is_signed(key: SigningKey, signed: Signed) -> bool:
    """Return whether the signature is that key's over exactly these bytes."""
    return _verifies(key, signed.signature, pre_authentication_encoding(signed.payload_type, signed.payload))


def fingerprint(public_key: bytes) -> str:
    """Return `ed25519:` and the SHA-256 in hex of the key in DER (RFC 8410), as OpenSSL writes it."""
    der = Ed25519PublicKey.from_public_bytes(public_key).public_bytes(
        Encoding.DER, PublicFormat.SubjectPublicKeyInfo
    )
    return f"ed25519:{sha256_hex(der)}"


def pem(public_key: bytes) -> str:
    """Return the public key in PEM."""
    found = Ed25519PublicKey.from_public_bytes(public_key)
    return found.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


@transaction.atomic
def _first_key(project: Project) -> SigningKey:
    lock_until_commit(f"signing key of {project.pk}")
    return existing_key(project) or _create_key(project)


def _create_key(project: Project, *, by: str | None = None) -> SigningKey:
    store = settings.SIGNING_KEY_STORE
    made = key_store(store).create(str(project.pk))
    kept = {"private_key": made.name.encode()} if store == DATABASE else {"name": made.name}
    return SigningKey.objects.create(
        project=project,
        fingerprint=fingerprint(made.public_key),
        public_key=made.public_key,
        store=store,
        created_by=by and by[:254],
        **kept,
    )


def _name(key: SigningKey) -> str:
    """Return what its store calls the key."""
    return key.name or bytes(key.private_key or b"").decode(errors="replace")


def _verifies(key: SigningKey, signature: bytes, data: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(bytes(key.public_key)).verify(signature, data)
    except InvalidSignature:
        return False
    return True


def _other_key(key: SigningKey) -> Unavailable:
    return Unavailable(
        f"What the key store {key.store} calls {_name(key)} is another key than {key.fingerprint}. "
        "Connect the store that has it, or replace the key under Sharing, Evidence key and log.",
        code="key_store_unavailable",
    )
