"""A disk that is soon full. Only root can mount one; elsewhere the tests that need it are skipped."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, *, owner: os.stat_result, megabytes: int = 1) -> Iterator[Path]:
    """Mount a disk of this size, which belongs to this owner."""
    folder.mkdir()
    options = f"size={megabytes}m,uid={owner.st_uid},gid={owner.st_gid},mode=0700"
    mounting = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    if os.getuid() or subprocess.run(mounting, check=False, capture_output=True).returncode:
        pytest.skip("only root can mount a disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
