"""Formatting and parsing of link tokens."""

import pytest

from timemachine.governance.sharing.pure.token import new_token, parse_token

LETTERS = "a" * 43


def test_a_token_round_trips() -> None:
    token = new_token()
    assert parse_token(str(token)) == token


def test_two_tokens_have_nothing_in_common() -> None:
    one, other = new_token(), new_token()
    assert one.public_id != other.public_id
    assert one.secret != other.secret


def test_a_token_shows_its_secret_only_on_explicit_request() -> None:
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
def test_anything_else_is_not_a_token(text: str) -> None:
    assert parse_token(text) is None
