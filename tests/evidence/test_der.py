"""DER reordering leaves everything but an authority's answer unchanged."""

import pytest

from timemachine.evidence.pure.timestamping import with_sorted_certificates


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "30",
        "3005",
        "30053003020102",
        "308030",
        "308500000000ff",
        "02020505",
        "300730030201003000",
        "0200",
        "308600",
        "30123000300e0600a00a30080200310030000200",
    ],
)
def test_data_other_than_a_token_is_unchanged(answer: str) -> None:
    assert with_sorted_certificates(bytes.fromhex(answer)).hex() == answer


def test_only_certificates_are_reordered() -> None:
    long = "00" * 200
    certificates = f"30 81c8 {long} 3000".replace(" ", "")
    sorted_ = f"3000 3081c8 {long}".replace(" ", "")

    def answer(found: str) -> bytes:
        def of(tag: str, inner: str) -> str:
            size = len(inner) // 2
            return f"{tag}{f'{size:02x}' if size < 128 else f'81{size:02x}'}{inner}"

        return bytes.fromhex(
            of("30", "3000" + of("30", "0600" + of("a0", of("30", "020031003000" + of("a0", found)))))
        )

    assert with_sorted_certificates(answer(certificates)) == answer(sorted_)


def test_certificates_of_a_short_answer_are_reordered_too() -> None:
    unsorted, in_order = "3001aa3000", "30003001aa"
    answer = "3017300030130600a00f300d020031003000a005{}"
    assert with_sorted_certificates(bytes.fromhex(answer.format(unsorted))).hex() == answer.format(in_order)
