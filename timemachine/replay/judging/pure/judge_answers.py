"""Reading the reply of any judge: whether it is an answer, and the JSON in it."""

import re
from typing import Any, Final

from timemachine.core.pure.content import parse_json
from timemachine.core.pure.errors import InvalidInput, ModelFailed
from timemachine.llm.pure.completion import Completion

# Many models wrap their reply in one Markdown code fence. That is accepted; any other text around the JSON is not.
_FENCE: Final = re.compile(r"```(?:json)?[ \t]*\n(.*)\n```", re.DOTALL | re.IGNORECASE)


def text_of(completion: Completion) -> str:
    """Return the judge's reply. Raises `ModelFailed` if it refused (`judge_refused`) or was cut off (`judge_cut_off`)."""
    if completion.refused:
        raise ModelFailed("The judge model refused to answer. Choose another one.", code="judge_refused")
    if completion.cut_short:
        raise ModelFailed(
            f"The judge's answer was cut off ({completion.finish_reason}). Choose another model.",
            code="judge_cut_off",
        )
    return completion.text


def document_of(raw: str) -> Any:
    """Return the JSON of a reply, without a code fence. Raises `ModelFailed` (`judge_not_understood`) if it is not JSON."""
    dressed = _FENCE.fullmatch(raw.strip())
    try:
        return parse_json(dressed[1] if dressed else raw.strip())
    except InvalidInput as why:
        raise not_understood(f"it is not the requested JSON. {why.message}") from why


def not_understood(why: str) -> ModelFailed:
    """Return the error for a reply that does not have the requested form."""
    return ModelFailed(
        f"The judge's answer cannot be read: {why} Try again, or choose another model.",
        code="judge_not_understood",
    )
