"""System checks of the operator's settings for models, run when a process starts."""

from collections.abc import Sequence
from typing import Any

from django.core.checks import CheckMessage, Error, register

from timemachine.core.pure.errors import Unavailable
from timemachine.llm.embedding_server import URL_VARIABLE
from timemachine.llm.prices import price_overrides
from timemachine.llm.pure.catalogue import user_in
from timemachine.llm.table import PROVIDERS


@register("environment")
def check_base_urls(app_configs: Sequence[Any] | None, **_: Any) -> list[CheckMessage]:  # noqa: ARG001  # Django's signature
    """Report base URLs that contain credentials, without the URLs: pages, responses and records show them."""
    variables = [*(each.base_url_variable for each in PROVIDERS.values()), URL_VARIABLE]
    return [Error(wrong, id="timemachine.E002") for each in variables if (wrong := user_in(each))]


@register("environment")
def check_prices(app_configs: Sequence[Any] | None, **_: Any) -> list[CheckMessage]:  # noqa: ARG001  # Django's signature
    """Report a price file that cannot be read."""
    try:
        price_overrides()
    except Unavailable as why:
        return [Error(why.message, id="timemachine.E001")]
    return []
