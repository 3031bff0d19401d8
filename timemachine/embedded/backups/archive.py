"""The file of a backup: a ZIP with the dump of the database, the private keys, and a manifest with their SHA-256."""

import hashlib
import json
import os
import tempfile
import time
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, Final

from pydantic import TypeAdapter

from timemachine.core.pure.errors import Conflict, InvalidInput
from timemachine.embedded.backups.system_errors import system_errors

FORMAT: Final = 1
DATABASE: Final = "database.dump"
SECRET_KEYS: Final = "secret-key"  # noqa: S105  # the name of a file
LOCAL_KEY: Final = "local-key"
_MANIFEST: Final = "manifest.json"
_PARTS: Final = {DATABASE, SECRET_KEYS, LOCAL_KEY}
_CHUNK: Final = 1024 * 1024
_MOST_MANIFEST_BYTES: Final = 4 * 1024 * 1024
_UNREADABLE: Final = (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError, ValueError)
"""What `zipfile` raises for damaged and unsuitable files."""
_ENCRYPTED: Final = 1
_NO_BACKUP: Final = "There is no backup."
_EXISTS: Final = "{} exists already. Choose another name."
_OTHER_FILE: Final = "{} is not a backup of Time Machine, or it is incomplete. Nothing was restored."


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A file in the backup."""

    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a backup contains. `rows` counts the rows of each table at the moment of the dump."""

    format: int
    created_at: str
    timemachine: str
    postgres: int
    dumped_with: int
    migrations: list[str]
    rows: dict[str, int]
    parts: dict[str, Part]

    @property
    def has_keys(self) -> bool:
        """Whether the backup has the secret key."""
        return SECRET_KEYS in self.parts


class Writer:
    """A backup that is being written."""

    def __init__(self, archive: zipfile.ZipFile, file: Path) -> None:
        self._archive, self._file = archive, file
        self.parts: dict[str, Part] = {}

    def add(self, name: str, content: IO[bytes]) -> None:
        """Copy a stream into the file."""
        hashed, size = hashlib.sha256(), 0
        with (
            system_errors(f"write {self._file}", _NO_BACKUP),
            self._archive.open(_private(name), "w", force_zip64=True) as part,
        ):
            while chunk := content.read(_CHUNK):
                part.write(chunk)
                hashed.update(chunk)
                size += len(chunk)
        self.parts[name] = Part(bytes=size, sha256=hashed.hexdigest())

    def finish(self, manifest: Manifest) -> None:
        """Add the manifest."""
        with system_errors(f"write {self._file}", _NO_BACKUP):
            self._archive.writestr(_private(_MANIFEST), json.dumps(asdict(manifest), indent=2) + "\n")


@contextmanager
def new_backup(file: Path) -> Iterator[Writer]:
    """Write a file that only its owner can read. It has its name when it is complete and on the disk.

    Raises `Conflict` if there is such a file, and `Unavailable` if it cannot be written.
    """
    if file.exists():
        raise Conflict(_EXISTS.format(file))
    with system_errors(f"write {file}", _NO_BACKUP):
        descriptor, name = tempfile.mkstemp(prefix=f"{file.name}.", suffix=".part", dir=file.parent)
    draft, target = Path(name), os.fdopen(descriptor, "w+b")
    archive = zipfile.ZipFile(target, "w")
    try:
        yield Writer(archive, file)
        with system_errors(f"write {file}", _NO_BACKUP):
            archive.close()
            target.flush()
            os.fsync(descriptor)
            _give_name(draft, file)
    finally:
        with suppress(OSError, ValueError):  # if it failed, the rest does not matter
            archive.close()
        with suppress(OSError):
            target.close()
        draft.unlink(missing_ok=True)


def _give_name(draft: Path, file: Path) -> None:
    """Rename the draft, in one step. Raises `Conflict` if there is such a file by now."""
    try:
        file.hardlink_to(draft)
    except FileExistsError as why:
        raise Conflict(_EXISTS.format(file)) from why
    except OSError:  # exFAT and many shares have no hard links
        if file.exists():
            raise Conflict(_EXISTS.format(file)) from None
        draft.rename(file)


class Reader:
    """A complete backup."""

    def __init__(self, archive: zipfile.ZipFile, manifest: Manifest) -> None:
        self._archive = archive
        self.manifest = manifest

    def open(self, name: str) -> IO[bytes]:
        """Open a part."""
        return self._archive.open(name)

    def text(self, name: str) -> str:
        """Return the content of a key, empty if the backup does not have it."""
        return self._archive.read(name).decode() if name in self.manifest.parts else ""


@contextmanager
def checked_backup(file: Path) -> Iterator[Reader]:
    """Open a backup in which every part has the SHA-256 of the manifest. Raises `InvalidInput` for any other file."""
    try:
        archive = zipfile.ZipFile(file)
    except OSError as why:
        raise InvalidInput(f"Cannot read {file} ({why.strerror}).") from why
    except _UNREADABLE as why:
        raise InvalidInput(_OTHER_FILE.format(file)) from why
    with archive:
        if any(entry.flag_bits & _ENCRYPTED for entry in archive.infolist()):
            raise InvalidInput(
                f"{file} is protected by a password. Nothing was restored. Extract the backup from it first."
            )
        manifest = _manifest(archive, file)
        for name, part in manifest.parts.items():
            if _read(archive, name) != part:
                raise InvalidInput(
                    f"{file} is damaged: {name} is not what the manifest says. Nothing was restored. Use another backup."
                )
        yield Reader(archive, manifest)


def _manifest(archive: zipfile.ZipFile, file: Path) -> Manifest:
    names = archive.namelist()
    try:
        if archive.getinfo(_MANIFEST).file_size > _MOST_MANIFEST_BYTES:
            raise InvalidInput(_OTHER_FILE.format(file))
        document = json.loads(archive.read(_MANIFEST))
        written = document["format"]
        if written != FORMAT:
            raise InvalidInput(
                f"{file} has format {written}, this version of Time Machine reads format {FORMAT}. "
                "Restore it with the version that made it."
            )
        manifest = TypeAdapter(Manifest).validate_python(document)
        datetime.fromisoformat(manifest.created_at)
    except (LookupError, TypeError, *_UNREADABLE) as why:
        raise InvalidInput(_OTHER_FILE.format(file)) from why
    if (
        sorted(names) != sorted([*manifest.parts, _MANIFEST])
        or not {DATABASE} <= manifest.parts.keys() <= _PARTS
    ):
        raise InvalidInput(_OTHER_FILE.format(file))
    return manifest


def _read(archive: zipfile.ZipFile, name: str) -> Part | None:
    """Return what is in the file, None if it cannot be read."""
    hashed, size = hashlib.sha256(), 0
    try:
        with archive.open(name) as content:
            while chunk := content.read(_CHUNK):
                hashed.update(chunk)
                size += len(chunk)
    except _UNREADABLE:
        return None
    return Part(bytes=size, sha256=hashed.hexdigest())


def _private(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, time.gmtime()[:6])
    entry.external_attr = 0o600 << 16
    return entry
