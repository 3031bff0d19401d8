"""Weights and tokenizers in an installed package, used only if their hash is the expected one."""

import hashlib
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from timemachine.core.pure.errors import Unavailable


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFiles:
    """Where a model's files are: the package (its code is never run), each file's SHA-256, and advice if they are
    missing.
    """

    package: str
    model: str
    sha256: Mapping[str, str]
    advice: str

    def are_installed(self) -> bool:
        """Return whether the package is installed. Its files are checked when they are used."""
        return self._folder() is not None

    def path(self, name: str) -> Path:
        """Return the path of a file after verifying its content.

        Raises `Unavailable` (`no_embeddings`) if it is missing or has other content.
        """
        folder = self._folder()
        if folder is None:
            raise self._unavailable(f"{self.package} is not installed")
        path = folder / name
        try:
            with path.open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as why:
            raise self._unavailable(f"the file {name} cannot be read ({why.strerror})") from why
        if found != self.sha256[name]:
            raise self._unavailable(f"the file {name} has unexpected content")
        return path

    def _folder(self) -> Path | None:
        found = importlib.util.find_spec(self.package)
        if found is None or not found.submodule_search_locations:
            return None
        return Path(found.submodule_search_locations[0])

    def _unavailable(self, why: str) -> Unavailable:
        return Unavailable(
            f"The embedding model {self.model} cannot be used: {why}. {self.advice}", code="no_embeddings"
        )
