"""Signing keys outside the database: in a PKCS#11 token, and in a store of the operator's own."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pkcs11
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.test import Client
from pytest_django.fixtures import Settings

from tests.builders import recorded_session
from tests.evidence.sessions import compared_with_its_seal, long_session, message
from tests.evidence.tokens import PIN, Token, token_in
from tests.web.people import browser_of
from timemachine.core.accounts.models import ADMIN, Project
from timemachine.core.pure.errors import InvalidInput, Unavailable
from timemachine.evidence.bundles import exporting
from timemachine.evidence.key_stores import key_store
from timemachine.evidence.key_stores.interface import NewKey
from timemachine.evidence.log import keys, project_log
from timemachine.evidence.models import LogCheckpoint, LogEntry, Seal, SealCheckpoint, SigningKey
from timemachine.evidence.pure.key_store_names import check_key_store
from timemachine.evidence.sealing import due, seals
from timemachine.recording.sessions.commands import append
from timemachine.recording.sessions.models import Session
from timemachine.verifier import tm_verify

pytestmark = pytest.mark.django_db
OWN = f"{__name__}.OwnKeys"


@pytest.fixture
def administrator(project: Project) -> Client:
    return browser_of(project, ADMIN)


@pytest.fixture
def token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Token]:
    with token_in(tmp_path, monkeypatch) as made:
        yield made


def exported(session: Session, target: Path, key: str) -> list[str]:
    """Return the problems that the verifier finds in the session's evidence."""
    with target.open("wb") as opened:
        exporting.write_session(opened, session)
    report = tm_verify.verify(str(target), key)
    return [each["code"] for each in report.problems]


def signing_check() -> dict[str, object]:
    """Return what the health check, and so `timemachine doctor`, says of the stores."""
    answer = Client().get("/health/ready")
    assert answer.status_code == 200
    found: dict[str, object] = answer.json()["checks"]["signing"]
    return found


def test_a_key_in_a_token_signs_evidence_and_cannot_leave_it(
    project: Project, token: Token, settings: Settings, tmp_path: Path
) -> None:
    token.use(settings)
    session = recorded_session(project)
    seals.seal_session(session.id)
    key = SigningKey.objects.get()
    assert (key.store, key.private_key) == ("pkcs11", None)
    assert exported(session, tmp_path / "evidence.zip", key.fingerprint) == []
    assert compared_with_its_seal(session).problems == []
    assert signing_check() == {"ok": True, "message": "The key store pkcs11 signs evidence."}
    opened = pkcs11.lib(str(token.module)).get_token(token_label=token.label).open()
    found = opened.get_key(object_class=pkcs11.ObjectClass.PRIVATE_KEY, label=key.name)
    attributes = (pkcs11.Attribute.EXTRACTABLE, pkcs11.Attribute.SENSITIVE)
    assert [found[each] for each in attributes] == [False, True]


def test_evidence_survives_moving_to_a_token_and_back(
    project: Project, token: Token, settings: Settings, tmp_path: Path
) -> None:
    session = long_session(project, 2)
    seals.seal_session(session.id)
    fingerprints = [keys.key_in_use(project).fingerprint]
    for store in ("pkcs11", "database"):
        token.use(settings)
        settings.SIGNING_KEY_STORE = store
        append(session.id, [message(f"under the key before {store}")])
        seals.seal_session(session.id)
        assert keys.key_in_use(project).fingerprint == fingerprints[-1]  # a setting alone changes nothing
        fingerprints.append(project_log.replace_key(project, by="ada@example.org").fingerprint)
        append(session.id, [message(f"in {store}")])
        seals.seal_session(session.id)
    again = keys.reencrypt_keys()
    assert (again.done, again.unreadable) == (2, 0)
    assert [each.store for each in SigningKey.objects.order_by("pk")] == ["database", "pkcs11", "database"]
    signed = SealCheckpoint.objects.order_by("pk").values_list("key__fingerprint", flat=True)
    assert list(dict.fromkeys(signed)) == fingerprints
    assert exported(session, tmp_path / "evidence.zip", fingerprints[-1]) == []
    assert exported(session, tmp_path / "old.zip", fingerprints[0]) == ["key"]
    assert compared_with_its_seal(session).problems == []
    for new, old in zip(
        fingerprints[1:], fingerprints, strict=False
    ):  # the old key has signed the state that names the new one
        entry = project_log.entries_with(project.pk, f'"replaces":"{old}"').get()
        assert b"unreadable" not in bytes(entry.entry)
        states = LogCheckpoint.objects.filter(project=project, size=entry.index + 1)
        assert set(states.values_list("key__fingerprint", flat=True)) == {old, new}


