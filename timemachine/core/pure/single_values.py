"""Check a query string for parameters with two different values, one of which would otherwise be ignored silently."""

from collections.abc import Collection, Iterable, Sequence

from timemachine.core.pure.errors import InvalidInput

_SHOWN = 40


def check_once_each(parameters: Iterable[tuple[str, Sequence[str]]], several: Collection[str] = ()) -> None:
    """Check that no parameter has two different values, except those named in `several`. Raises `InvalidInput` if a
    parameter has two.
    """
    for name, values in parameters:
        if name in several or len(set(values)) < 2:  # noqa: PLR2004  # no two differ
            continue
        first, second, *_ = [each[:_SHOWN] for each in dict.fromkeys(values)]
        raise InvalidInput(
            f"`{name[:_SHOWN]}` appears twice in the URL, as {first!r} and {second!r}; send it once.",
            code="invalid_request",
            field=name[:_SHOWN],
        )
