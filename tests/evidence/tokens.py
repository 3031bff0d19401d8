"""PKCS#11 tokens of SoftHSM, each in a folder of its own."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pkcs11
import pytest
from pkcs11.exceptions import PKCS11Error
from pytest_django.fixtures import Settings

from timemachine.evidence import key_stores

MODULES: Final = tuple(
    Path(folder) / "softhsm" / "libsofthsm2.so"
    for folder in ("/usr/lib", "/usr/lib64", "/usr/local/lib", "/opt/homebrew/lib")
)
PIN: Final = "1234"


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token with this label. It is away while its folder has another name."""

    label: str
    module: Path
    folder: Path

    @contextmanager
    def away(self) -> Iterator[None]:
        """Take the token away."""
        hidden = self.folder.rename(self.folder.with_name("hidden"))
        try:
            yield
        finally:
            hidden.rename(self.folder)

    def use(self, settings: Settings) -> None:
        """Let new signing keys be created in the token."""
        settings.SIGNING_KEY_STORE = "pkcs11"
        settings.PKCS11_MODULE, settings.PKCS11_TOKEN, settings.PKCS11_PIN = str(self.module), self.label, PIN

    def environment(self) -> dict[str, str]:
        """Return the settings for another process."""
        return {
            "SIGNING_KEY_STORE": "pkcs11",
            "PKCS11_MODULE": str(self.module),
            "PKCS11_TOKEN": self.label,
            "PKCS11_PIN": PIN,
            "SOFTHSM2_CONF": os.environ["SOFTHSM2_CONF"],
        }


def softhsm() -> Path:
    """Return SoftHSM's library. Skips the test if it is not installed; in CI, that is a failure."""
    found = next((module for module in MODULES if module.exists()), None)
    if found is None:
        missing = "no SoftHSM: install the package softhsm2"
        if os.environ.get("SOFTHSM_REQUIRED"):
            pytest.fail(missing)
        pytest.skip(missing)
    return found


@contextmanager
def token_in(folder: Path, monkeypatch: pytest.MonkeyPatch, label: str = "evidence") -> Iterator[Token]:
    """Create a token in the folder. Nothing of it remains in this process afterwards."""
    module, stored = softhsm(), folder / "tokens"
    stored.mkdir()
    conf = folder / "softhsm2.conf"
    conf.write_text(f"directories.tokendir = {stored}\nobjectstore.backend = file\nlog.level = ERROR\n")
    monkeypatch.setenv("SOFTHSM2_CONF", str(conf))
    options = ("--free", "--label", label, "--pin", PIN, "--so-pin", "5678")
    subprocess.run(["softhsm2-util", "--init-token", *options], check=True, capture_output=True)
    _forget(module)
    try:
        yield Token(label=label, module=module, folder=stored)
    finally:
        _forget(module)


def _forget(module: Path) -> None:
    key_stores._token.cache_clear()
    with suppress(PKCS11Error):
        pkcs11.lib(str(module)).finalize()
