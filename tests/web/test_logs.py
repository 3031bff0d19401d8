"""What no log may hold."""

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.accounts.key_text import KeyText
from timemachine.base.ids import public_id, secret
from timemachine.web.logs import WithoutSecrets, without_secrets

SECRET = "k9" * 21 + "x"  # as long as a real one, and the same in every process


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        (f"Not Found: /sign-in/{SECRET}/", "Not Found: /sign-in/[secret]/"),
        (
            f"Forbidden (CSRF token missing.): /share/tms_abc_{SECRET}",
            "Forbidden (CSRF token missing.): /share/[secret]",
        ),
        (f'"GET /sign-in/{SECRET}/?a=1 HTTP/1.1" 200', '"GET /sign-in/[secret]/?a=1 HTTP/1.1" 200'),
        ("Unprocessable Content: /sign-in/", "Unprocessable Content: /sign-in/"),
        (f"next=/sign-in/{SECRET}/ and /share/{SECRET}", "next=/sign-in/[secret]/ and /share/[secret]"),
        ("/sessions/share/", "/sessions/share/"),
        (f"key tmk_abcdefghijkm_{SECRET} was sent", "key tmk_abcdefghijkm_[secret] was sent"),
    ],
)
def test_secrets_of_links_and_keys_are_taken_out(written: str, kept: str) -> None:
    assert without_secrets(written) == kept


@given(st.text())
def test_taking_secrets_out_twice_is_taking_them_out_once(text: str) -> None:
    once = without_secrets(f"/sign-in/{text}")
    assert without_secrets(once) == once


def test_no_key_survives_a_log() -> None:
    for _ in range(200):
        key = KeyText(id=public_id(), secret=secret())
        assert key.secret not in without_secrets(f"Bearer {key}")


def test_a_message_is_cleaned_with_its_arguments_in_it() -> None:
    record = logging.LogRecord(
        "django.request", logging.WARNING, "", 0, "%s: %s", ("Not Found", f"/share/{SECRET}"), None
    )
    assert WithoutSecrets().filter(record)
    assert record.getMessage() == "Not Found: /share/[secret]"