def test_what_is_sealed_while_the_token_is_away_is_signed_when_it_is_back(
    project: Project, other_project: Project, token: Token, settings: Settings, tmp_path: Path
) -> None:
    seals.seal_session(recorded_session(other_project, key="first").id)  # it has a key in the database
    token.use(settings)
    seals.seal_session(recorded_session(project, key="first").id)
    session, other = recorded_session(project, key="second"), recorded_session(other_project, key="second")
    with token.away():
        with pytest.raises(Unavailable, match="What is sealed meanwhile is signed later") as refused:
            seals.seal_session(session.id)
        assert refused.value.code == "key_store_unavailable"
        waiting = Seal.objects.get(session=session)
        assert (waiting.size, waiting.signed_size) == (session.last_sequence + 1, 0)
        assert due.sessions() == [other.id]
        check = signing_check()
        assert not check["ok"]
        assert "The token evidence" in str(check["message"])
    assert due.sessions() == [session.id, other.id]
    seals.seal_session(session.id)
    waiting.refresh_from_db()
    assert waiting.signed_size == waiting.size
    assert exported(session, tmp_path / "evidence.zip", keys.key_in_use(project).fingerprint) == []
    assert signing_check()["ok"]


def test_a_project_whose_token_is_lost_replaces_its_key(
    project: Project, token: Token, settings: Settings, tmp_path: Path
) -> None:
    token.use(settings)
    session = recorded_session(project)
    seals.seal_session(session.id)
    settings.SIGNING_KEY_STORE = "database"
    with token.away():
        new = project_log.replace_key(project, by="ada@example.org")
        assert b'"replaced":"unreadable"' in bytes(LogEntry.objects.latest("index").entry)
        assert exported(session, tmp_path / "evidence.zip", new.fingerprint) == []


def test_a_wrong_pin_is_tried_once(project: Project, token: Token, settings: Settings) -> None:
    token.use(settings)
    settings.PKCS11_PIN = "4321"
    with pytest.raises(Unavailable, match=r"refuses PKCS11_PIN\. Correct it and restart"):
        keys.key_in_use(project)
    pkcs11.lib(str(token.module)).get_token(token_label=token.label).open(rw=True, user_pin=PIN).set_pin(
        PIN, "4321"
    )
    with pytest.raises(Unavailable, match="not tried again"):
        keys.key_in_use(project)
    assert "4321" not in str(signing_check())
    assert not signing_check()["ok"]


def test_what_is_wrong_with_a_token_is_said(
    project: Project, token: Token, settings: Settings, administrator: Client
) -> None:
    token.use(settings)
    key = keys.key_in_use(project)
    page = administrator.get("/evidence/").text
    assert "It is in a PKCS#11 token" in page
    assert str(key.name) in page
    SigningKey.objects.update(name="another")
    assert "does not have the signing key" in administrator.get("/evidence/").text
    SigningKey.objects.update(name=key.name)
    other = key_store("pkcs11").create(str(project.pk))
    SigningKey.objects.update(name=other.name)
    assert "is another key than" in administrator.get("/evidence/").text
    for name, value, why in (
        ("PKCS11_TOKEN", "elsewhere", "There is no token elsewhere. Connect it, or correct PKCS11_TOKEN"),
        ("PKCS11_MODULE", "/nowhere.so", "The library in PKCS11_MODULE cannot be loaded."),
        ("PKCS11_PIN", "", "Set PKCS11_MODULE, PKCS11_TOKEN and PKCS11_PIN."),
    ):
        token.use(settings)
        setattr(settings, name, value)
        page = administrator.get("/evidence/").text
        assert "Nothing can be signed now." in page
        assert why in page
        assert why in str(signing_check()["message"])


def test_the_page_says_that_a_new_key_would_be_in_another_store(
    project: Project, settings: Settings, administrator: Client
) -> None:
    settings.SIGNING_KEY_STORE = OWN
    OwnKeys.problem = None
    SigningKey.objects.all().delete()
    settings.SIGNING_KEY_STORE = "database"
    keys.key_in_use(project)
    settings.SIGNING_KEY_STORE = OWN
    page = " ".join(administrator.get("/evidence/").text.split())
    assert (
        f"It is in the database, encrypted. New keys are created in the key store {OWN}. Replace the key to use one."
        in page
    )


