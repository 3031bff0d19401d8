"""Find or download a Chromium for the browser tests: `python -m tests.chromium` prints its path."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

_FOUND = Path(__file__).resolve().parent.parent / "build" / "chromium-path"
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_DOWNLOAD_SECONDS = 120
_APT = ("apt-get", "install", "--yes", "--no-install-recommends", "chromium", "fonts-dejavu")
_MISSING = (
    "No Chromium: browser tests are skipped. Install the package chromium, or set CHROMIUM to its path."
)

expect.set_options(timeout=30_000)  # generous, like every wait: a slow machine is not a failure


def installed() -> Path | None:
    """Return a Chromium that starts: from `CHROMIUM`, from the last run, from the system or from Playwright."""
    return next((path for path in _candidates() if _starts(path)), None)


def required() -> Path:
    """Return a Chromium for a test. Without one, skip the test; in CI, fail it."""
    path = installed()
    if path is not None:
        return path
    missing = "no Chromium: install the package chromium, or set CHROMIUM to its path"
    if os.environ.get("CI"):
        pytest.fail(missing)
    pytest.skip(missing)


def main() -> int:
    """Print the path and remember it. Without one, print what to install; in CI that is an error."""
    path = installed() or _fetched()
    if path is None:
        print(_MISSING, file=sys.stderr)
        return 1 if os.environ.get("CI") == "true" else 0
    _FOUND.parent.mkdir(exist_ok=True)
    _FOUND.write_text(f"{path}\n")
    print(path)
    return 0


def _candidates() -> Iterator[Path]:
    yield from (Path(named) for named in [os.environ.get("CHROMIUM", "")] if named)
    yield from (Path(path.read_text().strip()) for path in [_FOUND] if path.exists())
    yield from (Path(found) for found in map(shutil.which, _NAMES) if found)
    yield from _playwrights()


def _playwrights() -> Iterator[Path]:
    chosen = os.environ.get("PLAYWRIGHT_BROWSERS_PATH", "")
    caches = (Path(chosen),) if chosen else (Path.home() / ".cache", Path.home() / "Library" / "Caches")
    for cache in caches:
        for pattern in ("chrome-linux*/chrome", "chrome-mac*/*.app/Contents/MacOS/*"):
            yield from sorted(cache.glob(f"**/chromium-*/{pattern}"), reverse=True)


def _starts(path: Path) -> bool:
    try:
        return (
            subprocess.run([path, "--version"], capture_output=True, timeout=30, check=False).returncode == 0
        )
    except (OSError, subprocess.TimeoutExpired):
        return False


def _fetched() -> Path | None:
    """Try Playwright's download first, which changes nothing outside the home folder, then Debian's package."""
    _try([sys.executable, "-m", "playwright", "install", "chromium"], _DOWNLOAD_SECONDS)
    found = installed()
    if found is None and os.getuid() == 0 and shutil.which("apt-get"):
        _try(["apt-get", "update"], 300)
        _try(list(_APT), 900)
        found = installed()
    return found


def _try(command: list[str], seconds: int) -> None:
    print(f"Looking for a Chromium: {' '.join(command[-4:])}", file=sys.stderr)
    try:
        subprocess.run(
            command, timeout=seconds, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return


if __name__ == "__main__":
    sys.exit(main())
