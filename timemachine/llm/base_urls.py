"""The addresses that the operator's environment gives to providers, checked at the start of each process."""

from collections.abc import Sequence
from typing import Any

from django.core.checks import CheckMessage, Error, register

from timemachine.llm.embedding_server import URL_VARIABLE
from timemachine.llm.pure.catalogue import user_in
from timemachine.llm.table import PROVIDERS


@register("environment")
def check_base_urls(app_configs: Sequence[Any] | None, **_: Any) -> list[CheckMessage]:  # noqa: ARG001  # Django's form
    """What is wrong with these addresses, without telling them: pages, answers and records show them."""
    variables = [*(each.base_url_variable for each in PROVIDERS.values()), URL_VARIABLE]
    return [Error(wrong, id="timemachine.E002") for each in variables if (wrong := user_in(each))]