class OwnKeys:
    """A store of an operator, in memory."""

    made: dict[str, Ed25519PrivateKey] = {}  # noqa: RUF012
    lengths: list[int] = []  # noqa: RUF012
    problem: Exception | None = None

    def check(self) -> None:
        if self.problem:
            raise self.problem

    def create(self, project: str) -> NewKey:
        self.check()
        name = f"vault/{project}"
        self.made[name] = Ed25519PrivateKey.generate()
        return NewKey(public_key=self.made[name].public_key().public_bytes_raw(), name=name)

    def public_key(self, name: str) -> bytes:
        self.check()
        return self.made[name].public_key().public_bytes_raw()

    def sign(self, name: str, data: bytes) -> bytes:
        self.check()
        self.lengths.append(len(data))
        return self.made[name].sign(data)


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> type[OwnKeys]:
    monkeypatch.setattr(OwnKeys, "made", {})
    monkeypatch.setattr(OwnKeys, "lengths", [])
    monkeypatch.setattr(OwnKeys, "problem", None)
    settings.SIGNING_KEY_STORE = OWN
    return OwnKeys


def test_a_class_of_the_operator_keeps_the_keys(project: Project, own: type[OwnKeys], tmp_path: Path) -> None:
    session = recorded_session(project)
    seals.seal_session(session.id)
    key = SigningKey.objects.get()
    assert (key.store, key.name) == (OWN, f"vault/{project.pk}")
    assert max(own.lengths) < 1_000
    assert exported(session, tmp_path / "evidence.zip", key.fingerprint) == []
    assert max(own.lengths) < 4_096  # AWS KMS signs no more


@pytest.mark.parametrize("problem", [Unavailable("The vault is sealed."), OSError("no route to 10.0.0.1")])
def test_a_store_that_fails_stops_only_what_it_signs(
    project: Project, other_project: Project, own: type[OwnKeys], settings: Settings, problem: Exception
) -> None:
    session = recorded_session(project)
    keys.key_in_use(project)
    settings.SIGNING_KEY_STORE = "database"
    keys.key_in_use(other_project)
    other = recorded_session(other_project)
    own.problem = problem
    with pytest.raises(Unavailable, match=r"The vault is sealed\.|does not work: OSError\. What is sealed"):
        seals.seal_session(session.id)
    assert due.sessions() == [other.id]
    assert "10.0.0.1" not in str(signing_check())
    own.problem = None
    assert due.sessions() == [session.id, other.id]


def test_a_signature_of_another_key_is_not_stored(project: Project, own: type[OwnKeys]) -> None:
    session = recorded_session(project)
    key = keys.key_in_use(project)
    own.made[str(key.name)] = Ed25519PrivateKey.generate()
    with pytest.raises(Unavailable, match="is another key than ed25519:"):
        seals.seal_session(session.id)
    assert not SealCheckpoint.objects.exists()
    assert due.sessions() == []


def test_a_class_that_cannot_be_imported_is_named(project: Project, settings: Settings) -> None:
    settings.SIGNING_KEY_STORE = "nowhere.Keys"
    with pytest.raises(Unavailable, match=r"The key store nowhere\.Keys does not work: ModuleNotFoundError"):
        keys.key_in_use(project)


@pytest.mark.parametrize("name", ["hsm", "", ".", "bank.", "bank.my-keys", "bank..Keys", "1.2"])
def test_what_names_no_key_store_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match="Set it to database, pkcs11, or the dotted path of a class"):
        check_key_store(name)


@pytest.mark.parametrize("name", ["database", "pkcs11", "bank.keys.Vault"])
def test_a_key_store_is_named_by_a_word_or_the_path_of_a_class(name: str) -> None:
    check_key_store(name)


@pytest.mark.parametrize(
    ("environment", "why"),
    [
        (
            {"SIGNING_KEY_STORE": "hsm"},
            "SIGNING_KEY_STORE is 'hsm'. Set it to database, pkcs11, or the dotted path",
        ),
        ({"SIGNING_KEY_STORE": "pkcs11"}, "Set PKCS11_MODULE, PKCS11_TOKEN and PKCS11_PIN as well."),
        ({"PKCS11_PIN_FILE": "/nowhere/pin"}, "PKCS11_PIN_FILE names /nowhere/pin, which cannot be read"),
    ],
)
def test_a_program_with_a_wrong_key_store_does_not_start(environment: dict[str, str], why: str) -> None:
    started = subprocess.run(
        [sys.executable, "-c", "from timemachine.config import settings"],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (started.returncode, started.stderr.count("\n")) == (1, 1)
    assert why in started.stderr
