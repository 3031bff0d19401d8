"""Names and e-mail addresses as they are kept."""

import unicodedata

from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from timemachine.core.pure.errors import InvalidInput

LONGEST_NAME = 200
LONGEST_EMAIL = 254


def clean_name(text: str, *, of: str) -> str:
    """The name in Unicode's composed form, without white space around it.

    Raises `InvalidInput` for an empty one, one over 200 characters, and one with control characters.
    """
    name = unicodedata.normalize("NFC", text).strip()
    if not name:
        raise InvalidInput(f"Give {of} a name.", code="name_missing")
    if len(name) > LONGEST_NAME:
        raise InvalidInput(
            f"The name of {of} is longer than {LONGEST_NAME} characters; shorten it.", code="name_too_long"
        )
    if any(unicodedata.category(letter) in {"Cc", "Cs"} for letter in name):
        raise InvalidInput(
            f"The name of {of} has a character that cannot be written; remove it.", code="name_not_text"
        )
    return name


def clean_email(text: str) -> str:
    """The address in lower case. Raises `InvalidInput` for what is none."""
    email = text.strip().lower()
    try:
        validate_email(email)
    except ValidationError as why:
        raise InvalidInput(
            "This is not an e-mail address; write it like name@example.org.", code="not_an_email"
        ) from why
    if len(email) > LONGEST_EMAIL:
        raise InvalidInput(
            f"The e-mail address is longer than {LONGEST_EMAIL} characters.", code="not_an_email"
        )
    return email
