"""The verifier in a release, as an auditor downloads it."""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

from timemachine.verifier import tm_verify

ROOT = Path(__file__).parents[2]


def test_a_release_includes_the_verifier_and_its_hash(tmp_path: Path) -> None:
    verifier = tmp_path / "timemachine" / "verifier" / "tm_verify.py"
    verifier.parent.mkdir(parents=True)
    shutil.copy(tm_verify.__file__, verifier)
    make = ["make", "--no-print-directory", "-f", str(ROOT / "Makefile"), "released-verifier"]
    output = subprocess.run(make, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    released = tmp_path / "dist" / "tm_verify.py"
    assert output == f"{hashlib.sha256(verifier.read_bytes()).hexdigest()}  tm_verify.py\n"
    assert (tmp_path / "dist" / "tm_verify.py.sha256").read_text() == output
    command = [sys.executable, "-I", "-S", str(released), "--help"]
    assert (
        "Check a Time Machine evidence bundle"
        in subprocess.run(command, check=True, capture_output=True, text=True).stdout
    )
