"""A project's Ed25519 keys: created on first use, encrypted under SECRET_KEY, replaced by administrators."""

from typing import Any
from uuid import UUID

from cryptography.exceptions import InvalidSignature
from cryptography.fernet import InvalidToken
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from django.db import transaction
from django.db.models import QuerySet

from timemachine.core.accounts.models import Project
from timemachine.core.database import lock_until_commit
from timemachine.core.encryption import Reencrypted, cipher, reencrypt
from timemachine.core.pure.clock import now
from timemachine.core.pure.content import sha256_hex
from timemachine.core.pure.errors import Unavailable
from timemachine.core.pure.secret_ciphers import SIGNING_KEYS
from timemachine.evidence.models import SigningKey
from timemachine.evidence.pure.dsse import Signed, pre_authentication_encoding


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
    """Sign bytes with that key. Raises `Unavailable` if SECRET_KEY has changed since the key was created."""
    signature = sign_bytes(key, pre_authentication_encoding(payload_type, payload))
    return Signed(payload_type=payload_type, payload=payload, key=key.fingerprint, signature=signature)


def sign_bytes(key: SigningKey, data: bytes) -> bytes:
    """Return the key's signature over these bytes. Raises `Unavailable` as `sign` does."""
    return _private_key(key).sign(data)


def is_readable(key: SigningKey) -> bool:
    """Return whether the key can still sign, that is, whether its SECRET_KEY is known."""
    try:
        _private_key(key)
    except Unavailable:
        return False
    return True


def reencrypt_keys() -> Reencrypted:
    """Encrypt the keys under the current SECRET_KEY. They stay the same keys, with the same fingerprints."""
    return reencrypt(SigningKey.objects.all(), "private_key", purpose=SIGNING_KEYS, noun="signing key")


def projects_with_unreadable_key(projects: QuerySet[Any]) -> list[UUID]:
    """Return those of the projects (a query of ids) whose key in use cannot sign. One query."""
    found = SigningKey.objects.filter(replaced_at=None, project__in=projects)
    return [key.project_id for key in found if not is_readable(key)]


def is_signed(key: SigningKey, signed: Signed) -> bool:
    """Return whether the signature is that key's over exactly these bytes."""
    try:
        Ed25519PublicKey.from_public_bytes(bytes(key.public_key)).verify(
            signed.signature, pre_authentication_encoding(signed.payload_type, signed.payload)
        )
    except InvalidSignature:
        return False
    return True


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
    private = Ed25519PrivateKey.generate()
    public = private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    raw = private.private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())
    return SigningKey.objects.create(
        project=project,
        fingerprint=fingerprint(public),
        public_key=public,
        private_key=cipher(SIGNING_KEYS).encrypt(raw),
        created_by=by and by[:254],
    )


def _private_key(key: SigningKey) -> Ed25519PrivateKey:
    try:
        raw = cipher(SIGNING_KEYS).decrypt(bytes(key.private_key))
    except InvalidToken as why:
        raise Unavailable(
            "The key that signs evidence cannot be read because SECRET_KEY has changed since it was created. "
            "Add the earlier value to SECRET_KEY_FALLBACKS, or replace the signing key under Sharing, Evidence key and log.",
            code="signing_key_unreadable",
        ) from why
    return Ed25519PrivateKey.from_private_bytes(raw)
