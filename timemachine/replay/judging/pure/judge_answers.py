"""What every judge's answer is read by, whatever it was asked: whether it is one, and the JSON in it. Pure."""

import re
from typing import Any, Final

from timemachine.core.pure.content import parse_json
from timemachine.core.pure.errors import InvalidInput, ModelFailed
from timemachine.llm.pure.completion import Completion

# Many models wrap what they write in one Markdown fence; that is dressing, anything else around the JSON is not.
_FENCE: Final = re.compile(r"```(?:json)?[ \t]*\n(.*)\n```", re.DOTALL | re.IGNORECASE)


def text_of(completion: Completion) -> str:
    """What the judge wrote. Raises `ModelFailed` where it refused (`judge_refused`) or was cut off (`judge_cut_off`)."""
    if completion.refused:
        raise ModelFailed("The judge refused to answer; ask another model.", code="judge_refused")
    if completion.cut_short:
        raise ModelFailed(
            f"The judge's answer was cut off ({completion.finish_reason}); ask another model.",
            code="judge_cut_off",
        )
    return completion.text


def document_of(raw: str) -> Any:
    """The JSON that a judge wrote, out of its fence. Raises `ModelFailed` (`judge_not_understood`) where it is none."""
    dressed = _FENCE.fullmatch(raw.strip())
    try:
        return parse_json(dressed[1] if dressed else raw.strip())
    except InvalidInput as why:
        raise not_understood(f"it is not the JSON that was asked for. {why.message}") from why


def not_understood(why: str) -> ModelFailed:
    """The failure of a judge whose answer is not what was asked for."""
    return ModelFailed(
        f"The judge's answer cannot be read: {why} Ask again, or ask another model.",
        code="judge_not_understood",
    )
