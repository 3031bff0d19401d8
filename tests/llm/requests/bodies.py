"""Hypothesis strategies for bodies of requests: sound ones, and any JSON that looks a little like them."""

import json
from typing import Any

from hypothesis import strategies as st

texts = st.text(st.characters(exclude_categories=()), max_size=6)
names = st.from_regex(r"[a-zA-Z0-9_-]{1,8}", fullmatch=True)
numbers = st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False)
values: Any = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
schemas = st.fixed_dictionaries(
    {"type": st.just("object"), "properties": st.dictionaries(names, values, max_size=2)}
)
arguments = st.dictionaries(texts, values, max_size=3)
argument_texts = arguments.map(json.dumps) | st.sampled_from(
    ["", " ", "{", "[1]", "null", '{"a": 1, "a": 2}', "1e999", "NaN", "[" * 300, '{"a": 1.0}', "text"]
)
data_urls = st.sampled_from(
    [
        "data:image/png;base64,aGk=",
        "data:application/pdf;base64,JVBERi0x",
        "data:,text",
        "https://x.test/a.png",
        "",
    ]
)
files = st.sampled_from(
    [
        {"file_data": "data:application/pdf;base64,JVBERi0x", "filename": "a.pdf"},
        {"file_data": "JVBERi0x"},
        {"file_data": "aGk="},
        {"file_id": "file-1"},
        {"file_url": "https://x.test/a.pdf"},
        {"file_id": "file-1", "file_data": "aGk="},
        {"file_id": "file-1", "detail": "high"},
    ]
)


def noisy(sound: Any) -> Any:
    """Return the strategy, now and then with any JSON instead."""
    return st.integers(0, 14).flatmap(lambda dice: values if dice == 0 else sound)


def objects(required: dict[str, Any], optional: dict[str, Any] | None = None) -> Any:
    """Return objects with these fields, each now and then of another type, and now and then a field more."""
    unknown = st.dictionaries(
        st.sampled_from(["x_field", "id", "status", "item", "type", "extra"]), values, max_size=1
    )
    return st.tuples(
        st.fixed_dictionaries(
            {name: noisy(each) for name, each in required.items()},
            optional={name: noisy(each) for name, each in (optional or {}).items()},
        ),
        st.integers(0, 4).flatmap(lambda dice: unknown if dice == 0 else st.just({})),
    ).map(lambda both: {**both[1], **both[0]})


def tagged(kind: str, **fields: Any) -> Any:
    """Return objects with a type and these fields."""
    return objects({"type": st.just(kind), **fields})


def lists(*elements: Any) -> Any:
    """Return lists of these."""
    return st.lists(noisy(st.one_of(*elements)), max_size=4)


schema_formats = objects({"name": names, "schema": schemas}, {"strict": st.booleans(), "description": texts})
sampling = {
    "model": texts,
    "temperature": numbers,
    "top_p": numbers,
    "metadata": st.dictionaries(names, texts, max_size=2),
    "service_tier": st.sampled_from(["auto", "default"]),
    "stream": st.booleans(),
}
cache_control = {"cache_control": st.just({"type": "ephemeral"})}

# chat completions

chat_parts = st.one_of(
    objects({"type": st.just("text"), "text": texts}, cache_control),
    tagged("image_url", image_url=data_urls | objects({"url": data_urls}, {"detail": st.just("low")})),
    tagged("input_audio", input_audio=objects({"data": texts, "format": st.sampled_from(["mp3", "wav"])})),
    tagged("file", file=files),
    tagged("refusal", refusal=texts),
    tagged("video_url", video_url=texts),
    texts,
)
chat_content = texts | st.lists(noisy(chat_parts), max_size=3) | st.none()
chat_calls = st.one_of(
    objects(
        {
            "id": names,
            "type": st.just("function"),
            "function": objects({"name": names, "arguments": argument_texts | arguments}),
        },
        {"extra_content": values},
    ),
    tagged("custom", id=names, custom=objects({"name": names, "input": texts})),
)
chat_messages = st.one_of(
    objects(
        {"role": st.sampled_from(["system", "developer", "user"]), "content": chat_content}, {"name": names}
    ),
    objects(
        {"role": st.just("assistant"), "content": chat_content},
        {
            "tool_calls": st.lists(noisy(chat_calls), max_size=3),
            "refusal": texts,
            "reasoning_content": texts,
            "function_call": objects({"name": names, "arguments": argument_texts}),
            "name": names,
        },
    ),
    objects({"role": st.just("tool"), "content": chat_content, "tool_call_id": names}, {"name": names}),
    objects({"role": st.just("function"), "content": chat_content, "name": names}),
)
chat_tools = st.one_of(
    tagged(
        "function",
        function=objects(
            {"name": names}, {"description": texts, "parameters": schemas, "strict": st.booleans()}
        ),
    ),
    tagged("custom", custom=objects({"name": names})),
)
chat_choices = st.sampled_from(["auto", "none", "required"]) | tagged(
    "function", function=objects({"name": names})
)
chat_formats = st.one_of(
    tagged("text"), tagged("json_object"), tagged("json_schema", json_schema=schema_formats)
)
chat_bodies = objects(
    {"messages": lists(chat_messages)},
    {
        **sampling,
        "tools": lists(chat_tools),
        "tool_choice": chat_choices,
        "response_format": chat_formats,
        "max_tokens": st.integers(1, 99),
        "max_completion_tokens": st.integers(1, 99),
        "seed": st.integers(),
        "random_seed": st.integers(),
        "stop": texts | st.lists(texts, max_size=2),
        "reasoning_effort": st.just("high"),
        "parallel_tool_calls": st.booleans(),
        "frequency_penalty": numbers,
    },
)

