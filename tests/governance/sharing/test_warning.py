"""What the creator of a link without a profile is told about it."""

from collections import Counter

from timemachine.governance.sharing.models import ShareLink
from timemachine.governance.sharing.preview import Preview
from timemachine.governance.sharing.schemas import ShareWarning


def message_of(*, read: int, places: int) -> str | None:
    found = Counter({("e-mail", "e-mail"): places}) if places else Counter[tuple[str, str]]()
    warning = ShareWarning.of(Preview(link=ShareLink(), sessions=(), steps=3, read=read, found=found))
    return None if warning is None else warning.message


def test_a_complete_search_that_finds_nothing_is_no_warning() -> None:
    assert message_of(read=3, places=0) is None


def test_a_warning_counts_what_visitors_can_read() -> None:
    assert (
        message_of(read=3, places=2)
        == "Anyone with the link can read 2 places that the built-in profile would withhold."
    )


def test_a_warning_says_which_steps_were_not_searched() -> None:
    some = "the first 2 of 3 steps; the others were not searched."
    assert message_of(read=2, places=0) == f"The built-in profile would withhold nothing in {some}"
    assert (
        message_of(read=2, places=1)
        == f"Anyone with the link can read 1 place that the built-in profile would withhold in {some}"
    )
