"""The text form of an API key."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.core.accounts.commands.keys import KeyText, parse_key
from timemachine.core.pure.ids import public_id, secret

SECRET = "A" * 42 + "_"


@given(st.data())
def test_a_written_key_is_parsed_back(data: st.DataObject) -> None:
    key = KeyText(id=public_id(), secret=secret())
    around = data.draw(st.sampled_from(["", "\n", "  "]))
    assert parse_key(f"{around}{key}{around}") == key


@pytest.mark.parametrize(
    "text",
    [
        "",
        "tmk_",
        f"tmk_abcdefghijkm_{SECRET}x",
        f"tmk_abcdefghijkm_{SECRET[:-1]}",
        f"tmk_abcdefghijk_{SECRET}",
        f"tmk_ABCDEFGHIJKM_{SECRET}",
        f"tms_abcdefghijkm_{SECRET}",
        f"tmk_abcdefghijkm_{SECRET[:-1]}é",
        f"tmk_abcdefghij\x00m_{SECRET}",
        f"tmk_abcdefghijkm_{SECRET} tmk_abcdefghijkm_{SECRET}",
    ],
)
def test_anything_else_is_not_a_key(text: str) -> None:
    assert parse_key(text) is None


def test_the_secret_is_not_in_the_repr() -> None:
    assert SECRET not in repr(KeyText(id="abcdefghijkm", secret=SECRET))