# the Responses API

response_parts = st.one_of(
    tagged("input_text", text=texts),
    objects({"type": st.just("output_text"), "text": texts}, {"annotations": st.just([])}),
    tagged("refusal", refusal=texts),
    objects(
        {"type": st.just("input_image")},
        {"image_url": data_urls, "file_id": texts, "detail": st.just("auto")},
    ),
    files.map(lambda file: {"type": "input_file", **file}),
    tagged("input_video", video=texts),
)
response_content = texts | st.lists(noisy(response_parts), max_size=3) | st.none()
reasoning = objects(
    {"type": st.just("reasoning"), "id": names},
    {
        "summary": st.lists(noisy(tagged("summary_text", text=texts)), max_size=2),
        "encrypted_content": texts,
        "content": st.lists(tagged("reasoning_text", text=texts), max_size=1),
    },
)
response_items = st.one_of(
    objects(
        {"role": st.sampled_from(["system", "developer", "user", "assistant"]), "content": response_content},
        {
            "type": st.just("message"),
            "id": names,
            "status": st.just("completed"),
            "phase": st.just("final_answer"),
        },
    ),
    objects({"type": st.just("function_call"), "call_id": names, "name": names, "arguments": argument_texts}),
    objects({"type": st.just("custom_tool_call"), "call_id": names, "name": names, "input": texts}),
    objects(
        {
            "type": st.sampled_from(["function_call_output", "custom_tool_call_output"]),
            "call_id": names,
            "output": response_content,
        },
        {"name": names},
    ),
    reasoning,
    tagged("web_search_call", action=values),
    tagged("computer_call_output", output=values),
    st.just({"id": "msg_1"}),
)
response_tools = st.one_of(
    objects(
        {"type": st.just("function"), "name": names},
        {"parameters": schemas, "strict": st.booleans(), "description": texts},
    ),
    tagged("web_search"),
    objects({"type": st.just("custom"), "name": names}),
)
response_bodies = objects(
    {"input": lists(response_items) | texts},
    {
        **sampling,
        "instructions": texts,
        "tools": lists(response_tools),
        "tool_choice": st.sampled_from(["auto", "none", "required"])
        | objects({"type": st.just("function"), "name": names}),
        "text": objects(
            {},
            {
                "format": tagged("text") | schema_formats.map(lambda form: {"type": "json_schema", **form}),
                "verbosity": st.just("low"),
            },
        ),
        "reasoning": objects({}, {"effort": st.just("low"), "summary": st.just("auto")}),
        "max_output_tokens": st.integers(1, 99),
        "previous_response_id": names,
        "parallel_tool_calls": st.booleans(),
    },
)

# Anthropic

sources = st.sampled_from(
    [
        {"type": "base64", "media_type": "image/png", "data": "aGk="},
        {"type": "base64", "data": "aGk="},
        {"type": "url", "url": "https://x.test/a.png"},
        {"type": "file", "file_id": "file_1"},
        {"type": "text", "media_type": "text/plain", "data": "hi"},
        {"type": "text", "media_type": "text/plain", "data": "hi", "more": 1},
        {"type": "content", "content": "hi"},
    ]
)
plain_blocks = st.one_of(
    objects({"type": st.just("text"), "text": texts}, cache_control),
    objects({"type": st.just("image"), "source": sources}, cache_control),
    objects({"type": st.just("document"), "source": sources}, {"title": texts, "context": texts}),
    tagged("search_result", source=texts),
)
blocks = st.one_of(
    plain_blocks,
    objects({"type": st.just("tool_use"), "id": names, "name": names, "input": arguments}),
    objects(
        {"type": st.just("tool_result"), "tool_use_id": names},
        {"content": texts | st.lists(noisy(plain_blocks), max_size=2), "is_error": st.booleans()},
    ),
    objects({"type": st.just("thinking"), "thinking": texts}, {"signature": texts}),
    tagged("redacted_thinking", data=texts),
)
block_lists = texts | st.lists(noisy(blocks), max_size=3) | st.none()
anthropic_messages = objects(
    {"role": st.sampled_from(["user", "assistant", "user", "assistant", "system"]), "content": block_lists}
)
anthropic_tools = st.one_of(
    objects(
        {"name": names, "input_schema": schemas},
        {"description": texts, "strict": st.booleans(), **cache_control, "type": st.just("custom")},
    ),
    objects({"type": st.just("bash_20250124"), "name": st.just("bash")}),
)
anthropic_bodies = objects(
    {"messages": lists(anthropic_messages), "max_tokens": st.integers(1, 99)},
    {
        **sampling,
        "system": texts | st.lists(noisy(plain_blocks), max_size=2),
        "tools": lists(anthropic_tools),
        "tool_choice": objects(
            {"type": st.sampled_from(["auto", "any", "tool", "none"])},
            {"name": names, "disable_parallel_tool_use": st.booleans()},
        ),
        "stop_sequences": st.lists(texts, max_size=2),
        "thinking": st.just({"type": "enabled", "budget_tokens": 1024}),
        "output_config": objects(
            {}, {"effort": st.just("high"), "format": tagged("json_schema", schema=schemas)}
        ),
        "top_k": st.integers(1, 9),
    },
)
