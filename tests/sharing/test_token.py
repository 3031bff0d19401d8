"""Tokens: written, read, and kept out of logs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.sharing.token import Token, new_token, parse_token, redacted

LETTERS = "a" * 43


def test_a_token_is_read_as_it_was_written() -> None:
    token = new_token()
    assert parse_token(str(token)) == token


def test_two_tokens_share_nothing() -> None:
    one, other = new_token(), new_token()
    assert one.public_id != other.public_id
    assert one.secret != other.secret


def test_a_token_shows_its_secret_only_where_it_is_written_on_purpose() -> None:
    token = new_token()
    assert token.secret not in repr(token)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\x00",
        "tms",
        "tms__",
        ":token",
        "tms_:pub_:secret",
        f"TMS_abcdefghijkm_{LETTERS}",
        f"tms_abcdefghijkm_{LETTERS[1:]}",
        f"tms_abcdefghijkm_{LETTERS[1:]}ä",
        f"tms_abcdefghijkm_{LETTERS}\n",
        f" tms_abcdefghijkm_{LETTERS}",
    ],
)
def test_anything_else_is_no_token(text: str) -> None:
    assert parse_token(text) is None


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("Not Found: /share/{token}", "Not Found: /share/tms_{public}_[redacted]"),
        ("GET /share/{token}?x=1 HTTP/1.1", "GET /share/tms_{public}_[redacted]?x=1 HTTP/1.1"),
        ("/share/{token}/ gone", "/share/tms_{public}_[redacted]/ gone"),
        ("{token}", "tms_{public}_[redacted]"),
        ("/share/x{secret}", "/share/[redacted]"),
        ("/share/{public}/steps/3/", "/share/{public}/steps/3/"),
        ("nothing to hide", "nothing to hide"),
    ],
)
def test_a_log_line_keeps_which_link_it_was_and_not_its_secret(written: str, kept: str) -> None:
    token = new_token()
    names = {"token": str(token), "public": token.public_id, "secret": token.secret}
    assert redacted(written.format(**names)) == kept.format(**names)


@given(st.text(), st.text())
def test_no_surroundings_bring_a_secret_into_a_log_line(before: str, after: str) -> None:
    token = Token(public_id="abcdefghijkm", secret="s3cret" * 7 + "x")
    assert token.secret not in redacted(f"{before}{token}{after}")


@given(st.text())
def test_redacting_twice_is_redacting_once(text: str) -> None:
    assert redacted(redacted(text)) == redacted(text)
