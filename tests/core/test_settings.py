"""Settings that come from the environment."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


def test_earlier_secret_keys_are_read_from_the_environment() -> None:
    environment = os.environ | {"SECRET_KEY": "new", "SECRET_KEY_FALLBACKS": "old, older"}
    code = (
        "from timemachine.config import settings; print(settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "new ['old', 'older']\n"


def test_a_secret_that_cannot_be_read_ends_every_program_with_one_sentence(tmp_path: Path) -> None:
    for name in ("SECRET_KEY", "DATABASE_URL", "OPENAI_API_KEY", "EMBEDDING_SERVER_API_KEY"):
        environment = os.environ | {name: "", f"{name}_FILE": str(tmp_path / "missing")}
        refused = subprocess.run(
            [sys.executable, "-c", "import timemachine.config.settings"],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert refused.returncode == 1
        assert refused.stderr == (
            f"{name}_FILE names {tmp_path / 'missing'}, which cannot be read (No such file or directory).\n"
        )


@pytest.mark.parametrize("written", ["twenty", "20s", "-1", "1.5"])
def test_a_number_that_is_none_ends_every_program_with_one_sentence(written: str) -> None:
    refused = subprocess.run(
        [sys.executable, "-c", "import timemachine.config.settings"],
        env=os.environ | {"LEASE_SECONDS": written},
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode == 1
    assert refused.stderr == f"LEASE_SECONDS is '{written}'. Set it to a whole number, such as 20.\n"
