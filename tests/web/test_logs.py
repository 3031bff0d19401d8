"""Logs contain no secrets and no recorded text."""

import io
import logging
import logging.config

import pytest
from django.conf import settings
from django.db import IntegrityError, connection
from hypothesis import given
from hypothesis import strategies as st

from timemachine.core.accounts.commands.keys import KeyText
from timemachine.core.pure.ids import public_id, secret
from timemachine.web.logs import WithoutSecrets, without_secrets

SECRET = "k9" * 21 + "x"  # as long as a real one, and the same in every process


@pytest.mark.parametrize(
    ("written", "expected"),
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
def test_secrets_of_links_and_keys_are_removed(written: str, expected: str) -> None:
    assert without_secrets(written) == expected


@given(st.text())
def test_removing_secrets_twice_changes_nothing_more(text: str) -> None:
    once = without_secrets(f"/sign-in/{text}")
    assert without_secrets(once) == once


def test_the_secret_of_every_key_is_removed() -> None:
    for _ in range(200):
        key = KeyText(id=public_id(), secret=secret())
        assert key.secret not in without_secrets(f"Bearer {key}")


def test_a_message_is_cleaned_after_its_arguments_are_inserted() -> None:
    record = logging.LogRecord(
        "django.request", logging.WARNING, "", 0, "%s: %s", ("Not Found", f"/share/{SECRET}"), None
    )
    assert WithoutSecrets().filter(record)
    assert record.getMessage() == "Not Found: /share/[secret]"


def logged(why: BaseException, message: str = "It failed: /share/%s", *values: object) -> str:
    """Return what the configured handler writes for an error."""
    configured = logging.config.DictConfigurator(settings.LOGGING)
    handler = logging.StreamHandler(out := io.StringIO())
    handler.setFormatter(configured.configure_formatter(configured.config["formatters"]["line"]))
    handler.addFilter(configured.configure_filter(configured.config["filters"]["without_secrets"]))
    values = values or (f"tms_abc_{SECRET}",)
    handler.handle(
        logging.LogRecord("x", logging.ERROR, "", 0, message, values, (type(why), why, why.__traceback__))
    )
    return out.getvalue()


def test_no_secret_is_in_the_traceback_of_an_error() -> None:
    with pytest.raises(ValueError, match="no such token") as why:
        raise ValueError(f"no such token: tms_abcdefghijkl_{SECRET} at /share/tms_abcdefghijkl_{SECRET}")
    text = logged(why.value)
    assert "Traceback" in text
    assert "ValueError: no such token: tms_abcdefghijkl_[secret] at /share/[secret]" in text
    assert SECRET not in text


@pytest.mark.django_db
def test_no_row_quoted_by_the_database_is_in_the_log() -> None:
    words = f"{SECRET}\nin two lines"  # which is in no source line that the traceback shows
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE said (words text UNIQUE)")
        cursor.execute("INSERT INTO said VALUES (%s)", [words])
        with pytest.raises(IntegrityError) as why:
            cursor.execute("INSERT INTO said VALUES (%s)", [words])
    text = logged(why.value, "It failed: %r", why.value.__cause__)
    assert text.count("duplicate key value violates unique constraint") == 3
    assert "The above exception was the direct cause" in text
    assert SECRET not in text
    assert "in two" not in text
