"""Settings that are secret: environment variables, or files that variables name."""

import os
from collections.abc import Mapping
from pathlib import Path

from timemachine.core.pure.errors import Unavailable
from timemachine.core.pure.home import secret_key_file


def secret(name: str, environment: Mapping[str, str] = os.environ) -> str:
    """Return the variable, or the content of the file that `NAME_FILE` names; empty if there is neither.

    Raises `Unavailable` if both are set, or if the file cannot be read or is empty.
    """
    value, file = environment.get(name, "").strip(), environment.get(f"{name}_FILE", "").strip()
    if not file:
        return value
    if value:
        raise Unavailable(f"Both {name} and {name}_FILE are set. Remove one of them.")
    try:
        content = Path(file).read_text(encoding="utf-8").strip()
    except OSError as why:
        raise Unavailable(f"{name}_FILE names {file}, which cannot be read ({why.strerror}).") from why
    except UnicodeDecodeError as why:
        raise Unavailable(f"{name}_FILE names {file}, which is not UTF-8 text.") from why
    if not content:
        raise Unavailable(f"{name}_FILE names {file}, which is empty.")
    return content


def secret_keys() -> list[str]:
    """Return `SECRET_KEY` and then its fallbacks, or those in the data folder. Empty if there is no key.

    Raises `Unavailable` if a setting is wrong.
    """
    keys, fallbacks = secret_keys_of_environment() or stored_secret_keys(), _fallbacks()
    if fallbacks and not keys:
        raise Unavailable(
            "SECRET_KEY_FALLBACKS is set, and there is no SECRET_KEY. Set it to the current key."
        )
    return [*dict.fromkeys([*keys, *fallbacks])]


def secret_keys_of_environment() -> list[str]:
    """Return `SECRET_KEY` and then its fallbacks, empty if it is not set. Raises `Unavailable` if a setting is wrong."""
    key = secret("SECRET_KEY")
    if len(key.split()) > 1:
        raise Unavailable(
            "SECRET_KEY has spaces or line breaks in it. Set it to a key without them, for example from `openssl rand -hex 32`, "
            "and SECRET_KEY_FALLBACKS to the earlier one."
        )
    return [key, *_fallbacks()] if key else []


def stored_secret_keys() -> list[str]:
    """Return the keys in the data folder: the first line of the file is the key, further lines are fallbacks."""
    try:
        return keys_in(secret_key_file().read_text(encoding="utf-8"))
    except OSError:
        return []


def keys_in(text: str) -> list[str]:
    """Return the keys in a text that has one per line."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def _fallbacks() -> list[str]:
    """Return the earlier keys, which are separated by commas or lines."""
    return keys_in(secret("SECRET_KEY_FALLBACKS").replace(",", "\n"))
