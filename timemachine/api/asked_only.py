"""What an address is asked with: nothing but what it knows. A filter that is misspelt would else be one that holds for everything."""

from collections.abc import Callable
from functools import wraps
from typing import Any, get_args

from django.http import HttpRequest

from timemachine.api.once import NAME
from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.single_values import check_once_each


def asked_only[**P, Answer](view: Callable[P, Answer]) -> Callable[P, Answer]:
    """An operation of the API that refuses query parameters of other names than its own, and those that come twice, after it knows who asks.

    An `Idempotency-Key` that it would not look at is refused, too. Raises `InvalidInput`.
    """
    known, sent, is_keyed = _known(view, "query"), _sent(view), NAME in _known(view, "header")

    @wraps(view)
    def within(*given: P.args, **named: P.kwargs) -> Answer:
        request = given[0]
        if isinstance(request, HttpRequest):
            _check(sorted(set(request.GET) - known), sorted(known), sent)
            check_once_each(request.GET.lists())
            if request.method == "POST" and not is_keyed and NAME in request.headers:
                raise _not_keyed()
        return view(*given, **named)

    return within


def _known(view: Any, source: str) -> set[str]:
    """The names that ninja reads from the query, or the headers, for this operation."""
    models = view._ninja_operation.models  # noqa: SLF001  # ninja keeps it there for decorators
    return {
        name
        for model in models
        if model.__ninja_param_source__ == source
        for name in model.__ninja_flatten_map__
    }


def _sent(view: Any) -> set[str]:
    """The names of the fields of the body that the operation takes, where it is one object."""
    bodies = [
        field.annotation
        for model in view._ninja_operation.models  # noqa: SLF001
        if model.__ninja_param_source__ == "body"
        for field in model.model_fields.values()
    ]
    kinds = [kind for body in bodies for kind in (body, *get_args(body))]
    return {name for kind in kinds for name in getattr(kind, "model_fields", ())}


def _check(unknown: list[str], known: list[str], sent: set[str]) -> None:
    if not unknown:
        return
    if unknown[0] in sent:
        raise InvalidInput(
            f'`{unknown[0]}` belongs into the body, as JSON: {{"{unknown[0]}": …}}; it is no parameter of the address.',
            code="invalid_request",
            fields=[each[:80] for each in unknown],
        )
    there = f"there are {', '.join(known)}" if known else "this address has none"
    raise InvalidInput(
        f"There is no parameter `{unknown[0][:80]}`; {there}.",
        code="invalid_request",
        fields=[each[:80] for each in unknown],
    )


def _not_keyed() -> InvalidInput:
    return InvalidInput(
        "An Idempotency-Key is looked at where a session is begun and where something is recorded into it, not here; leave the header out.",
        code="invalid_field",
        field=NAME,
    )
