"""The commands in docs/evidence.md with which an auditor verifies a bundle using OpenSSL alone."""

import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.builders import recorded_session
from timemachine.core.accounts.models import Project
from timemachine.evidence.bundles import exporting
from timemachine.evidence.log import keys
from timemachine.evidence.sealing import seals

DOCUMENT: Final = Path(__file__).parents[2] / "docs" / "evidence.md"
pytestmark = pytest.mark.django_db


def commands() -> str:
    """Return the lines under the heading, as copied from the page."""
    part = DOCUMENT.read_text().split("### How do I verify with OpenSSL only?")[1].split("\n## ")[0]
    return "\n".join(line[4:] for line in part.splitlines() if line.startswith("    "))


@pytest.fixture
def bundle(tmp_path: Path) -> tuple[Path, str]:
    """Return a bundle and the fingerprint of its key."""
    project = Project.objects.create(name="Prüfung")
    session = recorded_session(project)
    seals.seal_session(session.id)
    session.refresh_from_db()
    with (tmp_path / "evidence.zip").open("wb") as opened:
        exporting.write_session(opened, session)
    return tmp_path, keys.key_in_use(project).fingerprint


def test_the_commands_in_the_document_verify_a_bundle_and_show_its_fingerprint(
    bundle: tuple[Path, str],
) -> None:
    folder, fingerprint = bundle
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands()],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Signature Verified Successfully" in done.stdout
    assert f"{fingerprint.removeprefix('ed25519:')}  -" in done.stdout
    assert "session/records.jsonl: OK" in done.stdout
    assert "FAILED" not in done.stdout
