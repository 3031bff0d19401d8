"""Settings that come from the environment."""

import os
import subprocess
import sys


def test_earlier_secret_keys_are_read_from_the_environment() -> None:
    environment = os.environ | {"SECRET_KEY": "new", "SECRET_KEY_FALLBACKS": "old, older"}
    code = (
        "from timemachine.config import settings; print(settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "new ['old', 'older']\n"
