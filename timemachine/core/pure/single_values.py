"""A name in an address that stands for one value says one: of two, one would be left out without a word."""

from collections.abc import Collection, Iterable, Sequence

from timemachine.core.pure.errors import InvalidInput

_SHOWN = 40


def check_once_each(asked: Iterable[tuple[str, Sequence[str]]], several: Collection[str] = ()) -> None:
    """Refuse a name that stands in the address with two different values, but for those of which there may be `several`. Raises `InvalidInput`."""
    for name, values in asked:
        if name in several or len(set(values)) < 2:  # noqa: PLR2004  # two differ
            continue
        first, second, *_ = [each[:_SHOWN] for each in dict.fromkeys(values)]
        raise InvalidInput(
            f"`{name[:_SHOWN]}` stands twice in the address, as {first!r} and as {second!r}; say it once.",
            code="invalid_request",
            field=name[:_SHOWN],
        )
