"""Validation of names and e-mail addresses."""

import unicodedata

from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from timemachine.core.pure.errors import InvalidInput

LONGEST_NAME = 200
LONGEST_EMAIL = 254


def clean_name(text: str, *, of: str) -> str:
    """Return the name in Unicode's composed form, without surrounding white space. Raises `InvalidInput` if the name is
    empty, longer than 200 characters, or has control characters.
    """
    name = unicodedata.normalize("NFC", text).strip()
    if not name:
        raise InvalidInput(f"Give {of} a name.", code="name_missing")
    if len(name) > LONGEST_NAME:
        raise InvalidInput(
            f"The name of {of} is longer than {LONGEST_NAME} characters; shorten it.", code="name_too_long"
        )
    if any(unicodedata.category(letter) in {"Cc", "Cs"} for letter in name):
        raise InvalidInput(f"The name of {of} contains a control character; remove it.", code="name_not_text")
    return name


def clean_email(text: str) -> str:
    """Return the e-mail address in lower case. Raises `InvalidInput` if it is not an e-mail address."""
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
