"""OpenAI's Responses API: https://platform.openai.com/docs/api-reference/responses/create"""

from collections.abc import Mapping
from typing import Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.pure.requests.json_values import body_of, objects_at, text_at
from timemachine.llm.pure.requests.neutral import (
    OPENAI,
    RESPONSES,
    Message,
    Other,
    Request,
    Text,
    Written,
)
from timemachine.llm.pure.requests.notes import Notes
from timemachine.llm.pure.requests.openai_settings import (
    SHARED,
    read_choice,
    read_format,
    read_tools,
    write_choice,
    write_format,
    write_tools,
)
from timemachine.llm.pure.requests.parameters import (
    flattened,
    folded,
    own_fields,
    read_fields,
    write_fields,
)
from timemachine.llm.pure.requests.responses_items import read_items, write_content, write_items

_NAMES: Final[Mapping[str, str]] = {
    "max_output_tokens": "max_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "reasoning.effort": "effort",
    "text.verbosity": "verbosity",
    "parallel_tool_calls": "parallel_tool_calls",
}
_TEXT: Final = ("text", "format", "verbosity")
_REASONING: Final = ("reasoning", "effort")
_FORM: Final = "text.format"


def read(body: object) -> Request:
    """Read the body of a request to `/responses`. Input as a text is a message of the user.

    Raises:
        RequestError: It is not such a body.
    """
    found = body_of(body)
    instructions = text_at(found, "instructions")
    messages = _read_input(found)
    system: tuple[Text | Other, ...] = (Text(instructions),) if instructions else ()
    if not system and messages and _is_system_prompt(messages[0]):
        system = tuple(part for part in messages[0].parts if isinstance(part, Text | Other))
        messages = messages[1:]
    choice, kept_choice = read_choice(found, nested=False)
    stated = flattened(flattened(found, *_TEXT), *_REASONING)
    form, kept_form = read_format(stated.get(_FORM), "", RESPONSES)
    handled = frozenset({"model", "input", "tools"})
    handled |= frozenset() if instructions is None else {"instructions"}
    handled |= frozenset() if kept_choice else {"tool_choice"}
    handled |= frozenset() if kept_form else {_FORM}
    return Request(
        model=text_at(found, "model"),
        system=system,
        messages=messages,
        tools=read_tools(found, RESPONSES, nested=False),
        tool_choice=choice,
        response_format=form,
        parameters=read_fields(stated, _NAMES, handled).parameters(RESPONSES),
    )


def _read_input(found: JsonObject) -> tuple[Message, ...]:
    text = text_at(found, "input")
    if text is not None:
        return (Message(role="user", parts=(Text(text),)),) if text else ()
    return read_items(objects_at(found, "input"))


def _is_system_prompt(message: Message) -> bool:
    plain = all(isinstance(part, Text | Other) for part in message.parts)
    return message.role == "system" and bool(message.parts) and plain and not message.extra


def write(request: Request) -> Written:
    """Write the body for `/responses`."""
    notes = Notes(RESPONSES)
    parameters = request.parameters
    system = write_content(request.system, notes)
    prompt = [{"role": "system", "content": system}] if isinstance(system, list) else []
    names = {ours: field for field, ours in _NAMES.items()}
    body: JsonObject = {
        **({} if request.model is None else {"model": request.model}),
        **({"instructions": system} if system and not prompt else {}),
        "input": [*prompt, *write_items(request.messages, notes)],
        **write_tools(request.tools, notes, nested=False),
        **own_fields(parameters.extra, notes, {OPENAI: SHARED}),
        **write_choice(request.tool_choice, nested=False),
        **write_fields(parameters, names, notes),
        **write_format(request.response_format, notes, _FORM, ""),
    }
    return Written(body=folded(folded(body, *_TEXT), *_REASONING), dropped=notes.sentences)
